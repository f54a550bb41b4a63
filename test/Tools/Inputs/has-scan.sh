#!/bin/sh
# Interesting (1) is a program that still has a scan.
grep -q 'tile.scan' "$1" && exit 1
exit 0
