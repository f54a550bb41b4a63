//===- Print.cpp - Messages of one thread -----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints go through the device's printf. A line of scalars is one call, which
// the device keeps together. A line with buffers takes many calls, so the
// thread that prints holds a lock of the module meanwhile. It waits for nobody
// while it does, so whoever wants the lock gets it.
//
// An assertion that fails sets a word of the call's, which the host side
// asserts to be zero behind its launches (ConvertTileToGPU.cpp).
//
//===----------------------------------------------------------------------===//

#include "ThreadCode.h"
#include "Tile/IR/Places.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;

/// Text as a format that prints it.
static std::string escape(StringRef text) {
  std::string result;
  for (char c : text) {
    result += c;
    if (c == '%')
      result += c;
  }
  return result;
}

/// Puts a line together and prints it, in one call or several.
class ThreadCode::Printer {
public:
  Printer(ThreadCode &code, Operation *op) : code(code), b(code.b) {
    text(describePlace(op->getLoc()));
    text("block (");
    for (auto [i, id] : llvm::enumerate(code.launch.getBlockIds())) {
      text(i ? ", " : "");
      scalar(code.map.lookup(id));
    }
    text("): ");
  }

  void text(StringRef text) { format += escape(text); }

  void scalar(Value value) {
    // The device takes 32 values; leave room for what comes after.
    constexpr size_t most = 24;
    if (values.size() == most)
      flush();
    Type type = value.getType();
    if (isa<FloatType>(type)) {
      format += "%g";
      values.push_back(code.convert(value, {b.getF64Type()}));
      return;
    }
    format += "%lld";
    if (type.isIndex())
      value = arith::IndexCastOp::create(b, b.getI64Type(), value);
    else
      value = code.convert(value, {b.getI64Type()});
    values.push_back(value);
  }

  void buffer(const View &view, Values indices) {
    int64_t dim = int64_t(indices.size());
    if (dim == view.getRank())
      return scalar(code.loadElement(view, indices));
    text("[");
    flush();
    auto loop =
        scf::ForOp::create(b, code.constant(0),
                           code.materialize(view.sizes[dim]), code.constant(1));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      indices.push_back(loop.getInductionVar());
      Value isLater = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                            indices.back(), code.constant(0));
      auto test = scf::IfOp::create(b, isLater, /*withElseRegion=*/false);
      b.setInsertionPointToStart(&test.getThenRegion().front());
      text(", ");
      flush();
      b.setInsertionPointAfter(test);
      buffer(view, indices);
      flush();
    }
    text("]");
  }

  void flush() {
    if (format.empty())
      return;
    gpu::PrintfOp::create(b, b.getStringAttr(format), values);
    format.clear();
    values.clear();
  }

private:
  ThreadCode &code;
  ImplicitLocOpBuilder &b;
  std::string format;
  Values values;
};

/// The module's lock, made when it is first needed.
static Value getLock(ImplicitLocOpBuilder &b) {
  constexpr llvm::StringLiteral name = "tile_print_lock";
  Operation *module = b.getInsertionBlock()->getParentOp();
  while (!isa<gpu::GPUModuleOp>(module))
    module = module->getParentOp();
  auto lock = dyn_cast_or_null<LLVM::GlobalOp>(
      SymbolTable::lookupSymbolIn(module, name));
  if (!lock) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&module->getRegion(0).front());
    lock = LLVM::GlobalOp::create(b, b.getI32Type(), /*isConstant=*/false,
                                  LLVM::Linkage::Internal, name,
                                  b.getI32IntegerAttr(0), /*alignment=*/4,
                                  /*addrSpace=*/1);
  }
  return LLVM::AddressOfOp::create(b, lock);
}

LogicalResult ThreadCode::emitPrint(PrintOp op) {
  // In an elementwise loop each lane prints.
  Value acts = point.isActive ? point.mayStore : getActingThread(op);
  OpBuilder::InsertionGuard guard(b);
  if (acts) {
    auto condition = scf::IfOp::create(b, acts, /*withElseRegion=*/false);
    b.setInsertionPointToStart(&condition.getThenRegion().front());
  }
  constexpr size_t mostInOneCall = 20;
  bool takesSeveral =
      op.getValues().size() > mostInOneCall ||
      llvm::any_of(op.getValues().getTypes(), llvm::IsaPred<MemRefType>);
  Value lock;
  if (takesSeveral) {
    lock = getLock(b);
    auto loop = scf::WhileOp::create(b, TypeRange(), ValueRange());
    OpBuilder::InsertionGuard inner(b);
    b.createBlock(&loop.getBefore());
    Value swap = LLVM::AtomicCmpXchgOp::create(
        b, lock, i32(0), i32(1), LLVM::AtomicOrdering::acquire,
        LLVM::AtomicOrdering::acquire, "device");
    Value isTaken = LLVM::ExtractValueOp::create(b, swap, 0);
    scf::ConditionOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, isTaken, i32(0)),
        ValueRange());
    b.createBlock(&loop.getAfter());
    scf::YieldOp::create(b);
  }
  Printer line(*this, op);
  line.text(op.getMessage());
  for (auto [i, value] : llvm::enumerate(op.getValues())) {
    line.text(i ? ", " : " ");
    if (isa<MemRefType>(value.getType()))
      line.buffer(getView(value), {});
    else
      line.scalar(map.lookup(value));
  }
  line.text("\n");
  line.flush();
  if (takesSeveral)
    LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::xchg, lock, i32(0),
                              LLVM::AtomicOrdering::release, "device");
  return success();
}

void ThreadCode::report(Value when, StringRef what) {
  int64_t index = reports->add({b.getLoc(), what.str()});
  auto condition = scf::IfOp::create(b, when, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&condition.getThenRegion().front());
  Value word =
      LLVM::GEPOp::create(b, reportWords.getType(), b.getI32Type(), reportWords,
                          ArrayRef<LLVM::GEPArg>{int32_t(index)});
  // Any number of threads may find the same; nobody reads it before the end.
  LLVM::StoreOp::create(b, i32(1), word, /*alignment=*/4, /*isVolatile=*/true);
}

LogicalResult ThreadCode::emitAssert(AssertOp op) {
  Value isTrue = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  Value fails = arith::XOrIOp::create(b, map.lookup(op.getCondition()), isTrue);
  Value acts = point.isActive ? point.mayStore : getActingThread(op);
  report(allOf(acts, fails), op.getMessage());
  return success();
}
