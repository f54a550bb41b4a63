//===- RegisterAnalysis.h - Facts about PTX registers ----------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which registers may be read before they are written (only those need a flag
// at run time), and which are operands of asynchronous matrix instructions.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_REGISTERANALYSIS_H
#define TILE_LIB_EMULATOR_REGISTERANALYSIS_H

#include "Program.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile::emulator {

/// True for instructions that do nothing but compute registers from registers.
/// They carry the absence of a value on; only other uses of it are faults.
bool isPure(const ptx::Instruction &instruction);

/// True for a source of which the instruction takes no bit: LLVM puts registers
/// without a value there.
bool isUnusedSource(const ptx::Instruction &instruction,
                    const ptx::Operand &operand);

/// Calls `visit(register, isWrite)` for every register operand, reads first.
void forEachRegister(const ptx::Instruction &instruction,
                     llvm::function_ref<void(int, bool)> visit);

/// The labels that an instruction may go to.
llvm::SmallVector<int, 2> findTargets(const ptx::Function &function,
                                      const ptx::Instruction &instruction);

/// Whether the next instruction may come after it.
bool fallsThrough(const ptx::Instruction &instruction);

/// Registers of which some bit may have no value when they are read, or that
/// are computed from such.
std::vector<int> findMaybeUninitialized(const ptx::Function &function);

/// For each register the bytes that some instruction takes, the lowest in bit
/// zero: LLVM widens loads and takes parts of what they give.
std::vector<uint16_t> findReadBytes(const ptx::Function &function);

/// Registers wgmma writes, or reads as operand A, in order of appearance.
std::vector<int> findAsyncRegisters(const ptx::Function &function);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_REGISTERANALYSIS_H
