//===- Launch.cpp - One grid from start to end -----------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks a launch against its kernel and spreads the clusters over the host's
// cores. A worker keeps one cluster at a time, unless all it has only spin:
// then they may wait for a cluster that has not started, and another joins
// them, up to the number that would be resident on the device.
//===----------------------------------------------------------------------===//
#include "Launch.h"
#include "Fiber.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <chrono>
#include <sys/mman.h>
#include <thread>

using namespace tile::emulator;

static int64_t nowMicroseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Launch::checkTime(Cluster &cluster) {
  if (!deadline || nowMicroseconds() < deadline || isStopped)
    return;
  std::string text = "the launch is over its time limit";
  describeDeadlock(cluster, text);
  report(*this, ReportKind::Deadlock, text, Party(), Party(), "", {0, 0, 0, 0});
  stop();
}

namespace {
/// Address ranges for the shared windows of clusters, reused.
class WindowPool {
public:
  WindowPool(unsigned blocks, uint64_t bytes)
      : blocks(blocks), bytes(llvm::alignTo(bytes, 4096)) {}
  ~WindowPool() {
    for (uint8_t *window : all)
      munmap(window, sharedWindowBytes);
  }
  uint8_t *take(uint64_t seed) {
    if (unused.empty()) {
      void *window = mmap(nullptr, sharedWindowBytes, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (window == MAP_FAILED)
        return nullptr;
      all.push_back(static_cast<uint8_t *>(window));
      unused.push_back(all.back());
      for (unsigned rank = 0; rank < blocks; ++rank)
        if (mprotect(all.back() + (uint64_t(rank) << sharedRankShift), bytes,
                     PROT_READ | PROT_WRITE))
          return nullptr;
    }
    uint8_t *window = unused.back();
    unused.pop_back();
    // What was never written differs from seed to seed.
    for (unsigned rank = 0; rank < blocks; ++rank)
      std::memset(window + (uint64_t(rank) << sharedRankShift),
                  seed % 2 ? 0x7e : 0xa5, bytes);
    return window;
  }
  void put(uint8_t *window) { unused.push_back(window); }

private:
  unsigned blocks;
  uint64_t bytes;
  std::vector<uint8_t *> all, unused;
};

class Worker {
public:
  Worker(Launch &launch, size_t mostClusters)
      : launch(launch), stacks(128 * 1024 + 2 * launch.image->stackBytes +
                               localMemoryBytes(*launch.image)),
        windows(static_cast<unsigned>(launch.clusterShape.count()),
                launch.sharedBytes),
        mostClusters(mostClusters) {}

  void run() {
    while (!launch.isStopped.load(std::memory_order_relaxed)) {
      if (active.empty() && !startCluster())
        return;
      bool progressed = false;
      for (size_t i = 0; i < active.size();) {
        Cluster::Status status = active[i]->run();
        if (status != Cluster::Status::Idle)
          progressed = true;
        if (status != Cluster::Status::Done) {
          ++i;
          continue;
        }
        windows.put(active[i]->window);
        active.erase(active.begin() + static_cast<long>(i));
      }
      if (progressed) {
        launch.lastProgress.store(nowMicroseconds());
        continue;
      }
      if (active.size() < mostClusters && startCluster())
        continue;
      checkForHang();
    }
  }

private:
  bool startCluster() {
    uint64_t number = launch.nextCluster.fetch_add(1);
    if (number >= launch.clusterCount)
      return false;
    uint8_t *window = windows.take(launch.config->seed + number);
    std::unique_ptr<Cluster> cluster;
    if (window)
      cluster = createCluster(launch, number, window, stacks);
    if (!cluster) {
      report(launch, ReportKind::InvalidOperand,
             "the host has no memory for another cluster", Party(), Party(), "",
             {number, 0, 0, 0});
      launch.stop();
      return false;
    }
    active.push_back(std::move(cluster));
    return true;
  }

  void checkForHang() {
    double idle = double(nowMicroseconds() - launch.lastProgress.load()) / 1e6;
    if (idle < launch.config->hangSeconds) {
      std::this_thread::yield();
      return;
    }
    for (auto &cluster : active) {
      std::string text;
      describeDeadlock(*cluster, text);
      report(launch, ReportKind::Deadlock, text, Party(), Party(), "",
             {cluster->number + 1ull, 0, 0, 0});
    }
    launch.stop();
  }

  Launch &launch;
  StackPool stacks;
  WindowPool windows;
  size_t mostClusters;
  std::vector<std::unique_ptr<Cluster>> active;
};
} // namespace

static bool checkShape(const KernelImage &image, const LaunchConfig &config,
                       const Dim3 &cluster, Diagnostics &diagnostics) {
  auto fail = [&](std::string message) {
    diagnostics.push_back({0, std::move(message)});
    return false;
  };
  auto text = [](uint64_t n) { return std::to_string(n); };
  const ptx::Function &function = *image.function;
  if (!config.grid.count() || !config.block.count() || !cluster.count())
    return fail("grid, block and cluster extents must not be zero");
  uint64_t threads = config.block.count();
  if (threads > 1024)
    return fail("a block has at most 1024 threads, got " + text(threads));
  if (function.requiredThreads) {
    const std::vector<unsigned> &r = *function.requiredThreads;
    Dim3 required{r[0], r.size() > 1 ? r[1] : 1, r.size() > 2 ? r[2] : 1};
    if (required.x != config.block.x || required.y != config.block.y ||
        required.z != config.block.z)
      return fail("the kernel requires blocks of " + text(required.x) + "x" +
                  text(required.y) + "x" + text(required.z) + " threads");
  }
  if (function.maximumThreads) {
    uint64_t most = 1;
    for (unsigned extent : *function.maximumThreads)
      most *= extent;
    if (threads > most)
      return fail("the kernel allows " + text(most) + " threads a block, got " +
                  text(threads));
  }
  if (cluster.count() > maxClusterBlocks)
    return fail("a cluster has at most 16 blocks, got " +
                text(cluster.count()));
  if (config.grid.x % cluster.x || config.grid.y % cluster.y ||
      config.grid.z % cluster.z)
    return fail("the grid must be a multiple of the cluster in each "
                "dimension");
  if (config.grid.count() / cluster.count() >= uint64_t(1) << 31)
    return fail("the grid is too large");
  uint64_t shared =
      uint64_t(image.dynamicSharedOffset) + config.dynamicSharedBytes;
  if (shared > sharedLimit)
    return fail("the block needs " + text(shared - sharedReserved) +
                " bytes of shared memory, there are " +
                text(sharedLimit - sharedReserved));
  return true;
}

static bool placeArguments(Launch &launch, Diagnostics &diagnostics) {
  const ptx::Program &program = *launch.image->program;
  const ptx::Function &function = *launch.image->function;
  const std::vector<Argument> &arguments = launch.config->arguments;
  if (arguments.size() != function.parameters.size()) {
    diagnostics.push_back({0, "the kernel has " +
                                  std::to_string(function.parameters.size()) +
                                  " parameters, the launch gives " +
                                  std::to_string(arguments.size())});
    return false;
  }
  launch.parameters.assign(function.parameterBytes + 256, 0);
  launch.parameterBase = reinterpret_cast<uint8_t *>(llvm::alignTo(
      reinterpret_cast<uintptr_t>(launch.parameters.data()), 128));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ptx::Variable &parameter = program.variables[function.parameters[i]];
    if (arguments[i].bytes.size() != parameter.bytes()) {
      diagnostics.push_back({0, "parameter " + std::to_string(i) + " ('" +
                                    parameter.name.str() + "') has " +
                                    std::to_string(parameter.bytes()) +
                                    " bytes, the argument " +
                                    std::to_string(arguments[i].bytes.size())});
      return false;
    }
    std::copy(arguments[i].bytes.begin(), arguments[i].bytes.end(),
              launch.parameterBase + parameter.offset);
  }
  return true;
}

static bool placeBuffers(Launch &launch, Diagnostics &diagnostics) {
  const KernelImage &image = *launch.image;
  bool wantsShadow =
      launch.checks & (checkRace | checkUninitialized | checkProxy);
  auto add = [&](uint8_t *data, uint64_t bytes, std::string name,
                 unsigned elementBytes, bool isReadOnly, bool isInitialized) {
    if (bytes == 0)
      return;
    GlobalRegion region;
    region.data = data;
    region.bytes = bytes;
    region.name = std::move(name);
    region.elementBytes = std::max(1u, elementBytes);
    region.isReadOnly = isReadOnly;
    if (wantsShadow && !(isReadOnly && isInitialized))
      region.shadow = std::make_unique<Shadow>(bytes, true, !isInitialized);
    launch.regions.push_back(std::move(region));
  };
  for (const Buffer &buffer : launch.config->buffers)
    add(static_cast<uint8_t *>(buffer.data), buffer.bytes, buffer.name,
        buffer.elementBytes, buffer.isReadOnly, buffer.isInitialized);
  for (auto [index, data] : image.memory->variables) {
    const ptx::Variable &variable = image.program->variables[index];
    add(data, variable.bytes(), variable.name.str(), variable.type.bytes(),
        variable.space == ptx::Space::Const, true);
  }
  std::sort(launch.regions.begin(), launch.regions.end(),
            [](const GlobalRegion &a, const GlobalRegion &b) {
              return a.data < b.data;
            });
  for (size_t i = 1; i < launch.regions.size(); ++i) {
    const GlobalRegion &a = launch.regions[i - 1], &b = launch.regions[i];
    if (a.data + a.bytes > b.data) {
      diagnostics.push_back(
          {0, "buffers '" + a.name + "' and '" + b.name + "' overlap"});
      return false;
    }
  }
  return true;
}

std::optional<LaunchResult>
tile::emulator::runLaunch(const KernelImage &image, const LaunchConfig &config,
                          Diagnostics &diagnostics) {
  Launch launch;
  launch.image = &image;
  launch.config = &config;
  launch.checks = image.checks;
  if (config.cluster) {
    launch.clusterShape = *config.cluster;
  } else if (image.function->clusterShape) {
    const std::vector<unsigned> &shape = *image.function->clusterShape;
    launch.clusterShape = {shape[0], shape.size() > 1 ? shape[1] : 1,
                           shape.size() > 2 ? shape[2] : 1};
  }
  launch.hasClusters = config.cluster || image.function->clusterShape;
  if (!checkShape(image, config, launch.clusterShape, diagnostics))
    return std::nullopt;
  launch.blockThreads = static_cast<uint32_t>(config.block.count());
  launch.clusterThreads =
      static_cast<uint32_t>(launch.blockThreads * launch.clusterShape.count());
  launch.clusterCount = config.grid.count() / launch.clusterShape.count();
  launch.sharedBytes = config.dynamicSharedBytes ? image.dynamicSharedOffset +
                                                       config.dynamicSharedBytes
                                                 : image.staticSharedBytes;
  if (!placeArguments(launch, diagnostics) ||
      !placeBuffers(launch, diagnostics))
    return std::nullopt;

  for (const TextFault &fault : image.convergenceFaults)
    report(launch, ReportKind::NoConvergence, fault);
  launch.lastProgress = nowMicroseconds();
  if (config.timeLimitSeconds > 0)
    launch.deadline =
        nowMicroseconds() + int64_t(config.timeLimitSeconds * 1e6);
  uint64_t cores = config.workers
                       ? config.workers
                       : std::max(1u, std::thread::hardware_concurrency());
  uint64_t workers = std::min<uint64_t>(cores, launch.clusterCount);
  size_t resident = std::max<size_t>(1, config.residentClusters /
                                            static_cast<size_t>(workers));
  auto work = [&] { Worker(launch, resident).run(); };
  std::vector<std::thread> threads;
  for (uint64_t i = 1; i < workers; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();

  LaunchResult result;
  result.completed = !launch.isStopped;
  result.reports = std::move(launch.reports);
  result.output = std::move(launch.output);
  return result;
}
