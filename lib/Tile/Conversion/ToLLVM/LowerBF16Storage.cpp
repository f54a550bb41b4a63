//===- LowerBF16Storage.cpp - Move bf16 around as i16 -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace tile {
#define GEN_PASS_DEF_LOWERBF16STORAGE
#include "Tile/Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;

static bool isBF16(Type type) { return getElementTypeOrSelf(type).isBF16(); }

/// Ops that move bits and do not look at them. Those that take any type of
/// operand are safe by construction; an op that is not listed may compute.
static bool onlyMoves(Operation *op) {
  return isa<
      LLVM::AddressOfOp, LLVM::AllocaOp, LLVM::BitcastOp, LLVM::BrOp,
      LLVM::CallOp, LLVM::CondBrOp, LLVM::ConstantOp, LLVM::ExtractElementOp,
      LLVM::ExtractValueOp, LLVM::FreezeOp, LLVM::GEPOp, LLVM::GlobalOp,
      LLVM::InsertElementOp, LLVM::InsertValueOp, LLVM::LLVMFuncOp,
      LLVM::LoadOp, LLVM::MaskedLoadOp, LLVM::MaskedStoreOp, LLVM::PoisonOp,
      LLVM::ReturnOp, LLVM::SelectOp, LLVM::ShuffleVectorOp, LLVM::StoreOp,
      LLVM::UndefOp, LLVM::ZeroOp, LLVM::masked_expandload, LLVM::masked_gather,
      LLVM::masked_scatter, LLVM::vector_extract, LLVM::vector_insert>(op);
}

/// An op that computes with bf16, or null.
static Operation *findArithmetic(ModuleOp module) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    bool touches = llvm::any_of(op->getOperandTypes(), isBF16) ||
                   llvm::any_of(op->getResultTypes(), isBF16);
    if (!touches || onlyMoves(op))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

namespace {
struct LowerBF16Storage : tile::impl::LowerBF16StorageBase<LowerBF16Storage> {
  void runOnOperation() override {
    if (findArithmetic(getOperation()))
      return;
    AttrTypeReplacer replacer;
    replacer.addReplacement([](BFloat16Type type) -> Type {
      return IntegerType::get(type.getContext(), 16);
    });
    // Constants keep their bits, which replacing the type alone would not.
    replacer.addReplacement([](FloatAttr value) -> std::optional<Attribute> {
      if (!value.getType().isBF16())
        return std::nullopt;
      return IntegerAttr::get(IntegerType::get(value.getContext(), 16),
                              value.getValue().bitcastToAPInt());
    });
    replacer.addReplacement(
        [](DenseElementsAttr value) -> std::optional<Attribute> {
          if (!value.getElementType().isBF16())
            return std::nullopt;
          return value.bitcast(IntegerType::get(value.getContext(), 16));
        });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }
};
} // namespace
