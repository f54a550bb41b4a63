//===- Module.cpp - The entrance of the room -------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Owns the parsed program, its global variables and the kernels compiled from
// it, one an entry and set of checks.
//===----------------------------------------------------------------------===//
#include "KernelImage.h"
#include "Launch.h"
#include "Parser.h"
#include "llvm/ADT/StringSwitch.h"
#include <map>
#include <mutex>

using namespace tile::emulator;

struct Module::State {
  std::unique_ptr<ptx::Program> program;
  ModuleMemory memory;
  std::mutex mutex;
  std::map<std::pair<std::string, uint32_t>, std::unique_ptr<KernelImage>>
      kernels;

  const KernelImage *kernel(std::string_view entry, uint32_t checks,
                            bool isLaunched, Diagnostics &diagnostics) {
    std::lock_guard<std::mutex> lock(mutex);
    auto &slot = kernels[{std::string(entry), checks}];
    if (!slot)
      slot = lowerKernel(*program, memory,
                         llvm::StringRef(entry.data(), entry.size()), checks,
                         diagnostics);
    if (!slot || (isLaunched && !compileKernel(*slot, diagnostics)))
      return nullptr;
    return slot.get();
  }
};

std::optional<uint32_t> checks::parse(std::string_view names) {
  uint32_t mask = None;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  llvm::StringRef(names).split(parts, ',');
  for (llvm::StringRef part : parts) {
    auto check = llvm::StringSwitch<std::optional<uint32_t>>(part.trim())
                     .Case("all", All)
                     .Case("none", None)
                     .Case("race", Race)
                     .Case("proxy", Proxy)
                     .Case("uninit", Uninitialized)
                     .Case("register", Register)
                     .Case("converge", Converge)
                     .Default(std::nullopt);
    if (!check)
      return std::nullopt;
    mask |= *check;
  }
  return mask;
}

Module::Module() : state(std::make_unique<State>()) {}
Module::~Module() = default;

std::unique_ptr<Module> Module::parse(std::string_view text,
                                      Diagnostics &diagnostics) {
  std::unique_ptr<Module> module(new Module);
  module->state->program =
      ptx::parseProgram(llvm::StringRef(text.data(), text.size()), diagnostics);
  if (!module->state->program ||
      !createModuleMemory(*module->state->program, module->state->memory,
                          diagnostics))
    return nullptr;
  return module;
}

std::vector<std::string> Module::entries() const {
  std::vector<std::string> names;
  for (const ptx::Function &function : state->program->functions)
    if (function.isEntry && function.hasBody)
      names.push_back(function.name.str());
  return names;
}

std::vector<uint64_t> Module::parameterBytes(std::string_view entry) const {
  std::vector<uint64_t> sizes;
  if (const ptx::Function *function = state->program->findEntry(
          llvm::StringRef(entry.data(), entry.size())))
    for (int parameter : function->parameters)
      sizes.push_back(state->program->variables[parameter].bytes());
  return sizes;
}

bool Module::check(std::string_view entry, uint32_t checks,
                   Diagnostics &diagnostics) {
  return state->kernel(entry, checks, /*isLaunched=*/false, diagnostics);
}

std::optional<LaunchResult> Module::launch(std::string_view entry,
                                           const LaunchConfig &config,
                                           Diagnostics &diagnostics) {
  const KernelImage *image =
      state->kernel(entry, config.checks, /*isLaunched=*/true, diagnostics);
  if (!image)
    return std::nullopt;
  return runLaunch(*image, config, diagnostics);
}
