//===- ParallelFor.cpp - A loop over all cores ----------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On POSIX threads: std::thread reports that none is to be had by an exception,
// which would end the process. Here the caller's own thread then does the work.
//
//===----------------------------------------------------------------------===//

#include "ParallelFor.h"

#include <algorithm>
#include <atomic>
#include <pthread.h>
#include <thread>
#include <vector>

using namespace tile::runtime;

namespace {
struct Work {
  int64_t count;
  int64_t grain;
  const std::function<void(int64_t, int64_t)> &body;
  std::atomic<int64_t> next{0};
};
} // namespace

static void *takeRanges(void *argument) {
  Work &work = *static_cast<Work *>(argument);
  while (true) {
    int64_t begin = work.next.fetch_add(work.grain);
    if (begin >= work.count)
      return nullptr;
    work.body(begin, std::min(begin + work.grain, work.count));
  }
}

void tile::runtime::parallelFor(
    int64_t count, int64_t grain,
    const std::function<void(int64_t, int64_t)> &body) {
  Work work{count, grain, body};
  int64_t ranges = (count + grain - 1) / grain;
  int64_t cores = std::thread::hardware_concurrency();
  std::vector<pthread_t> threads;
  for (int64_t i = 1; i < std::min(ranges, cores); ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, takeRanges, &work) != 0)
      break;
    threads.push_back(thread);
  }
  takeRanges(&work);
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
}
