//===- InlineCalls.cpp - Inline helper functions ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call graph walk first proves that every call of a tile program can be
// inlined and how many that will be; only then is anything changed. So a
// program that is refused is left as it was, and nested helpers cannot make the
// pass run without end.
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/InlineCalls.h"
#include "Tile/IR/TileDialect.h"
#include "Tile/Transforms/Passes.h"
#include "Tile/Transforms/StaticTypes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_INLINECALLS
#include "Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace tile;

namespace {

/// Tile programs are inlined whole, whatever ops they contain: what may stand
/// in a launch is for the verifiers and the lowerings to say, not for the
/// inliner interface of each dialect.
struct WholeInliner : InlinerInterface {
  using InlinerInterface::InlinerInterface;

  bool isLegalToInline(Operation *, Operation *, bool) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool shouldAnalyzeRecursively(Operation *) const final { return false; }
  bool
  allowSingleBlockOptimization(iterator_range<Region::iterator>) const final {
    return true;
  }

  // The hooks upstream ask the call's dialect, whose interface is an extension
  // that a program embedding this pass need not have registered.
  Value handleArgument(OpBuilder &, Operation *, Operation *, Value argument,
                       DictionaryAttr) const final {
    return argument;
  }
  Value handleResult(OpBuilder &, Operation *, Operation *, Value result,
                     DictionaryAttr) const final {
    return result;
  }
  void processInlinedCallBlocks(Operation *,
                                iterator_range<Region::iterator>) const final {}
  void handleTerminator(Operation *op, ValueRange results) const final {
    for (auto [result, value] : llvm::zip(results, op->getOperands()))
      result.replaceAllUsesWith(value);
  }
};

/// What the walk finds out about a function.
struct FunctionInfo {
  SmallVector<func::CallOp> calls;
  /// Calls that remain to be inlined into it, nested ones included.
  uint64_t numCalls = 0;
  enum { New, Open, Done } state = New;
};

/// The calls in `function`, apart from those in symbol tables of their own.
SmallVector<func::CallOp> collectCalls(func::FuncOp function) {
  SmallVector<func::CallOp> calls;
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->hasTrait<OpTrait::SymbolTable>())
      return WalkResult::skip();
    if (auto call = dyn_cast<func::CallOp>(op))
      calls.push_back(call);
    return WalkResult::advance();
  });
  return calls;
}

class HelperCalls {
public:
  explicit HelperCalls(ModuleOp module) : symbols(module) {
    for (auto function : module.getOps<func::FuncOp>())
      functions[function].calls = collectCalls(function);
  }

  /// Reports what keeps the calls of `function` from being inlined.
  LogicalResult check(func::FuncOp function);

private:
  func::FuncOp getCallee(func::CallOp call) const {
    return symbols.lookup<func::FuncOp>(call.getCallee());
  }

  LogicalResult checkCall(func::CallOp call);
  LogicalResult reportRecursion(func::CallOp call);

  SymbolTable symbols;
  llvm::MapVector<func::FuncOp, FunctionInfo> functions;
  /// The calls that lead to the function under the walk.
  SmallVector<func::CallOp> path;
};

} // namespace

LogicalResult HelperCalls::reportRecursion(func::CallOp call) {
  // The cycle starts where the path first entered the callee.
  auto *entered = llvm::find_if(path, [&](func::CallOp step) {
    return step.getCallee() == call.getCallee();
  });
  SmallVector<func::CallOp> cycle(
      entered == path.end() ? path.begin() : std::next(entered), path.end());
  cycle.push_back(call);
  func::CallOp first = path.empty() ? call : path.front();
  InFlightDiagnostic diag =
      first.emitOpError("cannot be inlined: '")
      << call.getCallee()
      << "' calls itself, and tile programs have no call stack; write a loop "
         "instead";
  for (func::CallOp step : cycle)
    diag.attachNote(step.getLoc())
        << "'" << step->getParentOfType<func::FuncOp>().getSymName()
        << "' calls '" << step.getCallee() << "' here";
  return diag;
}

LogicalResult HelperCalls::checkCall(func::CallOp call) {
  func::FuncOp callee = getCallee(call);
  if (functions[callee].state == FunctionInfo::Open)
    return reportRecursion(call);
  auto report = [&](StringRef why) {
    InFlightDiagnostic diag = call.emitOpError("cannot be inlined: '")
                              << call.getCallee() << why;
    diag.attachNote(callee.getLoc()) << "the function is here";
    return diag;
  };
  if (callee.isDeclaration())
    return report("' has no body; a tile program must be whole");
  if (!callee.getBody().hasOneBlock() ||
      !isa<func::ReturnOp>(callee.front().getTerminator()))
    return report("' has several blocks; write its control flow with scf ops");
  if (call->getParentOfType<LaunchOp>() &&
      !callee.front().getOps<TunableOp>().empty())
    return report("' declares tunables but is called inside a launch; declare "
                  "them in the function with the launch and pass them");
  path.push_back(call);
  LogicalResult result = check(callee);
  path.pop_back();
  return result;
}

LogicalResult HelperCalls::check(func::FuncOp function) {
  // Far above any real program, far below what would exhaust memory.
  constexpr uint64_t limit = 10000;
  FunctionInfo &info = functions[function];
  if (info.state == FunctionInfo::Done)
    return success();
  info.state = FunctionInfo::Open;
  for (func::CallOp call : info.calls) {
    if (failed(checkCall(call)))
      return failure();
    info.numCalls += 1 + functions[getCallee(call)].numCalls;
    if (info.numCalls > limit)
      return call.emitOpError("cannot be inlined: '")
             << function.getSymName() << "' would come to more than " << limit
             << " inlined calls";
  }
  info.state = FunctionInfo::Done;
  return success();
}

/// Inlines the calls of `function` until none is left; returns how many.
static FailureOr<unsigned> inlineInto(func::FuncOp function,
                                      llvm::SetVector<func::FuncOp> &callees) {
  WholeInliner inliner(function.getContext());
  InlinerConfig config;
  unsigned count = 0;
  SmallVector<func::CallOp> calls;
  while (!(calls = collectCalls(function)).empty())
    for (func::CallOp call : calls) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      callees.insert(callee);
      if (failed(inlineCall(inliner, config.getCloneCallback(), call, callee,
                            callee.getCallableRegion())))
        return call.emitOpError("could not be inlined");
      call.erase();
      ++count;
    }
  return count;
}

static bool takesOnChipBuffer(func::FuncOp function) {
  return llvm::any_of(function.getArgumentTypes(), isOnChip);
}

/// Removes helpers without use. A function that takes on-chip buffers has no
/// use beyond the module, whatever its visibility says.
static unsigned removeHelpers(ModuleOp module,
                              const llvm::SetVector<func::FuncOp> &inlined) {
  SmallVector<func::FuncOp> candidates;
  for (auto function : module.getOps<func::FuncOp>())
    if (takesOnChipBuffer(function) ||
        (function.isPrivate() && inlined.contains(function)))
      candidates.push_back(function);
  unsigned removed = 0;
  // One that is removed may have been the last user of another.
  for (bool changed = true; changed;) {
    changed = false;
    llvm::erase_if(candidates, [&](func::FuncOp function) {
      if (!SymbolTable::symbolKnownUseEmpty(function, module))
        return false;
      function.erase();
      ++removed;
      return changed = true;
    });
  }
  return removed;
}

llvm::SetVector<func::FuncOp> tile::findTilePrograms(ModuleOp module) {
  llvm::SetVector<func::FuncOp> programs;
  llvm::StringMap<SmallVector<func::FuncOp>> callers;
  for (auto function : module.getOps<func::FuncOp>()) {
    for (func::CallOp call : collectCalls(function))
      callers[call.getCallee()].push_back(function);
    if (function.walk([](LaunchOp) { return WalkResult::interrupt(); })
            .wasInterrupted())
      programs.insert(function);
  }
  for (size_t i = 0; i < programs.size(); ++i) {
    func::FuncOp program = programs[i];
    auto found = callers.find(program.getSymName());
    if (found != callers.end())
      programs.insert(found->second.begin(), found->second.end());
  }
  return programs;
}

FailureOr<InlineCounts> tile::inlineCalls(ModuleOp module) {
  HelperCalls graph(module);
  llvm::SetVector<func::FuncOp> programs = findTilePrograms(module);
  for (func::FuncOp program : programs)
    if (failed(graph.check(program)))
      return failure();

  InlineCounts counts;
  llvm::SetVector<func::FuncOp> callees;
  for (func::FuncOp program : programs) {
    FailureOr<unsigned> inlined = inlineInto(program, callees);
    if (failed(inlined))
      return failure();
    counts.inlined += *inlined;
    // The static types of the arguments replace what the helper left open.
    if (*inlined)
      propagateStaticTypes(program);
  }
  counts.removed = removeHelpers(module, callees);
  return counts;
}

namespace {
struct InlineCallsPass : tile::impl::InlineCallsBase<InlineCallsPass> {
  void runOnOperation() override {
    FailureOr<InlineCounts> counts = inlineCalls(getOperation());
    if (failed(counts))
      return signalPassFailure();
    numInlined += counts->inlined;
    numRemoved += counts->removed;
  }
};
} // namespace
