//===- NativeCode.h - From the llvm dialect to machine code -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One module on its way from the llvm dialect through LLVM IR, optimised for
// the machine this runs on, to object files. Nothing here prints or aborts:
// what LLVM reports comes back as the error of the step.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TARGET_CPU_NATIVECODE_H
#define TILE_TARGET_CPU_NATIVECODE_H

#include "Tile/Target/CPU/CFunction.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace tile::cpu {

/// The function that calls `name` with its arguments packed in an array:
/// `void(void **)`. Element i points at a memref's descriptor or at a scalar as
/// a buffer holds it.
std::string getPackedName(llvm::StringRef name);

/// Bytes of the vectors that LLVM prefers on this machine; it may stay below
/// what the registers hold where wide vectors lower the clock.
llvm::Expected<unsigned> getPreferredVectorBytes();

/// What tells the machine that code is generated for from another: processor,
/// features, vector math.
std::string describeHost();

class NativeCode {
public:
  /// Translates `module`, all in the llvm dialect, in which `entry` has a C
  /// wrapper. Only the packed form of `entry` stays visible outside. Details of
  /// a failure are diagnostics on the module's context.
  static llvm::Expected<NativeCode> translate(mlir::ModuleOp module,
                                              llvm::StringRef entry);
  /// The same for C programs: each function becomes one that they can call by
  /// its name, and nothing but the OpenMP runtime and the C library is needed.
  static llvm::Expected<NativeCode>
  translateForC(mlir::ModuleOp module, llvm::ArrayRef<CFunction> functions);
  NativeCode(NativeCode &&);
  NativeCode &operator=(NativeCode &&);
  ~NativeCode();

  /// Divides large code into parts, each with an object file of its own, that
  /// the steps below work on at the same time.
  llvm::Error split();
  /// Runs LLVM's -O2 pipeline, vectorisation of loops and straight-line code
  /// included, with the costs of this machine.
  llvm::Error optimize();
  /// The LLVM IR as text.
  std::string printIR() const;
  /// The assembly as text.
  llvm::Expected<std::string> emitAssembly() const;
  /// Relocatable object files, one without `split`. Calls to vector math go to
  /// libmvec, loops over blocks to the OpenMP runtime, traps to
  /// `__tile_cpu_report`.
  llvm::Expected<std::vector<llvm::SmallVector<char, 0>>> emitObjects() const;

private:
  struct Part;
  NativeCode();
  static llvm::Expected<NativeCode> translateModule(mlir::ModuleOp module);
  template <typename Each> llvm::Error forEachPart(Each each) const;

  std::vector<std::unique_ptr<Part>> parts;
};

} // namespace tile::cpu

#endif // TILE_TARGET_CPU_NATIVECODE_H
