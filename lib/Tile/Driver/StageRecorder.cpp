//===- StageRecorder.cpp - Texts and times of a compilation -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageRecorder.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tile::driver;

using Clock = std::chrono::steady_clock;

std::string StageRecorder::number(llvm::StringRef name) {
  unsigned use = ++uses[name];
  return use == 1 ? name.str() : (name + "-" + Twine(use)).str();
}

void StageRecorder::addStage(llvm::StringRef name, llvm::StringRef extension,
                             std::string contents) {
  Stage stage{number(name), extension.str(), std::move(contents)};
  if (options.onStage)
    options.onStage(stage);
  if (options.keepStages)
    stages.push_back(std::move(stage));
}

void StageRecorder::addTime(llvm::StringRef name, double seconds) {
  times.push_back({name.str(), seconds});
}

/// The passes run on one thread, so starts and ends nest.
class StageRecorder::Watcher : public PassInstrumentation {
public:
  explicit Watcher(StageRecorder &recorder) : recorder(recorder) {}

  void runBeforePass(Pass *pass, Operation *) override {
    if (isOwnPass(pass))
      start = Clock::now();
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    if (!isOwnPass(pass))
      return;
    recorder.addTime(
        pass->getArgument(),
        std::chrono::duration<double>(Clock::now() - start).count());
    if (!recorder.wantsStages())
      return;
    std::string text;
    llvm::raw_string_ostream stream(text);
    Operation *root = op;
    while (root->getParentOp())
      root = root->getParentOp();
    root->print(stream);
    stream << '\n';
    recorder.addStage(pass->getArgument(), "mlir", std::move(text));
  }

private:
  /// Not the adaptor that runs passes on nested ops, which has no argument.
  static bool isOwnPass(Pass *pass) { return !pass->getArgument().empty(); }

  StageRecorder &recorder;
  Clock::time_point start;
};

void StageRecorder::watch(PassManager &passes) {
  passes.addInstrumentation(std::make_unique<Watcher>(*this));
}
