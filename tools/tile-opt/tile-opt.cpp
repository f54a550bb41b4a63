//===- tile-opt.cpp - Run passes on tile programs ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt with the tile dialect, passes and pipelines. Besides, it refuses a
// text whose nesting the parser would not survive.
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/FinishOutput.h"
#include "Tile/Driver/Registration.h"
#include "Tile/Driver/SourceLimits.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;

int main(int argc, char **argv) {
  tile::driver::finishOutputAtExit("tile-opt", 1);
  DialectRegistry registry;
  tile::driver::registerAllDialects(registry);
  tile::driver::registerAllPasses();
  auto [inputName, outputName] =
      registerAndParseCLIOptions(argc, argv, "tile-opt", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return failed(MlirOptMain(argc, argv, inputName, outputName, registry));

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(inputName, &message);
  if (!input) {
    llvm::errs() << message << '\n';
    return 1;
  }
  const char *place = isBytecode(*input)
                          ? nullptr
                          : tile::driver::findTooDeep(input->getBuffer());
  if (place) {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(std::move(input), llvm::SMLoc());
    sources.PrintMessage(
        llvm::SMLoc::getFromPointer(place), llvm::SourceMgr::DK_Error,
        "brackets nest too deep here, more than " +
            llvm::Twine(tile::driver::kMaxNesting) + " inside each other");
    return 1;
  }
  std::unique_ptr<llvm::ToolOutputFile> output =
      openOutputFile(outputName, &message);
  if (!output) {
    llvm::errs() << message << '\n';
    return 1;
  }
  bool isRight =
      succeeded(MlirOptMain(output->os(), std::move(input), registry, config));
  if (llvm::Error error = tile::driver::finishOutput(output->os())) {
    llvm::WithColor::error(llvm::errs(), "tile-opt")
        << toString(std::move(error)) << '\n';
    return 1;
  }
  if (!isRight)
    return 1;
  output->keep();
  return 0;
}
