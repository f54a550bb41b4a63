//===- NativeCode.h - From the llvm dialect to machine code -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One module on its way from the llvm dialect through LLVM IR, optimised for
// the machine this runs on, to an object file. Nothing here prints or aborts:
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

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

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

  /// Runs LLVM's -O3 pipeline, vectorisation of loops and straight-line code
  /// included, with the costs of this machine.
  llvm::Error optimize();
  /// The LLVM IR as text.
  std::string printIR() const;
  /// The assembly as text.
  llvm::Expected<std::string> emitAssembly() const;
  /// A relocatable object file. Calls to vector math go to libmvec, loops over
  /// blocks to the OpenMP runtime, traps to `__tile_cpu_report`.
  llvm::Expected<llvm::SmallVector<char, 0>> emitObject() const;

private:
  struct Diagnostics;
  NativeCode();
  static llvm::Expected<NativeCode> translateModule(mlir::ModuleOp module);
  template <typename Emit> llvm::Error generate(Emit emit) const;

  // In the order in which they depend on each other.
  std::unique_ptr<Diagnostics> diagnostics;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

} // namespace tile::cpu

#endif // TILE_TARGET_CPU_NATIVECODE_H
