//===- HostMachine.h - Code generation for this machine ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's description of the machine this process runs on and of the vector math
// library found on it.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TARGET_CPU_HOSTMACHINE_H
#define TILE_TARGET_CPU_HOSTMACHINE_H

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/Error.h"

namespace tile::cpu {

/// The processor and features of this machine, position-independent code, the
/// highest level of optimisation.
llvm::Expected<llvm::orc::JITTargetMachineBuilder> detectHost();

/// The file name of glibc's vector math library, or nothing where it does not
/// load; calls to it are generated only where it does.
llvm::StringRef getVectorMathLibrary();

/// What LLVM may assume of library functions, the vector forms of math
/// functions included.
llvm::TargetLibraryInfoImpl getLibraryInfo(const llvm::Triple &triple);

} // namespace tile::cpu

#endif // TILE_TARGET_CPU_HOSTMACHINE_H
