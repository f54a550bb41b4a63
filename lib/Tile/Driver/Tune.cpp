//===- Tune.cpp - The best values of a program's tunables -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads of their own compile, each with its own session, for loading and
// compiling take turns within one; the caller's thread measures. On the cpu it
// waits until they are done, because they would disturb the times; a GPU does
// not mind.
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Tune.h"
#include "ExampleArguments.h"
#include "TuneRecord.h"
#include "llvm/ADT/STLExtras.h"
#include <condition_variable>
#include <deque>
#include <numeric>
#include <thread>

using namespace tile;
using namespace tile::driver;
using llvm::createStringError;
using llvm::StringRef;
using Clock = std::chrono::steady_clock;

std::string TuneCandidate::print() const {
  std::string text;
  for (const auto &[name, value] : tunables)
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  return text;
}

const TuneCandidate *TuneReport::getBest() const {
  return !candidates.empty() &&
                 candidates[0].state == TuneCandidate::State::Measured
             ? &candidates[0]
             : nullptr;
}

/// Sorts and leaves equal ones in their order. The standard library's own way
/// in libstdc++ 12 calls functions that are deprecated, and compilers say so.
template <typename T, typename Less>
static void sortStably(std::vector<T> &items, Less isLess) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t x, size_t y) {
    return isLess(items[x], items[y]) || (!isLess(items[y], items[x]) && x < y);
  });
  std::vector<T> sorted;
  for (size_t index : order)
    sorted.push_back(std::move(items[index]));
  items = std::move(sorted);
}

/// All combinations, those nearest to the defaults first: they are what the
/// author would try.
static llvm::Expected<std::vector<TuneCandidate>>
enumerate(const FunctionFacts &facts, const CompileOptions &options) {
  constexpr size_t most = 1 << 16;
  std::vector<std::pair<unsigned, TuneCandidate>> all(1);
  for (const Tunable &tunable : facts.tunables) {
    auto fixed = llvm::find_if(options.tunables, [&](const auto &choice) {
      return choice.first == tunable.name;
    });
    std::vector<int64_t> choices = tunable.choices;
    if (fixed != options.tunables.end())
      choices = {fixed->second};
    if (all.size() * choices.size() > most)
      return createStringError(
          "there are more than " + llvm::Twine(most) +
          " combinations of tunables; fix some of them with --set");
    std::vector<std::pair<unsigned, TuneCandidate>> next;
    for (const auto &[distance, candidate] : all)
      for (int64_t choice : choices) {
        next.emplace_back(distance + (choice != tunable.defaultValue),
                          candidate);
        next.back().second.tunables.emplace_back(tunable.name, choice);
      }
    all = std::move(next);
  }
  sortStably(all,
             [](const auto &x, const auto &y) { return x.first < y.first; });
  std::vector<TuneCandidate> candidates;
  for (auto &[distance, candidate] : all)
    candidates.push_back(std::move(candidate));
  return candidates;
}

namespace {

struct Compiled {
  size_t candidate;
  std::shared_ptr<const Kernel> kernel;
};

/// Compiles candidates in their order on several threads.
class CompileQueue {
public:
  CompileQueue(const Program &program, StringRef function,
               const CompileOptions &options,
               std::vector<TuneCandidate> &candidates, unsigned threads,
               Clock::time_point deadline);
  ~CompileQueue();

  /// The next that has compiled, or nothing when all are done.
  std::optional<Compiled> take();
  /// Waits until all are done.
  void wait();
  /// Those that do not compile, so far.
  size_t countRefused();

private:
  void work(Program program);
  void finish(size_t index,
              llvm::Expected<std::shared_ptr<const Kernel>> kernel);

  std::string function;
  CompileOptions options;
  std::vector<TuneCandidate> &candidates;
  Clock::time_point deadline;

  std::mutex mutex;
  std::condition_variable changed;
  size_t next = 0, active = 0, refused = 0;
  std::deque<Compiled> ready;
  bool isStopped = false;
  std::vector<std::thread> workers;
};

} // namespace

CompileQueue::CompileQueue(const Program &program, StringRef function,
                           const CompileOptions &options,
                           std::vector<TuneCandidate> &candidates,
                           unsigned threads, Clock::time_point deadline)
    : function(function), options(options), candidates(candidates),
      deadline(deadline) {
  for (unsigned i = 0; i < threads; ++i) {
    llvm::Expected<Program> own = program.reload();
    if (!own) {
      // It was loaded once already; fewer threads will do.
      llvm::consumeError(own.takeError());
      continue;
    }
    ++active;
    workers.emplace_back([this](Program mine) { work(std::move(mine)); },
                         std::move(*own));
  }
}

CompileQueue::~CompileQueue() {
  {
    std::lock_guard lock(mutex);
    isStopped = true;
  }
  for (std::thread &worker : workers)
    worker.join();
}

void CompileQueue::work(Program program) {
  while (true) {
    size_t index;
    {
      std::lock_guard lock(mutex);
      if (isStopped || next == candidates.size() || Clock::now() > deadline) {
        --active;
        changed.notify_all();
        return;
      }
      index = next++;
      if (candidates[index].state != TuneCandidate::State::Untried)
        continue;
    }
    CompileOptions one = options;
    one.tunables = candidates[index].tunables;
    finish(index, program.compile(function, one));
  }
}

void CompileQueue::finish(
    size_t index, llvm::Expected<std::shared_ptr<const Kernel>> kernel) {
  std::string reason;
  if (!kernel)
    reason = toString(kernel.takeError());
  std::lock_guard lock(mutex);
  TuneCandidate &candidate = candidates[index];
  if (!reason.empty()) {
    candidate.state = TuneCandidate::State::Refused;
    candidate.reason = std::move(reason);
    ++refused;
  } else {
    candidate.resources = (*kernel)->getResources();
    ready.push_back({index, std::move(*kernel)});
  }
  changed.notify_all();
}

std::optional<Compiled> CompileQueue::take() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return !ready.empty() || active == 0; });
  if (ready.empty())
    return std::nullopt;
  // Code that spills is seldom the fastest, so it waits for the others.
  auto first = llvm::find_if(ready, [&](const Compiled &compiled) {
    return llvm::none_of(
        candidates[compiled.candidate].resources,
        [](const KernelResources &each) { return each.spillStores > 0; });
  });
  if (first == ready.end())
    first = ready.begin();
  Compiled compiled = std::move(*first);
  ready.erase(first);
  return compiled;
}

void CompileQueue::wait() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return active == 0; });
}

size_t CompileQueue::countRefused() {
  std::lock_guard lock(mutex);
  return refused;
}

namespace {

class Tuner {
public:
  Tuner(const Program &program, StringRef function, const TuneOptions &options,
        const FunctionFacts &facts)
      : program(program), function(function), options(options), facts(facts) {
    example = options.example;
    example.data = std::make_shared<ExampleData>();
  }

  llvm::Error run(std::vector<TuneCandidate> &candidates);

private:
  llvm::Error measure(const Compiled &compiled, TuneCandidate &candidate);

  const Program &program;
  StringRef function;
  const TuneOptions &options;
  const FunctionFacts &facts;
  ExampleOptions example;
  const TuneCandidate *best = nullptr;
};

} // namespace

llvm::Error Tuner::measure(const Compiled &compiled, TuneCandidate &candidate) {
  example.compile.tunables = candidate.tunables;
  // Twice, for the check; the second run says whether more are worth it.
  example.benchRuns = 0;
  auto report = runExample(&program, compiled.kernel, facts, example);
  if (!report)
    return report.takeError();
  if (!report->isRight()) {
    candidate.state = TuneCandidate::State::Wrong;
    candidate.reason = formatFaults(*report);
    return llvm::Error::success();
  }
  candidate.state = TuneCandidate::State::Measured;
  candidate.seconds = report->seconds.median;
  if (options.benchRuns == 0 || (best && candidate.seconds > 3 * best->seconds))
    return llvm::Error::success();
  llvm::Expected<runtime::Summary> summary =
      benchExample(*compiled.kernel, example, options.benchRuns);
  if (!summary)
    return summary.takeError();
  candidate.seconds = summary->median;
  return llvm::Error::success();
}

llvm::Error Tuner::run(std::vector<TuneCandidate> &candidates) {
  bool isDevice = example.compile.target == Target::CUDA;
  auto start = Clock::now();
  auto after = [&](double seconds) {
    return start + std::chrono::duration_cast<Clock::duration>(
                       std::chrono::duration<double>(seconds));
  };
  Clock::time_point end = after(options.seconds);
  CompileQueue queue(program, function, example.compile, candidates,
                     options.compileThreads,
                     isDevice ? end : after(options.seconds / 2));
  if (!isDevice)
    queue.wait();
  size_t measured = 0;
  for (const TuneCandidate &candidate : candidates)
    if (candidate.state == TuneCandidate::State::Measured &&
        (!best || candidate.seconds < best->seconds))
      best = &candidate;
  while (std::optional<Compiled> compiled = queue.take()) {
    TuneCandidate &candidate = candidates[compiled->candidate];
    // The first is measured in any case: there is to be a best one.
    if (best && Clock::now() > end) {
      candidate.reason = "compiled, but not measured";
      continue;
    }
    if (llvm::Error error = measure(*compiled, candidate))
      return error;
    ++measured;
    if (candidate.state == TuneCandidate::State::Measured &&
        (!best || candidate.seconds < best->seconds))
      best = &candidate;
    if (options.onProgress)
      options.onProgress(measured + queue.countRefused(), candidates.size(),
                         best);
  }
  return llvm::Error::success();
}

llvm::Expected<TuneReport> tile::driver::tune(const Program &program,
                                              StringRef function,
                                              const TuneOptions &options) {
  llvm::Expected<FunctionFacts> facts = program.getFacts(function);
  if (!facts)
    return facts.takeError();
  if (facts->tunables.empty())
    return createStringError("'" + function +
                             "' has no tunables, so there is nothing to tune");
  llvm::Expected<TuneRecord> record =
      TuneRecord::make(program, function, options);
  if (!record)
    return record.takeError();
  TuneReport report;
  if (std::optional<TuneReport> kept = record->find()) {
    report = std::move(*kept);
    // What there was no time for has its turn now.
    report.isFromCache =
        llvm::none_of(report.candidates, [](const TuneCandidate &candidate) {
          return candidate.state == TuneCandidate::State::Untried;
        });
    if (report.isFromCache)
      return report;
  } else if (llvm::Error error = enumerate(*facts, options.example.compile)
                                     .moveInto(report.candidates)) {
    return error;
  }
  if (llvm::Error error =
          Tuner(program, function, options, *facts).run(report.candidates))
    return error;
  sortStably(report.candidates,
             [](const TuneCandidate &x, const TuneCandidate &y) {
               auto isMeasured = [](const TuneCandidate &candidate) {
                 return candidate.state == TuneCandidate::State::Measured;
               };
               if (isMeasured(x) != isMeasured(y))
                 return isMeasured(x);
               return isMeasured(x) && x.seconds < y.seconds;
             });
  record->store(report);
  return report;
}
