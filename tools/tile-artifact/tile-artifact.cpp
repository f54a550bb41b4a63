//===- tile-artifact.cpp - Compile tile programs for GPUs -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles functions of a file to one artifact with code for one or several
// chips, and prints what ptxas says of each kernel.
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Registration.h"
#include "Tile/IR/EntryAttributes.h"
#include "Tile/IR/TileDialect.h"
#include "Tile/Target/CUDA/Compile.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace tile;

static llvm::cl::opt<std::string>
    input(llvm::cl::Positional, llvm::cl::desc("<file>"), llvm::cl::Required);
static llvm::cl::opt<std::string> output("o", llvm::cl::desc("artifact"),
                                         llvm::cl::Required);
static llvm::cl::list<std::string>
    chips("chip", llvm::cl::CommaSeparated,
          llvm::cl::desc("chips to compile for, sm_80 by default"));
static llvm::cl::list<std::string> entries(
    "entry", llvm::cl::CommaSeparated,
    llvm::cl::desc("functions to compile; all with launches by default"));
static llvm::cl::list<std::string>
    values("set", llvm::cl::CommaSeparated,
           llvm::cl::desc("name=value of tunables"));

/// A module of `function` and of the helpers that it may call.
static OwningOpRef<ModuleOp> isolate(ModuleOp module, func::FuncOp function) {
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  for (auto other : llvm::make_early_inc_range(copy->getOps<func::FuncOp>())) {
    for (StringRef name : {kReference, kTolerance, kFlops, kBytes})
      other->removeAttr(name);
    bool launches = other.walk([](LaunchOp) { return WalkResult::interrupt(); })
                        .wasInterrupted();
    if (launches && other.getName() != function.getName())
      other.erase();
  }
  return copy;
}

static LogicalResult compile(ModuleOp module, func::FuncOp function,
                             StringRef chipName, runtime::Artifact &artifact) {
  std::optional<Chip> chip = getChip(chipName);
  if (!chip)
    return function.emitError("unknown chip '")
           << chipName << "'; known are " << getChipNames();
  OwningOpRef<ModuleOp> copy = isolate(module, function);
  PassManager passes(module.getContext());
  cuda::TileToCUDAOptions options;
  options.chip = chipName.str();
  std::vector<std::string> chosen(values.begin(), values.end());
  options.values = ArrayRef<std::string>(chosen);
  cuda::buildTileToCUDA(passes, options);
  if (failed(passes.run(*copy)))
    return failure();
  auto lowered = copy->lookupSymbol<func::FuncOp>(function.getName());
  llvm::Expected<std::vector<cuda::ResourceReport>> reports =
      cuda::addToArtifact(lowered, *chip, artifact);
  if (!reports)
    return function.emitError(toString(reports.takeError()));
  for (const cuda::ResourceReport &report : *reports)
    llvm::outs() << report.kernel << ' ' << chipName << ": " << report.registers
                 << " registers, " << report.stackBytes << " bytes stack, "
                 << report.spillStores << "/" << report.spillLoads
                 << " bytes spilled\n";
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv, "compile tile programs\n");
  DialectRegistry registry;
  driver::registerAllDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(StringRef(input), &context);
  if (!module)
    return 1;
  if (chips.empty())
    chips.push_back("sm_80");
  runtime::Artifact artifact;
  bool failedAny = false;
  for (auto function : module->getOps<func::FuncOp>()) {
    bool launches =
        function.walk([](LaunchOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    bool isWanted = entries.empty()
                        ? launches && !function.isPrivate()
                        : llvm::is_contained(entries, function.getName().str());
    if (!isWanted)
      continue;
    for (const std::string &chip : chips)
      failedAny |= failed(compile(*module, function, chip, artifact));
  }
  if (runtime::Status status = artifact.write(output); !status) {
    llvm::errs() << status.message() << '\n';
    return 1;
  }
  return failedAny;
}
