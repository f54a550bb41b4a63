//===- EntrySpecs.cpp - Rules of specifications in attributes ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntrySpecs.h"
#include "Tile/IR/EntryAttributes.h"
#include "Tile/Runtime/ArgSpec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;

/// The names of all arguments, or nothing where some have only the name that
/// the source gives them, which the IR does not keep.
static std::optional<SmallVector<StringRef>>
getAllNames(FunctionOpInterface function) {
  SmallVector<StringRef> names;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto name = function.getArgAttrOfType<StringAttr>(i, kArgumentName);
    if (!name)
      return std::nullopt;
    names.push_back(name);
  }
  return names;
}

/// Fails where one of `used` is no argument.
static LogicalResult verifyNames(FunctionOpInterface function,
                                 const Twine &what,
                                 ArrayRef<std::string> used) {
  std::optional<SmallVector<StringRef>> names = getAllNames(function);
  if (!names)
    return success();
  // entry-c14
  for (const std::string &name : used)
    if (!llvm::is_contained(*names, name))
      return function.emitOpError("expects ")
             << what << " to refer to arguments, which are "
             << llvm::join(*names, ", ") << "; got '" << name << "'";
  return success();
}

/// True once the function's arguments are no longer those that the text is
/// about: lowered functions keep the attributes and change the types.
static bool isLowered(FunctionOpInterface function) {
  return !isa<func::FuncOp>(function);
}

LogicalResult tile::verifyCost(FunctionOpInterface function, StringRef name,
                               StringAttr text) {
  if (isLowered(function))
    return success();
  auto expression = runtime::Expr::parse(std::string_view(text.getValue()));
  if (!expression)
    return function.emitOpError("expects '")
           << name << "' to be an expression over the arguments: "
           << expression.message();
  return verifyNames(function, "'" + name + "'", expression->getNames());
}

/// Fails where the array that `spec` makes cannot be of `type`.
static LogicalResult verifyArray(FunctionOpInterface function,
                                 const Twine &what,
                                 const runtime::ArraySpec &spec,
                                 MemRefType type) {
  // entry-c13
  Type element = type.getElementType();
  std::string wanted;
  llvm::raw_string_ostream(wanted) << element;
  if (element.isIndex())
    wanted = "i64";
  if (StringRef got = runtime::getName(spec.type); got != wanted)
    return function.emitOpError("expects ")
           << what << " to have elements of type " << wanted << ", got " << got;
  if (static_cast<int64_t>(spec.shape.size()) != type.getRank())
    return function.emitOpError("expects ")
           << what << " to have rank " << type.getRank() << ", got "
           << spec.shape.size();
  for (auto [dim, extent] : llvm::enumerate(spec.shape)) {
    std::optional<runtime::Number> value = extent.getConstant();
    const int64_t *constant = value ? std::get_if<int64_t>(&*value) : nullptr;
    if (constant && !type.isDynamicDim(dim) &&
        *constant != type.getDimSize(dim))
      return function.emitOpError("expects ")
             << what << " to have extent " << type.getDimSize(dim)
             << " in dimension " << dim << ", got " << *constant;
  }
  return success();
}

LogicalResult tile::verifyDefault(FunctionOpInterface function, unsigned index,
                                  StringAttr text) {
  if (isLowered(function))
    return success();
  std::string what = "'tile.default' of argument #" + std::to_string(index);
  auto spec = runtime::parseArgSpec(text.getValue());
  if (!spec)
    return function.emitOpError("expects ")
           << what << " to be a specification: " << spec.message();
  auto memref = dyn_cast<MemRefType>(function.getArgumentTypes()[index]);
  bool isScalar = std::holds_alternative<runtime::ScalarSpec>(*spec);
  // entry-c13
  if (isScalar == static_cast<bool>(memref))
    return function.emitOpError("expects ")
           << what << " to be "
           << (memref ? "an array, as in \"randn:64x32xf16\""
                      : "a scalar, as in \"3\"")
           << ", got " << text;
  if (const auto *array = std::get_if<runtime::ArraySpec>(&*spec))
    if (failed(verifyArray(function, what, *array, memref)))
      return failure();
  return verifyNames(function, what, runtime::getNames(*spec));
}
