//===- Debug.cpp - Reports and prints on the CPU ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both become calls of functions that whoever runs the code provides: the
// reports of __tile_cpu_report, and a line of output put together piece by
// piece, with the number of its block so that lines can be put in order.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Tile/IR/Places.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

static func::CallOp buildCall(OpBuilder &b, Location loc, Operation *op,
                              StringRef function, TypeRange results,
                              ValueRange arguments) {
  auto module = op->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(function)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto declaration = func::FuncOp::create(
        b, loc, function, b.getFunctionType(arguments.getTypes(), results));
    declaration.setPrivate();
  }
  return func::CallOp::create(b, loc, function, results, arguments);
}

void cpu::callRuntime(OpBuilder &b, Location loc, Operation *op,
                      StringRef function, ValueRange arguments) {
  buildCall(b, loc, op, function, TypeRange(), arguments);
}

Value cpu::askRuntime(OpBuilder &b, Location loc, Operation *op,
                      StringRef function, Type result) {
  return buildCall(b, loc, op, function, result, ValueRange()).getResult(0);
}

/// The call on whose behalf the function of `op` runs. Asked for where the
/// function begins, on the caller's thread: workers have no other way to tell
/// one call from another.
static Value getCall(OpBuilder &b, Operation *op) {
  constexpr StringLiteral name = "__tile_cpu_call";
  auto function = op->getParentOfType<FunctionOpInterface>();
  Block &entry = function.getFunctionBody().front();
  for (auto call : entry.getOps<func::CallOp>())
    if (call.getCallee() == name)
      return call.getResult(0);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&entry);
  return buildCall(b, function.getLoc(), op, name,
                   LLVM::LLVMPointerType::get(b.getContext()), ValueRange())
      .getResult(0);
}

Value cpu::constantText(OpBuilder &b, Location loc, Operation *op,
                        StringRef text) {
  auto module = op->getParentOfType<ModuleOp>();
  std::string terminated = text.str();
  terminated.push_back('\0');
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    unsigned number = 0;
    std::string name;
    do
      name = ("__tile_message_" + Twine(number++)).str();
    while (module.lookupSymbol(name));
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), terminated.size());
    global = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name,
                                    b.getStringAttr(terminated));
  }
  return LLVM::AddressOfOp::create(b, loc, global);
}

std::string cpu::describePlace(Operation *op) {
  return tile::describePlace(op->getLoc());
}

void cpu::buildReport(OpBuilder &b, Location loc, Operation *op,
                      StringRef what) {
  std::string message = describePlace(op) + what.str();
  callRuntime(b, loc, op, "__tile_cpu_report",
              {getCall(b, op), constantText(b, loc, op, message)});
}

void cpu::buildPrintFlush(OpBuilder &b, Location loc, Operation *op) {
  callRuntime(b, loc, op, "__tile_cpu_print_flush", {});
}

LogicalResult cpu::lowerAssert(RewriterBase &rewriter, AssertOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value fails =
      arith::XOrIOp::create(rewriter, loc, op.getCondition(),
                            arith::ConstantIntOp::create(rewriter, loc, 1, 1));
  auto test = scf::IfOp::create(rewriter, loc, fails, /*withElseRegion=*/false);
  rewriter.setInsertionPointToStart(test.thenBlock());
  buildReport(rewriter, loc, op,
              ("assertion failed: " + op.getMessage()).str());
  rewriter.eraseOp(op);
  return success();
}

namespace {
/// Emits the calls that put one line together.
class LinePrinter {
public:
  LinePrinter(OpBuilder &b, PrintOp op) : b(b), op(op), loc(op.getLoc()) {}

  void call(StringRef function, ValueRange arguments) {
    callRuntime(b, loc, op, function, arguments);
  }
  void text(StringRef text) {
    call("__tile_cpu_print_text", constantText(b, loc, op, text));
  }
  void integer(Value value) { call("__tile_cpu_print_integer", value); }

  void scalar(Value value) {
    if (isa<FloatType>(value.getType()))
      return call("__tile_cpu_print_float",
                  convertElement(b, loc, value, b.getF64Type()));
    if (isa<IndexType>(value.getType()))
      return integer(arith::IndexCastOp::create(b, loc, b.getI64Type(), value));
    integer(convertElement(b, loc, value, b.getI64Type()));
  }

  /// The elements at `indices`, which fix the leading dimensions.
  void buffer(Value buffer, SmallVector<Value> indices) {
    auto type = cast<MemRefType>(buffer.getType());
    auto dim = static_cast<int64_t>(indices.size());
    if (dim == type.getRank())
      return scalar(memref::LoadOp::create(b, loc, buffer, indices));
    text("[");
    Value zero = constantIndex(b, loc, 0);
    auto loop = scf::ForOp::create(
        b, loc, zero, b.createOrFold<memref::DimOp>(loc, buffer, dim),
        constantIndex(b, loc, 1));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      indices.push_back(loop.getInductionVar());
      Value isLater = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                            indices.back(), zero);
      auto test = scf::IfOp::create(b, loc, isLater, /*withElseRegion=*/false);
      b.setInsertionPointToStart(test.thenBlock());
      text(", ");
      b.setInsertionPointAfter(test);
      this->buffer(buffer, indices);
    }
    text("]");
  }

private:
  OpBuilder &b;
  PrintOp op;
  Location loc;
};
} // namespace

LogicalResult cpu::lowerPrint(RewriterBase &rewriter, LaunchOp launch,
                              PrintOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  LinePrinter line(rewriter, op);

  Value number = constantIndex(rewriter, loc, 0);
  if (launch) {
    Value scale = constantIndex(rewriter, loc, 1);
    for (auto [id, extent] :
         llvm::zip(launch.getBlockIds(), launch.getGrid())) {
      Value scaled = rewriter.createOrFold<arith::MulIOp>(loc, id, scale);
      number = addIndex(rewriter, loc, number, scaled);
      scale = rewriter.createOrFold<arith::MulIOp>(loc, scale, extent);
    }
  }
  line.call(
      "__tile_cpu_print_begin",
      arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), number)
          .getResult());
  line.text(describePlace(op));
  if (launch) {
    line.text("block (");
    for (auto [i, id] : llvm::enumerate(launch.getBlockIds())) {
      if (i)
        line.text(", ");
      line.scalar(id);
    }
    line.text("): ");
  }
  line.text(op.getMessage());
  for (auto [i, value] : llvm::enumerate(op.getValues())) {
    line.text(i ? ", " : " ");
    if (isa<MemRefType>(value.getType()))
      line.buffer(value, {});
    else
      line.scalar(value);
  }
  line.call("__tile_cpu_print_end", {});
  if (!launch)
    buildPrintFlush(rewriter, loc, op);
  rewriter.eraseOp(op);
  return success();
}
