//===- Specialize.cpp - Fix the tunables of a function ----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tunables become constants, folding does the rest. What a requirement depends
// on is recorded beforehand, while the tunables are still there to be named.
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/Specialize.h"
#include "Tile/IR/TileDialect.h"
#include "Tile/Transforms/Passes.h"
#include "Tile/Transforms/StaticTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_SPECIALIZE
#include "Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace tile;

static SmallVector<TunableOp> getTunableOps(FunctionOpInterface function) {
  SmallVector<TunableOp> tunables;
  function.walk([&](TunableOp op) { tunables.push_back(op); });
  return tunables;
}

SmallVector<Tunable> tile::listTunables(FunctionOpInterface function) {
  SmallVector<Tunable> tunables;
  for (TunableOp op : getTunableOps(function))
    tunables.push_back(
        {op.getName().str(), SmallVector<int64_t>(op.getChoices()),
         static_cast<int64_t>(op.getDefaultValue()), op.getLoc()});
  return tunables;
}

namespace {
/// What the condition of a requirement is computed from.
struct Requirement {
  RequireOp op;
  /// "name = value" of each tunable.
  std::string tunables;
  /// Values that are neither constants nor computed from tunables.
  SmallVector<Value> others;
};
} // namespace

/// Reports the names in `values` that no tunable has, and the values that are
/// none of the choices.
static LogicalResult checkValues(FunctionOpInterface function,
                                 ArrayRef<TunableOp> tunables,
                                 const llvm::StringMap<int64_t> &values) {
  bool valid = true;
  for (const auto &entry : values) {
    const auto *op = llvm::find_if(tunables, [&](TunableOp tunable) {
      return tunable.getName() == entry.getKey();
    });
    if (op == tunables.end()) {
      InFlightDiagnostic diag = function->emitError("'")
                                << function.getName() << "' has no tunable \""
                                << entry.getKey() << "\"";
      if (tunables.empty())
        diag << ", nor any other";
      for (TunableOp tunable : tunables)
        diag.attachNote(tunable.getLoc())
            << "it has \"" << tunable.getName() << "\"";
      valid = false;
    } else if (TunableOp tunable = *op;
               !llvm::is_contained(tunable.getChoices(), entry.getValue())) {
      InFlightDiagnostic diag = tunable.emitOpError("\"")
                                << tunable.getName() << "\" cannot be "
                                << entry.getValue() << "; its choices are [";
      llvm::interleaveComma(tunable.getChoices(), diag);
      diag << "]";
      valid = false;
    }
  }
  return success(valid);
}

static Requirement describe(RequireOp op,
                            const DenseMap<Operation *, int64_t> &valueOf) {
  Requirement requirement{op, {}, {}};
  llvm::SetVector<Value> slice;
  slice.insert(op.getCondition());
  for (size_t i = 0; i < slice.size(); ++i) {
    Value value = slice[i];
    Operation *def = value.getDefiningOp();
    if (auto tunable = dyn_cast_or_null<TunableOp>(def)) {
      if (!requirement.tunables.empty())
        requirement.tunables += ", ";
      requirement.tunables += tunable.getName().str() + " = " +
                              std::to_string(valueOf.lookup(tunable));
    } else if (def && isMemoryEffectFree(def) && def->getNumRegions() == 0 &&
               (def->getNumOperands() > 0 || matchPattern(def, m_Constant()))) {
      slice.insert(def->operand_begin(), def->operand_end());
    } else {
      requirement.others.push_back(value);
    }
  }
  return requirement;
}

/// Removes a requirement that holds; reports one that does not.
static LogicalResult discharge(Requirement &requirement) {
  RequireOp op = requirement.op;
  llvm::APInt holds;
  if (matchPattern(op.getCondition(), m_ConstantInt(&holds))) {
    if (!holds.isZero()) {
      op.erase();
      return success();
    }
    InFlightDiagnostic diag = op.emitOpError("does not hold: ")
                              << op.getMessage();
    if (!requirement.tunables.empty())
      diag << " (" << requirement.tunables << ")";
    return diag;
  }
  if (requirement.others.empty())
    return op.emitOpError("cannot be evaluated: its condition has no value "
                          "for ")
           << requirement.tunables
           << ", as in a division by zero; state first what keeps it defined";
  InFlightDiagnostic diag =
      op.emitOpError("cannot be evaluated: its condition depends on more than "
                     "constants and tunables; check what is only known when "
                     "the program runs with cf.assert");
  for (Value value : requirement.others)
    diag.attachNote(value.getLoc()) << "it depends on this value";
  return diag;
}

LogicalResult tile::specialize(FunctionOpInterface function,
                               const llvm::StringMap<int64_t> &values) {
  SmallVector<TunableOp> tunables = getTunableOps(function);
  if (failed(checkValues(function, tunables, values)))
    return failure();

  DenseMap<Operation *, int64_t> valueOf;
  for (TunableOp tunable : tunables) {
    auto given = values.find(tunable.getName());
    valueOf[tunable] = given != values.end()
                           ? given->getValue()
                           : static_cast<int64_t>(tunable.getDefaultValue());
  }
  SmallVector<Requirement> requirements;
  function.walk(
      [&](RequireOp op) { requirements.push_back(describe(op, valueOf)); });

  for (TunableOp tunable : tunables) {
    OpBuilder builder(tunable);
    tunable.replaceAllUsesWith(arith::ConstantIndexOp::create(
                                   builder, tunable.getLoc(), valueOf[tunable])
                                   .getResult());
    tunable.erase();
  }
  propagateStaticTypes(function);

  bool valid = true;
  for (Requirement &requirement : requirements)
    valid &= succeeded(discharge(requirement));
  // The values may have made an op invalid whose types were open before.
  return success(valid && succeeded(verify(function)));
}

/// Functions in other dialects alone, such as references, are left as they are.
static bool usesTile(FunctionOpInterface function) {
  return function
      ->walk([](Operation *op) {
        return isa_and_nonnull<TileDialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Parses "name=value"; reports at `loc` what is not of this form.
static LogicalResult parseValue(StringRef text, Location loc,
                                llvm::StringMap<int64_t> &values) {
  auto [name, number] = text.split('=');
  int64_t value;
  if (name.trim().empty() || number.trim().getAsInteger(10, value))
    return emitError(loc) << "expected name=value with an integer value, got '"
                          << text << "'";
  if (!values.try_emplace(name.trim(), value).second)
    return emitError(loc) << "tunable \"" << name.trim() << "\" is given twice";
  return success();
}

namespace {
struct SpecializePass : tile::impl::SpecializeBase<SpecializePass> {
  using SpecializeBase::SpecializeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<int64_t> given;
    for (const std::string &text : values)
      if (failed(parseValue(text, module.getLoc(), given)))
        return signalPassFailure();

    SmallVector<FunctionOpInterface> functions;
    for (auto candidate : module.getOps<FunctionOpInterface>())
      if (!candidate.isExternal() &&
          (function.empty() ? usesTile(candidate)
                            : candidate.getName() == function))
        functions.push_back(candidate);
    if (!function.empty() && functions.empty()) {
      module.emitError("has no function '") << function << "' with a body";
      return signalPassFailure();
    }
    if (failed(checkNames(functions, given)))
      return signalPassFailure();

    for (FunctionOpInterface candidate : functions) {
      // Each function takes the values that it has tunables for.
      llvm::StringMap<int64_t> own;
      SmallVector<Tunable> tunables = listTunables(candidate);
      for (const Tunable &tunable : tunables)
        if (auto entry = given.find(tunable.name); entry != given.end())
          own[tunable.name] = entry->getValue();
      if (failed(specialize(candidate, own)))
        return signalPassFailure();
      numFixed += tunables.size();
    }
  }

  /// Reports the names that none of the functions knows.
  LogicalResult checkNames(ArrayRef<FunctionOpInterface> functions,
                           const llvm::StringMap<int64_t> &given) {
    SmallVector<Tunable> all;
    for (FunctionOpInterface candidate : functions)
      all.append(listTunables(candidate));
    bool valid = true;
    for (const auto &entry : given) {
      if (llvm::any_of(all, [&](const Tunable &tunable) {
            return tunable.name == entry.getKey();
          }))
        continue;
      InFlightDiagnostic diag = emitError(getOperation().getLoc())
                                << "no function has a tunable \""
                                << entry.getKey() << "\"";
      for (const Tunable &tunable : all) {
        Diagnostic &note = diag.attachNote(tunable.loc);
        note << "there is \"" << tunable.name << "\", one of [";
        llvm::interleaveComma(tunable.choices, note);
        note << "]";
      }
      valid = false;
    }
    return success(valid);
  }
};
} // namespace
