//===- KernelImage.h - A compiled kernel -----------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything one entry point needs to run: host code, its sites, the layout of
// shared memory, storage of module variables. Immutable after compilation,
// which comes with the first launch, and shared by launches.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_KERNELIMAGE_H
#define TILE_LIB_EMULATOR_KERNELIMAGE_H

#include "Program.h"
#include "Site.h"
#include "Tile/Emulator/Diagnostic.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>
#include <memory>

namespace llvm::orc {
class LLJIT;
class ThreadSafeModule;
} // namespace llvm::orc

namespace tile::emulator {

/// Which faults are looked for; see Check in Emulator.h.
using CheckMask = uint32_t;
enum CheckBits : CheckMask {
  checkRace = 1,
  checkProxy = 2,
  checkUninitialized = 4,
  checkRegister = 8,
  checkConverge = 16
};

/// Storage of a module's .global and .const variables, shared by the kernels
/// of the module and kept between launches as on the device.
struct ModuleMemory {
  std::vector<std::unique_ptr<uint8_t[]>> blocks;
  llvm::DenseMap<int, uint8_t *> variables;
};

/// A fault that shows without a run.
struct TextFault {
  std::string message;
  const Site *first, *second;
};

struct KernelImage {
  using EntryPoint = void (*)(Thread *);

  const ptx::Program *program = nullptr;
  const ptx::Function *function = nullptr;
  ModuleMemory *memory = nullptr;
  CheckMask checks = 0;
  EntryPoint entry = nullptr;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::unique_ptr<llvm::orc::ThreadSafeModule> code; // not compiled yet
  std::deque<std::unique_ptr<Site>> sites;
  llvm::DenseMap<int, uint32_t> sharedOffsets; // variable -> offset
  uint32_t staticSharedBytes = 0;              // with the reserved kilobyte
  uint32_t dynamicSharedOffset = 0;
  uint64_t stackBytes = 0;    // a thread's need for registers
  uint64_t localBytes = 0;    // of the largest frame of local memory
  std::vector<int> functions; // reachable, entry first
  std::vector<uint64_t> functionAddresses; // what may be called indirectly
  std::vector<TextFault> convergenceFaults;
  bool usesClusters = false;
  bool usesAsyncCopies = false; // cp.async, which needs an agent a thread

  template <typename T> T *addSite() {
    auto site = std::make_unique<T>();
    T *raw = site.get();
    raw->number = static_cast<uint32_t>(sites.size());
    sites.push_back(std::move(site));
    return raw;
  }

  KernelImage();
  ~KernelImage();
};

/// Brings `entry` of `program` into LLVM IR; whatever is not modelled shows.
std::unique_ptr<KernelImage>
lowerKernel(const ptx::Program &program, ModuleMemory &memory,
            llvm::StringRef entry, CheckMask checks, Diagnostics &diagnostics);

/// Makes host code of it, once: most of the time that compilation takes.
bool compileKernel(KernelImage &image, Diagnostics &diagnostics);

/// Gives every .global and .const variable its storage and first value.
bool createModuleMemory(const ptx::Program &program, ModuleMemory &memory,
                        Diagnostics &diagnostics);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_KERNELIMAGE_H
