//===- SanitizerOptions.cpp - How sanitizers watch our programs -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of each program of a build with sanitizers; the environment's
// ASAN_OPTIONS and UBSAN_OPTIONS come on top.
//
//===----------------------------------------------------------------------===//

/// A report ends a program by a signal, so that tests that expect an error see
/// a crash. Containers and arenas are shared with libraries that are not
/// instrumented, so what is in use of them is not known, nor what is lost. LLVM
/// has a stack for signals of its own. What memory cannot hold is an error that
/// our code reports.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
  return "abort_on_error=1:detect_leaks=0:detect_container_overflow=0:"
         "allow_user_poisoning=0:use_sigaltstack=0:"
         "allocator_may_return_null=1";
}

extern "C" const char *__ubsan_default_options();
extern "C" const char *__ubsan_default_options() {
  return "abort_on_error=1:print_stacktrace=1";
}
