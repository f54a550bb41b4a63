//===- ConvertTileToGPU.cpp - One thread's code for a launch ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass: what of the host a launch uses becomes the kernel's parameters, the
// body becomes the kernel (ThreadCode), the launch becomes gpu.launch_func.
//
//===----------------------------------------------------------------------===//

#include "ThreadCode.h"
#include "Tile/Conversion/GPUPasses.h"
#include "Tile/IR/EntryAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;

namespace tile {
#define GEN_PASS_DEF_CONVERTTILETOGPU
#include "Tile/Conversion/GPUPasses.h.inc"
} // namespace tile

namespace {

/// What a launch takes from its function.
struct Captures {
  /// Global buffers and scalars, each a parameter or several.
  SetVector<Value> buffers, scalars;
  /// Ops that are repeated in the kernel: constants and views, in order.
  SetVector<Operation *> repeated;
};

LogicalResult capture(LaunchOp launch, Value value, Captures &captures) {
  Operation *op = value.getDefiningOp();
  if (op && matchPattern(op, m_Constant())) {
    captures.repeated.insert(op);
    return success();
  }
  if (!isa<MemRefType>(value.getType())) {
    if (!value.getType().isIntOrIndexOrFloat())
      return launch.emitOpError("uses a value of type ")
             << value.getType()
             << " of its function, which a kernel cannot take";
    captures.scalars.insert(value);
    return success();
  }
  if (!op || isa<AllocGlobalOp>(op)) {
    captures.buffers.insert(value);
    return success();
  }
  if (!isa<memref::SubViewOp, memref::CastOp, memref::TransposeOp,
           memref::CollapseShapeOp, memref::ExpandShapeOp,
           memref::ReinterpretCastOp>(op)) {
    InFlightDiagnostic diag = launch.emitOpError(
        "uses a buffer that is neither an argument of its function, a "
        "workspace "
        "nor a view of one, which the cuda target cannot pass");
    diag.attachNote(op->getLoc()) << "the buffer is made here";
    return diag;
  }
  for (Value operand : op->getOperands())
    if (failed(capture(launch, operand, captures)))
      return failure();
  captures.repeated.insert(op);
  return success();
}

/// Largest alignment, up to 16 bytes, that follows from static strides.
View makeView(MemRefType type, int64_t promise, OpBuilder &builder) {
  View view;
  view.element = type.getElementType();
  view.sizes = getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  // Without a promise a row of packed elements may begin in the middle of a
  // byte.
  int64_t bytes = promise > 1 ? promise : view.toBytes(1);
  view.promisedAlignment = bytes;
  view.baseAlignment = std::max<int64_t>(1, bytes);
  // The promise covers the last size.
  view.endDivisors.assign(type.getRank(), 1);
  if (type.getRank())
    view.endDivisors.back() = bytes * 8 / view.getBits();
  return view;
}

class LaunchConverter {
public:
  LaunchConverter(LaunchOp launch, const Chip &chip, Reports &reports)
      : launch(launch), chip(chip), reports(reports) {}

  LogicalResult run(gpu::GPUModuleOp module, LLVM::GlobalOp sharedMemory,
                    StringRef name);
  /// What the launch has become; its last argument is still to be given where
  /// the kernel reports.
  gpu::LaunchFuncOp getLaunch() const { return launched; }
  bool mayReport();

private:
  LogicalResult checkBuffer(Value buffer);
  /// What the launch's shared buffers span.
  FailureOr<int64_t> getBufferBytes();
  /// The arguments of the launch for one buffer, in the order of its
  /// parameters.
  void passBuffer(ImplicitLocOpBuilder &b, Value buffer, Values &arguments);
  void passScalar(ImplicitLocOpBuilder &b, Value scalar, Values &arguments);
  void replaceLaunch(gpu::GPUFuncOp kernel, int64_t sharedBytes);

  LaunchOp launch;
  const Chip &chip;
  Reports &reports;
  Captures captures;
  gpu::LaunchFuncOp launched;
};

} // namespace

LogicalResult LaunchConverter::checkBuffer(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return launch.emitOpError("uses a buffer without strides: ") << type;
  return success();
}

FailureOr<int64_t> LaunchConverter::getBufferBytes() {
  int64_t bytes = 0;
  WalkResult result = launch.walk([&](AllocSharedOp alloc) -> WalkResult {
    if (!alloc.getPlace())
      return alloc.emitOpError(
          "has no place; run tile-plan-shared-memory first");
    auto type = cast<MemRefType>(alloc.getBuffer().getType());
    bytes = std::max<int64_t>(bytes, *alloc.getPlace() + getSharedBytes(type));
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  // What lies behind them holds words.
  return llvm::alignTo(bytes, 16);
}

/// True for a parameter that holds an extent or a stride of `type`.
static SmallVector<int64_t> getStrides(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  LogicalResult known = type.getStridesAndOffset(strides, offset);
  assert(succeeded(known) && "checked before");
  (void)known;
  return strides;
}

/// Whether the function lets `buffer` be in the memory of another one.
static bool mayOverlap(Value buffer, ArrayRef<Value> buffers) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  if (!argument)
    return false;
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && llvm::any_of(buffers, [&](Value other) {
           auto second = dyn_cast<BlockArgument>(other);
           return second && second != argument &&
                  mayAlias(function, argument.getArgNumber(),
                           second.getArgNumber());
         });
}

static Type getParameterType(Type type) {
  return type.isIndex() ? IntegerType::get(type.getContext(), 64) : type;
}

LogicalResult LaunchConverter::run(gpu::GPUModuleOp module,
                                   LLVM::GlobalOp sharedMemory,
                                   StringRef name) {
  if (!launch.getStaticThreads())
    return launch.emitOpError(
        "has no number of threads; run tile-infer-layouts first");
  FailureOr<int64_t> bufferBytes = getBufferBytes();
  if (failed(bufferBytes))
    return failure();
  SetVector<Value> used;
  getUsedValuesDefinedAbove(launch.getBody(), used);
  for (Value value : used)
    if (failed(capture(launch, value, captures)))
      return failure();
  for (Value buffer : captures.buffers)
    if (failed(checkBuffer(buffer)))
      return failure();

  MLIRContext *context = launch.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context, 1);
  Type i64 = IntegerType::get(context, 64);
  SmallVector<Type> parameters;
  SmallVector<unsigned> pointers;
  for (Value buffer : captures.buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    pointers.push_back(parameters.size());
    parameters.push_back(pointer);
    parameters.append(type.getNumDynamicDims(), i64);
    parameters.append(llvm::count(getStrides(type), ShapedType::kDynamic), i64);
  }
  for (Value scalar : captures.scalars)
    parameters.push_back(getParameterType(scalar.getType()));
  bool hasReports = mayReport();
  if (hasReports)
    parameters.push_back(pointer);

  ImplicitLocOpBuilder b(launch.getLoc(), context);
  b.setInsertionPointToEnd(module.getBody());
  auto kernel = gpu::GPUFuncOp::create(
      b, name, FunctionType::get(context, parameters, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  if (std::optional<uint64_t> registers = launch.getRegisters())
    kernel->setAttr(NVVM::NVVMDialect::getMaxnregAttrName(),
                    b.getI32IntegerAttr(int32_t(*registers)));
  kernel.setKnownBlockSize(
      ArrayRef<int32_t>{int32_t(*launch.getStaticThreads()), 1, 1});
  for (auto [index, buffer] : llvm::zip(pointers, captures.buffers))
    if (!mayOverlap(buffer, captures.buffers.getArrayRef()))
      kernel.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());

  Block *entry = &kernel.getBody().front();
  b.setInsertionPointToStart(entry);
  Value sharedBase = LLVM::AddressOfOp::create(b, sharedMemory);
  ThreadCode code(b, launch, chip, *bufferBytes, sharedBase);
  if (hasReports)
    code.setReports(&reports, entry->getArguments().back());
  unsigned next = 0;
  auto takeIndex = [&]() -> OpFoldResult {
    return arith::IndexCastOp::create(b, b.getIndexType(),
                                      entry->getArgument(next++))
        .getResult();
  };
  for (Value buffer : captures.buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    View view = makeView(type, launch.getAlignment().value_or(1), b);
    view.base = entry->getArgument(next++);
    for (OpFoldResult &size : view.sizes)
      if (ShapedType::isDynamic(
              cast<IntegerAttr>(cast<Attribute>(size)).getInt()))
        size = takeIndex();
    for (int64_t stride : getStrides(type))
      view.strides.push_back(ShapedType::isDynamic(stride)
                                 ? takeIndex()
                                 : OpFoldResult(b.getIndexAttr(stride)));
    code.setView(buffer, std::move(view));
  }
  for (Value scalar : captures.scalars) {
    Value value = entry->getArgument(next++);
    if (scalar.getType().isIndex())
      value = arith::IndexCastOp::create(b, b.getIndexType(), value);
    code.mapping().map(scalar, value);
  }
  for (Operation *op : captures.repeated)
    if (failed(code.emit(op)))
      return failure();
  if (failed(code.emitBody()))
    return failure();
  b.setLoc(launch.getLoc());
  gpu::ReturnOp::create(b);

  if (code.getSharedBytes() > chip.sharedBytes)
    return launch.emitOpError("needs ")
           << *bufferBytes << " bytes of shared memory for its buffers and "
           << code.getSharedBytes() - *bufferBytes
           << " for reductions, but a block of " << chip.name << " has "
           << chip.sharedBytes;
  replaceLaunch(kernel, code.getSharedBytes());
  return success();
}

void LaunchConverter::passBuffer(ImplicitLocOpBuilder &b, Value buffer,
                                 Values &arguments) {
  auto type = cast<MemRefType>(buffer.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  View whole;
  whole.element = type.getElementType();
  Value offset;
  if (whole.isPacked()) {
    // A buffer begins with a whole byte.
    Value one = arith::ConstantIndexOp::create(b, 1);
    offset = arith::ShRUIOp::create(b, metadata.getOffset(), one);
  } else {
    Value bytes = arith::ConstantIndexOp::create(b, whole.toBytes(1));
    offset = arith::MulIOp::create(b, metadata.getOffset(), bytes);
  }
  address = arith::AddIOp::create(b, address, offset);
  address = arith::IndexCastOp::create(b, b.getI64Type(), address);
  arguments.push_back(LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), 1), address));
  auto pass = [&](ArrayRef<int64_t> known, ValueRange values) {
    for (auto [constant, value] : llvm::zip(known, values))
      if (ShapedType::isDynamic(constant))
        arguments.push_back(
            arith::IndexCastOp::create(b, b.getI64Type(), value));
  };
  pass(type.getShape(), metadata.getSizes());
  pass(getStrides(type), metadata.getStrides());
}

bool LaunchConverter::mayReport() {
  return launch.getBounds() == Bounds::Trap ||
         launch.walk([](AssertOp) { return WalkResult::interrupt(); })
             .wasInterrupted();
}

void LaunchConverter::passScalar(ImplicitLocOpBuilder &b, Value scalar,
                                 Values &arguments) {
  if (scalar.getType().isIndex())
    scalar = arith::IndexCastOp::create(b, b.getI64Type(), scalar);
  arguments.push_back(scalar);
}

void LaunchConverter::replaceLaunch(gpu::GPUFuncOp kernel,
                                    int64_t sharedBytes) {
  ImplicitLocOpBuilder b(launch.getLoc(), launch);
  Values arguments;
  for (Value buffer : captures.buffers)
    passBuffer(b, buffer, arguments);
  for (Value scalar : captures.scalars)
    passScalar(b, scalar, arguments);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Values grid(launch.getGrid().begin(), launch.getGrid().end());
  grid.resize(3, one);
  Value threads = arith::ConstantIndexOp::create(b, *launch.getStaticThreads());
  Value shared = arith::ConstantIntOp::create(b, b.getI32Type(), sharedBytes);
  launched = gpu::LaunchFuncOp::create(
      b, kernel, gpu::KernelDim3{grid[0], grid[1], grid[2]},
      gpu::KernelDim3{threads, one, one}, shared, arguments);
  launch.erase();
}

namespace {
struct ConvertTileToGPUPass
    : tile::impl::ConvertTileToGPUBase<ConvertTileToGPUPass> {
  using ConvertTileToGPUBase::ConvertTileToGPUBase;

  /// Upstream's pass for debug scopes takes every op with the location of a
  /// call to stand in a function of the LLVM dialect. Beside the kernels, the
  /// place in the helper is enough.
  void simplifyHostLocations() {
    getOperation().walk<WalkOrder::PreOrder>([](Operation *op) {
      Location loc = op->getLoc();
      while (auto call = dyn_cast<CallSiteLoc>(loc))
        loc = call.getCallee();
      op->setLoc(loc);
      return isa<gpu::GPUFuncOp>(op) ? WalkResult::skip()
                                     : WalkResult::advance();
    });
  }

  void runOnOperation() override {
    std::optional<Chip> found = getChip(chip, getOperation());
    if (!found)
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (failed(convertFunction(function, *found, symbols)))
        return signalPassFailure();
    simplifyHostLocations();
  }

  LogicalResult convertFunction(func::FuncOp function, const Chip &found,
                                SymbolTable &symbols) {
    SmallVector<LaunchOp> launches;
    function.walk([&](LaunchOp launch) { launches.push_back(launch); });
    if (launches.empty())
      return success();
    getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                            UnitAttr::get(&getContext()));
    OpBuilder builder(function);
    auto module = gpu::GPUModuleOp::create(
        builder, function.getLoc(), (function.getName() + "_kernels").str());
    symbols.insert(module);
    builder.setInsertionPointToStart(module.getBody());
    // The launch says how large it is. Its alignment is what the widest swizzle
    // of a matrix load needs.
    auto sharedMemory = LLVM::GlobalOp::create(
        builder, function.getLoc(),
        LLVM::LLVMArrayType::get(builder.getI8Type(), 0), /*isConstant=*/false,
        LLVM::Linkage::External, "tile_shared", Attribute(),
        /*alignment=*/1024, /*addrSpace=*/3);
    Reports reports;
    SmallVector<gpu::LaunchFuncOp> reporting;
    for (auto [index, launch] : llvm::enumerate(launches)) {
      std::string name = function.getName().str();
      if (launches.size() > 1)
        name += "_" + std::to_string(index);
      LaunchConverter converter(launch, found, reports);
      bool mayReport = converter.mayReport();
      if (failed(converter.run(module, sharedMemory, name)))
        return failure();
      if (mayReport)
        reporting.push_back(converter.getLaunch());
      ++numKernels;
    }
    passReports(function, reports, reporting);
    return success();
  }

  /// Gives the launches that assert something a workspace of words, zero at
  /// first, and lets the host assert behind them that it still is.
  static void passReports(func::FuncOp function, const Reports &reports,
                          ArrayRef<gpu::LaunchFuncOp> launches) {
    if (launches.empty())
      return;
    Block &body = function.getBody().front();
    auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(), &body);
    int64_t count = reports.get().size();
    Value words = AllocGlobalOp::create(
        b, MemRefType::get({std::max<int64_t>(count, 1)}, b.getI32Type()),
        ValueRange());
    Value zero = arith::ConstantIntOp::create(b, b.getI32Type(), 0);
    Values indices;
    for (int64_t i = 0; i < count; ++i) {
      indices.push_back(arith::ConstantIndexOp::create(b, i));
      memref::StoreOp::create(b, zero, words, indices.back());
    }
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, words);
    address = arith::IndexCastOp::create(b, b.getI64Type(), address);
    Value pointer = LLVM::IntToPtrOp::create(
        b, LLVM::LLVMPointerType::get(b.getContext(), 1), address);
    for (gpu::LaunchFuncOp launch : launches)
      launch.getKernelOperandsMutable().append(pointer);

    b.setInsertionPoint(body.getTerminator());
    for (auto [report, index] : llvm::zip(reports.get(), indices)) {
      b.setLoc(report.first);
      Value word = memref::LoadOp::create(b, words, index);
      Value holds =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, word, zero);
      AssertOp::create(b, holds, report.second);
    }
  }
};
} // namespace
