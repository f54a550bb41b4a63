//===- Program.h - A source file and what it offers -------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads MLIR source and compiles functions of it. What the source does wrong
// comes back as an error whose text is MLIR's diagnostics with their places.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_PROGRAM_H
#define TILE_DRIVER_PROGRAM_H

#include "Tile/Driver/Kernel.h"
#include "Tile/IR/TileDialect.h"
#include "Tile/Runtime/Artifact.h"
#include <memory>
#include <optional>

namespace mlir {
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace tile::driver {

class Program;

/// MLIR's diagnostics as an error: complete lines, each with its place and
/// kind, that need nothing put in front.
class SourceError : public llvm::ErrorInfo<SourceError> {
public:
  static char ID;

  explicit SourceError(std::string text) : text(std::move(text)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string text;
};

/// The dialects in one place, to be shared by programs. Loading and compiling
/// take turns within a session; kernels are independent of it.
class Session {
public:
  Session();

  /// Loads a file; "-" is the standard input.
  llvm::Expected<Program> loadFile(llvm::StringRef path) const;
  /// Loads text; `name` stands for it in messages.
  llvm::Expected<Program> loadText(llvm::StringRef text,
                                   llvm::StringRef name) const;

  struct State;

private:
  std::shared_ptr<State> state;
};

struct Tunable {
  std::string name;
  std::vector<int64_t> choices;
  int64_t defaultValue;
};

/// What a function says of itself in attributes.
struct FunctionFacts {
  /// The name of the reference function, or empty.
  std::string reference;
  ToleranceAttr tolerance;
  /// Expressions for operations and bytes, or empty.
  std::string flops;
  std::string bytes;
  std::vector<Tunable> tunables;
};

/// Machine code that C programs link, and the header that declares it.
struct ObjectFile {
  std::string object;
  std::string header;
};

/// A verified module. Movable; keeps its session's dialects alive.
class Program {
public:
  Program(Program &&);
  Program &operator=(Program &&);
  ~Program();

  llvm::StringRef getName() const;
  mlir::ModuleOp getModule() const;

  /// Names of the functions to run: public ones that launch a tile kernel or
  /// carry a `tile.reference` or `tile.default`. In the order of the source.
  std::vector<std::string> getEntries() const;
  /// Fails where there is no such function or no target takes its arguments.
  llvm::Expected<Signature> getSignature(llvm::StringRef function) const;
  llvm::Expected<FunctionFacts> getFacts(llvm::StringRef function) const;

  /// The module's text after a textual pipeline, such as
  /// "builtin.module(tile-to-cpu)", over all that registerAllPasses knows. The
  /// program stays as it is.
  llvm::Expected<std::string> runPasses(llvm::StringRef pipeline) const;

  /// The same source in a session of its own, so that threads can compile at
  /// once.
  llvm::Expected<Program> reload() const;

  /// A name for all that decides what `function` compiles to.
  llvm::Expected<std::string> getCodeKey(llvm::StringRef function,
                                         const CompileOptions &options) const;
  /// The launch plan and code of `function`, from the cache where they are
  /// there.
  llvm::Expected<runtime::Artifact>
  compileToArtifact(llvm::StringRef function,
                    const CompileOptions &options) const;
  /// Compiles `function` and what it calls, and nothing else.
  llvm::Expected<std::shared_ptr<const Kernel>>
  compile(llvm::StringRef function, const CompileOptions &options) const;

  /// Compiles functions into an object file for C programs.
  llvm::Expected<ObjectFile>
  compileObject(llvm::ArrayRef<std::string> functions,
                const CompileOptions &options) const;

  struct State;

private:
  friend class Session;
  struct Compilation;
  llvm::Error compileCode(llvm::StringRef function,
                          const CompileOptions &options,
                          Compilation &compilation) const;
  explicit Program(std::unique_ptr<State> state);

  std::unique_ptr<State> state;
};

} // namespace tile::driver

#endif // TILE_DRIVER_PROGRAM_H
