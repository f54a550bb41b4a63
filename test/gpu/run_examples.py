"""Runs compiled examples on this machine's GPU and compares them with float64.

Each call is made twice with other values in the results beforehand: an element that differs was
not written. Ends with a count.
"""

from __future__ import annotations

import argparse
import sys

import torch
from tile_runtime import Artifacts

from examples import Arguments, Case, all_cases


def poisoned(case: Case, value: float) -> Arguments:
    arguments = list(case.arguments)
    for index in case.results:
        result = arguments[index]
        assert isinstance(result, torch.Tensor)
        arguments[index] = torch.full_like(result, value)
    return arguments


def check(artifacts: Artifacts, case: Case, chip: str) -> str:
    """What is wrong, or nothing."""
    module = artifacts.load(case.function, case.function, chip)
    runs = []
    for value in (77.0, -3.0):
        arguments = poisoned(case, value)
        module(*arguments)
        torch.cuda.synchronize()
        runs.append([arguments[index] for index in case.results])
    expected = case.reference(case.arguments)
    for number, (first, second, wanted) in enumerate(zip(*runs, expected, strict=True)):
        if not torch.equal(torch.nan_to_num(first), torch.nan_to_num(second)):
            return f"result {number}: {(first != second).sum().item()} elements differ between runs"
        error = (first.double() - wanted).abs()
        bound = case.atol + case.rtol * wanted.abs()
        bad = ~((error <= bound) | (first.double() == wanted))
        if bad.any():
            at = tuple(bad.nonzero()[0].tolist())
            return (
                f"result {number}: {bad.sum().item()} of {bad.numel()} elements are off, first at {at}: "
                f"got {first[at].item()}, expected {wanted[at].item()}"
            )
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    Artifacts.add_options(parser)
    parser.add_argument("--chips", default="sm_80,sm_90")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.backends.cuda.matmul.allow_tf32 = False
    artifacts = Artifacts(options)
    passed = failed = 0
    for chip in options.chips.split(","):
        for case in all_cases():
            try:
                problem = check(artifacts, case, chip)
            except RuntimeError as error:
                problem = str(error).splitlines()[0]
                if "illegal" in problem or "misaligned" in problem or "launch failed" in problem:
                    print(f"FAIL {case.function} {case.label} {chip}: {problem}; the context is lost")
                    return 1
            if problem:
                failed += 1
                print(f"FAIL {case.function} {case.label} {chip}: {problem}", flush=True)
            else:
                passed += 1
    name = torch.cuda.get_device_name(0)
    print(f"{name}, seed {options.seed}: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
