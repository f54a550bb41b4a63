//===- ExportPlan.cpp - Host functions as launch plans ----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values are written when a step asks for them, so what nobody needs is not in
// the plan. Integers narrower than 64 bits are kept sign-extended (i1: 0 or 1).
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/EntryAttributes.h"
#include "Tile/IR/Places.h"
#include "Tile/IR/TileDialect.h"
#include "Tile/Target/CUDA/DeviceCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace {

class PlanWriter {
public:
  explicit PlanWriter(func::FuncOp function) : function(function) {}
  FailureOr<std::string> run();

private:
  using Index = FailureOr<size_t>;

  LogicalResult writeArguments();
  LogicalResult writeBlock(Block &block, SmallVectorImpl<std::string> &steps);
  LogicalResult writeLaunch(gpu::LaunchFuncOp op,
                            SmallVectorImpl<std::string> &steps);

  /// The value of that text. All are pure, but for memory of its own, so those
  /// that read alike are one: a launch computes each.
  size_t emit(const Twine &text) {
    std::string line = text.str();
    bool isPure = !StringRef(line).starts_with("workspace");
    if (auto at = emitted.find(line); isPure && at != emitted.end())
      return at->second;
    emitted[line] = count;
    values += "value " + line + "\n";
    return count++;
  }
  size_t constant(int64_t value) { return emit("const " + Twine(value)); }
  Index get(Value value);
  Index compute(Operation *op, OpResult result);
  Index computeArithmetic(Operation *op);
  /// Extent or stride of a buffer.
  Index getExtent(Value buffer, int64_t dim);
  Index getStride(Value buffer, int64_t dim);
  Index getAddress(Value buffer);
  LogicalResult findReports();
  bool isAboutReports(Operation *op);
  size_t addReport(tile::AssertOp assertion) {
    reports += "report " + tile::describePlace(assertion.getLoc()) +
               "assertion failed: " + assertion.getMessage().str() + "\n";
    return numReports++;
  }
  Index fail(Operation *op) {
    op->emitOpError(
        "cannot be part of a launch plan: between launches the cuda "
        "target takes arithmetic on extents, strides and scalars "
        "and conditions");
    return failure();
  }

  func::FuncOp function;
  std::string header, reports, values;
  size_t count = 0, numReports = 0;
  /// The workspace of which the host asserts that kernels leave it zero.
  Value reportWords;
  llvm::StringMap<size_t> emitted;
  DenseMap<Value, size_t> known, workspaces;
};

} // namespace

static std::string getTypeName(Type type) {
  if (type.isIndex())
    return "i64";
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  return text;
}

LogicalResult PlanWriter::writeArguments() {
  header = "plan " + function.getName().str() + "\n";
  for (BlockArgument argument : function.getArguments()) {
    std::string name = tile::getArgumentName(function, argument.getArgNumber());
    header += "argument " + name + " ";
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type) {
      header += "scalar:" + getTypeName(argument.getType()) + "\n";
      continue;
    }
    header += getTypeName(type.getElementType());
    for (int64_t extent : type.getShape())
      header +=
          ShapedType::isDynamic(extent) ? " ?" : " " + std::to_string(extent);
    header += "\n";
  }
  return success();
}

PlanWriter::Index PlanWriter::getExtent(Value buffer, int64_t dim) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(dim))
    return constant(type.getDimSize(dim));
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return emit("extent " + Twine(argument.getArgNumber()) + " " + Twine(dim));
  if (auto workspace = buffer.getDefiningOp<tile::AllocGlobalOp>()) {
    Index size = get(workspace.getDynamicSizes()[type.getDynamicDimIndex(dim)]);
    if (failed(size))
      return failure();
    // Sizes below zero count as zero.
    size_t zero = constant(0);
    return emit("maxsi " + Twine(*size) + " " + Twine(zero));
  }
  if (auto cast = buffer.getDefiningOp<memref::CastOp>())
    return getExtent(cast.getSource(), dim);
  if (auto view = buffer.getDefiningOp<memref::SubViewOp>()) {
    // The dimension of the source that this one keeps.
    llvm::SmallBitVector dropped = view.getDroppedDims();
    for (auto [source, size] : llvm::enumerate(view.getMixedSizes()))
      if (!dropped.test(source) && dim-- == 0)
        return get(cast<Value>(size));
  }
  return fail(buffer.getDefiningOp());
}

PlanWriter::Index PlanWriter::getStride(Value buffer, int64_t dim) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return emit("stride " + Twine(argument.getArgNumber()) + " " + Twine(dim));
  // Workspaces are dense.
  Index stride = constant(1);
  for (int64_t inner = cast<MemRefType>(buffer.getType()).getRank() - 1;
       inner > dim && succeeded(stride); --inner) {
    Index extent = getExtent(buffer, inner);
    if (failed(extent))
      return failure();
    stride = emit("muli " + Twine(*stride) + " " + Twine(*extent));
  }
  return stride;
}

PlanWriter::Index PlanWriter::getAddress(Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return emit("address " + Twine(argument.getArgNumber()));
  if (auto at = workspaces.find(buffer); at != workspaces.end())
    return at->second;
  if (buffer == reportWords)
    return workspaces[buffer] = emit("reports");
  auto type = cast<MemRefType>(buffer.getType());
  Index bits = constant(type.getElementType().isIndex()
                            ? 64
                            : std::max(4u, type.getElementTypeBitWidth()));
  if (type.getElementType().isInteger(1))
    bits = constant(8);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Index extent = getExtent(buffer, dim);
    if (failed(extent))
      return failure();
    // More than all memory stays more than that, and does not wrap around.
    size_t atLeast = emit("maxsi " + Twine(*extent) + " " + Twine(constant(0)));
    size_t divisor = emit("maxsi " + Twine(*bits) + " " + Twine(constant(1)));
    size_t most = emit("ceildivsi " + Twine(constant(int64_t(1) << 60)) + " " +
                       Twine(divisor));
    size_t factor = emit("minsi " + Twine(atLeast) + " " + Twine(most));
    bits = emit("muli " + Twine(*bits) + " " + Twine(factor));
  }
  size_t byte = constant(8);
  size_t bytes = emit("ceildivsi " + Twine(*bits) + " " + Twine(byte));
  return workspaces[buffer] = emit("workspace " + Twine(bytes));
}

/// What has an address that a plan can name.
static bool isRoot(Value buffer) {
  return isa<BlockArgument>(buffer) ||
         buffer.getDefiningOp<tile::AllocGlobalOp>();
}

PlanWriter::Index PlanWriter::get(Value value) {
  if (auto at = known.find(value); at != known.end())
    return at->second;
  Index index = failure();
  if (auto argument = dyn_cast<BlockArgument>(value))
    index = emit("scalar " + Twine(argument.getArgNumber()));
  else
    index = compute(value.getDefiningOp(), cast<OpResult>(value));
  if (succeeded(index))
    known[value] = *index;
  return index;
}

PlanWriter::Index PlanWriter::compute(Operation *op, OpResult result) {
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
    if (auto integer = dyn_cast<IntegerAttr>(constantOp.getValue()))
      return constant(integer.getType().isInteger(1)
                          ? integer.getValue().getZExtValue()
                          : integer.getValue().getSExtValue());
    auto real = cast<FloatAttr>(constantOp.getValue());
    // Narrow floats travel as bits.
    if (real.getType().getIntOrFloatBitWidth() < 32)
      return constant(real.getValue().bitcastToAPInt().getZExtValue());
    llvm::SmallString<32> text;
    APFloat wide = real.getValue();
    bool ignored;
    wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &ignored);
    char buffer[64];
    snprintf(buffer, sizeof(buffer), "%.17g", wide.convertToDouble());
    return emit(Twine("constf ") + buffer);
  }
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> at = dim.getConstantIndex();
    return at ? getExtent(dim.getSource(), *at) : fail(op);
  }
  if (auto pointer = dyn_cast<memref::ExtractAlignedPointerAsIndexOp>(op)) {
    return isRoot(pointer.getSource()) ? getAddress(pointer.getSource())
                                       : fail(op);
  }
  if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op)) {
    Value source = metadata.getSource();
    if (!isRoot(source))
      return fail(op);
    unsigned rank = metadata.getSizes().size();
    unsigned number = result.getResultNumber();
    // The address of the plan is that of the first element.
    if (number == 1)
      return constant(0);
    if (number >= 2 && number < 2 + rank)
      return getExtent(source, number - 2);
    if (number >= 2 + rank)
      return getStride(source, number - 2 - rank);
    return fail(op);
  }
  if (auto condition = dyn_cast<scf::IfOp>(op)) {
    unsigned number = result.getResultNumber();
    Index test = get(condition.getCondition());
    Index yes = get(condition.thenYield().getOperand(number));
    Index no = get(condition.elseYield().getOperand(number));
    if (failed(test) || failed(yes) || failed(no))
      return failure();
    return emit("select " + Twine(*test) + " " + Twine(*yes) + " " +
                Twine(*no));
  }
  return computeArithmetic(op);
}

PlanWriter::Index PlanWriter::computeArithmetic(Operation *op) {
  StringRef full = op->getName().getStringRef();
  bool isUnsigned = false;
  std::string name;
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    name = arith::stringifyCmpIPredicate(compare.getPredicate()).str();
    isUnsigned = name[0] == 'u';
  } else {
    name = llvm::StringSwitch<std::string>(full)
               .Case("math.sqrt", "sqrt")
               .Cases({"arith.index_cast", "arith.extsi", "arith.trunci",
                       "llvm.inttoptr", "arith.index_castui", "arith.extui",
                       "arith.extf", "arith.truncf"},
                      "copy")
               .Cases({"arith.addi", "arith.subi", "arith.muli", "arith.divsi",
                       "arith.remsi", "arith.divui", "arith.remui",
                       "arith.floordivsi", "arith.ceildivsi", "arith.ceildivui",
                       "arith.andi"},
                      full.drop_front(6).str())
               .Cases({"arith.ori", "arith.xori", "arith.shli", "arith.shrui",
                       "arith.shrsi", "arith.minsi", "arith.maxsi",
                       "arith.minui", "arith.maxui", "arith.select"},
                      full.starts_with("arith") ? full.drop_front(6).str() : "")
               .Cases({"arith.addf", "arith.subf", "arith.mulf", "arith.divf",
                       "arith.sitofp", "arith.uitofp"},
                      full.starts_with("arith") ? full.drop_front(6).str() : "")
               .Default("");
    isUnsigned = StringRef(name).ends_with("ui") || full == "arith.extui" ||
                 full == "arith.index_castui" || full == "arith.uitofp";
  }
  if (name.empty() || op->getNumResults() != 1)
    return fail(op);
  auto widthOf = [](Type type) -> unsigned {
    return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
  };
  Type resultType = op->getResult(0).getType();
  if (isa<FloatType>(resultType) && widthOf(resultType) < 32)
    return fail(op);
  std::string operands;
  for (Value operand : op->getOperands()) {
    Index index = get(operand);
    if (failed(index))
      return failure();
    Type type = operand.getType();
    if (isUnsigned && type.isInteger() && widthOf(type) > 1 &&
        widthOf(type) < 64) {
      size_t width = constant(widthOf(type));
      index = emit("zext " + Twine(*index) + " " + Twine(width));
    }
    if (isa<FloatType>(type) && widthOf(type) < 32)
      return fail(op);
    if (name == "copy" && !resultType.isInteger(1) &&
        !(resultType.isF32() && type.isF64())) {
      // Widening changes nothing of the number.
      if (widthOf(resultType) >= widthOf(type))
        return index;
    }
    operands += " " + std::to_string(*index);
  }
  size_t index;
  if (name == "copy") {
    size_t zero = isa<FloatType>(resultType) ? 0 : constant(0);
    StringRef source = StringRef(operands).trim();
    index = isa<FloatType>(resultType)
                ? emit("roundf32 " + source)
                : emit("addi " + source + " " + Twine(zero));
  } else {
    index = emit(name + operands);
  }
  if (resultType.isF32() && name != "copy")
    return emit("roundf32 " + Twine(index));
  if (resultType.isInteger() && widthOf(resultType) < 64) {
    size_t width = constant(widthOf(resultType));
    return emit(Twine(resultType.isInteger(1) ? "zext " : "sext ") +
                Twine(index) + " " + Twine(width));
  }
  return index;
}

/// The word of a workspace that an assertion on the host wants to be zero.
static memref::LoadOp getAssertedWord(tile::AssertOp assertion) {
  auto compare = assertion.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      !matchPattern(compare.getRhs(), m_Zero()))
    return nullptr;
  auto load = compare.getLhs().getDefiningOp<memref::LoadOp>();
  return load && load.getMemRef().getDefiningOp<tile::AllocGlobalOp>()
             ? load
             : nullptr;
}

/// What kernels have to report comes first, each with the number of its word.
LogicalResult PlanWriter::findReports() {
  for (auto assertion : function.getOps<tile::AssertOp>()) {
    memref::LoadOp word = getAssertedWord(assertion);
    if (!word)
      continue;
    std::optional<int64_t> index;
    if (word.getIndices().size() == 1)
      index = getConstantIntValue(word.getIndices().front());
    bool isFirst = !reportWords || reportWords == word.getMemRef();
    if (!isFirst || index != int64_t(numReports))
      return fail(assertion);
    reportWords = word.getMemRef();
    addReport(assertion);
  }
  if (!reportWords)
    return success();
  // The runtime keeps a word for each report and no more.
  auto type = cast<MemRefType>(reportWords.getType());
  if (type.getElementType().isInteger(32) && type.hasStaticShape() &&
      type.getNumElements() == int64_t(numReports))
    return success();
  return fail(reportWords.getDefiningOp());
}

/// The words are zero at first, and whoever runs the plan reads them.
bool PlanWriter::isAboutReports(Operation *op) {
  if (!reportWords)
    return false;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return load.getMemRef() == reportWords;
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return store.getMemRef() == reportWords &&
           matchPattern(store.getValueToStore(), m_Zero());
  auto assertion = dyn_cast<tile::AssertOp>(op);
  return assertion && assertion->getParentOp() == function &&
         getAssertedWord(assertion);
}

LogicalResult PlanWriter::writeLaunch(gpu::LaunchFuncOp op,
                                      SmallVectorImpl<std::string> &steps) {
  std::string step = "launch " + op.getKernelName().str();
  auto add = [&](Value value) -> LogicalResult {
    Index index = get(value);
    if (failed(index))
      return failure();
    step += " " + std::to_string(*index);
    return success();
  };
  Value sizes[] = {op.getGridSizeX(),
                   op.getGridSizeY(),
                   op.getGridSizeZ(),
                   op.getBlockSizeX(),
                   op.getBlockSizeY(),
                   op.getBlockSizeZ(),
                   op.getDynamicSharedMemorySize()};
  for (Value value : sizes)
    if (failed(add(value)))
      return failure();
  for (Value operand : op.getKernelOperands()) {
    Index index = get(operand);
    if (failed(index))
      return failure();
    Type type = operand.getType();
    unsigned bytes = type.isIntOrFloat()
                         ? std::max(1u, type.getIntOrFloatBitWidth() / 8)
                         : 8;
    step += (isa<FloatType>(type) ? " f" : " i") + std::to_string(bytes) + ":" +
            std::to_string(*index);
  }
  steps.push_back(step);
  return success();
}

LogicalResult PlanWriter::writeBlock(Block &block,
                                     SmallVectorImpl<std::string> &steps) {
  for (Operation &op : block) {
    if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
      if (failed(writeLaunch(launch, steps)))
        return failure();
    } else if (auto condition = dyn_cast<scf::IfOp>(op)) {
      SmallVector<std::string> yes, no;
      if (failed(writeBlock(condition.getThenRegion().front(), yes)))
        return failure();
      if (!condition.getElseRegion().empty() &&
          failed(writeBlock(condition.getElseRegion().front(), no)))
        return failure();
      if (yes.empty() && no.empty())
        continue;
      Index test = get(condition.getCondition());
      if (failed(test))
        return failure();
      steps.push_back("if " + std::to_string(*test) + " " +
                      std::to_string(yes.size()) + " " +
                      std::to_string(no.size()));
      llvm::append_range(steps, yes);
      llvm::append_range(steps, no);
    } else if (isAboutReports(&op)) {
      continue;
    } else if (auto assertion = dyn_cast<tile::AssertOp>(op)) {
      Index condition = get(assertion.getCondition());
      if (failed(condition))
        return failure();
      steps.push_back("check " + std::to_string(*condition) + " " +
                      std::to_string(addReport(assertion)));
    } else if (!isMemoryEffectFree(&op) &&
               !op.hasTrait<OpTrait::IsTerminator>() &&
               !isa<memref::ExtractStridedMetadataOp, memref::DimOp,
                    tile::AllocGlobalOp>(op)) {
      return fail(&op);
    }
  }
  return success();
}

FailureOr<std::string> PlanWriter::run() {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("has branches, which a launch plan cannot say; "
                                "use structured control flow");
  if (function.getNumResults())
    return function.emitOpError(
        "returns values, which the cuda target cannot; write to an argument");
  SmallVector<std::string> steps;
  if (failed(findReports()) || failed(writeArguments()) ||
      failed(writeBlock(function.getBody().front(), steps)))
    return failure();
  std::string text = header + reports + values;
  for (const std::string &step : steps)
    text += step + "\n";
  return text;
}

FailureOr<std::string> tile::cuda::exportPlan(func::FuncOp function) {
  return PlanWriter(function).run();
}
