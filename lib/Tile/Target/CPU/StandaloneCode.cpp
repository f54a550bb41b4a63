//===- StandaloneCode.cpp - Code that needs no compiler around it ---------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The call a thread is in is a slot on the stack of its C entry, found by a
// thread-local pointer. Workers get the slot's address from the code and put
// the first message there.
//
//===----------------------------------------------------------------------===//

#include "StandaloneCode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace tile::cpu;

static GlobalVariable *getCurrentCall(Module &module) {
  constexpr StringLiteral name = "__tile_cpu_current_call";
  if (GlobalVariable *existing = module.getNamedGlobal(name))
    return existing;
  auto *type = PointerType::getUnqual(module.getContext());
  return new GlobalVariable(
      module, type, /*isConstant=*/false, GlobalValue::InternalLinkage,
      ConstantPointerNull::get(type), name,
      /*InsertBefore=*/nullptr, GlobalValue::GeneralDynamicTLSModel);
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

namespace {
/// Puts the body of one entry together, test by test.
class EntryBuilder {
public:
  EntryBuilder(Module &module, const CFunction &function)
      : module(module), builder(module.getContext()), function(function),
        word(builder.getInt64Ty()) {}

  Error build();

private:
  void require(Value *condition, const Twine &message);
  Value *makeDescriptor(const CArgument &argument, Value *buffer);
  Value *number(int64_t value) { return builder.getInt64(value); }
  Value *load(Value *address, int64_t index) {
    return builder.CreateLoad(word,
                              builder.CreateConstGEP1_64(word, address, index));
  }
  void store(Value *value, Value *address, int64_t index) {
    builder.CreateStore(value,
                        builder.CreateConstGEP1_64(word, address, index));
  }

  Module &module;
  IRBuilder<> builder;
  const CFunction &function;
  Type *word;
  Function *entry = nullptr;
};
} // namespace

/// Returns `message` where `condition` does not hold.
void EntryBuilder::require(Value *condition, const Twine &message) {
  LLVMContext &context = module.getContext();
  auto *fails = BasicBlock::Create(context, "fails", entry);
  auto *holds = BasicBlock::Create(context, "holds", entry);
  builder.CreateCondBr(condition, holds, fails);
  builder.SetInsertPoint(fails);
  builder.CreateRet(
      builder.CreateGlobalString((function.name + ": " + message).str()));
  builder.SetInsertPoint(holds);
}

/// The descriptor that MLIR's wrapper takes: two pointers, an offset, extents
/// and strides, each a word.
Value *EntryBuilder::makeDescriptor(const CArgument &argument, Value *buffer) {
  auto rank = static_cast<int64_t>(argument.shape.size());
  Value *descriptor = builder.CreateAlloca(word, number(3 + 2 * rank));
  std::string where = "argument '" + argument.name + "'";
  require(builder.CreateIsNotNull(buffer), where + ": got a null pointer");

  int64_t offset = argument.offset == CArgument::open ? 0 : argument.offset;
  Value *start = builder.CreateSub(load(buffer, 0),
                                   number(offset * argument.elementBits / 8));
  store(start, descriptor, 0);
  store(start, descriptor, 1);
  store(number(offset), descriptor, 2);
  // An empty buffer has no elements to step to.
  Value *isEmpty = builder.getFalse();
  for (int64_t i = 0; i < rank; ++i)
    isEmpty = builder.CreateOr(
        isEmpty, builder.CreateICmpEQ(load(buffer, 1 + i), number(0)));
  Value *dense = number(1);
  for (int64_t i = rank; i-- > 0;) {
    std::string dimension = " in dimension " + std::to_string(i);
    Value *extent = load(buffer, 1 + i), *stride = load(buffer, 1 + rank + i);
    int64_t wanted = argument.shape[i];
    if (wanted >= 0)
      require(builder.CreateICmpEQ(extent, number(wanted)),
              where + ": expects extent " + Twine(wanted) + dimension);
    else
      require(builder.CreateICmpSGE(extent, number(0)),
              where + ": expects an extent of zero or more" + dimension);
    // Strides matter only where there is a second element to step to.
    Value *fixed = nullptr;
    if (!argument.strides)
      fixed = dense;
    else if ((*argument.strides)[i] != CArgument::open)
      fixed = number((*argument.strides)[i]);
    if (fixed) {
      Value *fits = builder.CreateOr(builder.CreateICmpEQ(stride, fixed),
                                     builder.CreateICmpSLE(extent, number(1)));
      require(fits, argument.strides
                        ? where + ": expects stride " +
                              Twine((*argument.strides)[i]) + dimension
                        : where +
                              ": expects a dense buffer, got another "
                              "stride" +
                              dimension);
      stride = fixed;
    }
    store(extent, descriptor, 3 + i);
    store(stride, descriptor, 3 + rank + i);
    dense = builder.CreateMul(dense, extent);
  }
  return descriptor;
}

Error EntryBuilder::build() {
  Function *wrapper = module.getFunction("_mlir_ciface_" + function.name);
  if (!wrapper || wrapper->isDeclaration())
    return createStringError("'" + function.name +
                             "' has no C wrapper (llvm.emit_c_interface)");
  if (!wrapper->getReturnType()->isVoidTy())
    return createStringError("'" + function.name + "' returns a value");

  SmallVector<Type *> types;
  for (auto [argument, target] :
       llvm::zip_equal(function.arguments, wrapper->args())) {
    Type *type = target.getType();
    // What C has no type for comes as the integer of its bits.
    if (type->isHalfTy() || type->isBFloatTy())
      type = builder.getInt16Ty();
    else if (type->isIntegerTy() && type->getIntegerBitWidth() < 8)
      type = builder.getInt8Ty();
    types.push_back(type);
  }
  // The name may be taken by what MLIR made of the function itself.
  if (Function *inner = module.getFunction(function.name))
    inner->setName("_tile_body_" + function.name);
  entry = Function::Create(
      FunctionType::get(builder.getPtrTy(), types, /*isVarArg=*/false),
      Function::ExternalLinkage, function.name, module);
  builder.SetInsertPoint(
      BasicBlock::Create(module.getContext(), "entry", entry));
  SmallVector<Value *> arguments;
  for (auto [argument, given, target] : llvm::zip_equal(
           function.arguments, llvm::make_pointer_range(entry->args()),
           wrapper->args())) {
    if (!argument.isScalar)
      arguments.push_back(makeDescriptor(argument, given));
    else if (target.getType()->isIntegerTy(1))
      arguments.push_back(builder.CreateIsNotNull(given));
    else if (target.getType()->isIntegerTy())
      arguments.push_back(builder.CreateTrunc(given, target.getType()));
    else
      arguments.push_back(builder.CreateBitCast(given, target.getType()));
  }

  Value *current = builder.CreateThreadLocalAddress(getCurrentCall(module));
  Value *slot = builder.CreateAlloca(builder.getPtrTy());
  builder.CreateStore(ConstantPointerNull::get(builder.getPtrTy()), slot);
  Value *outer = builder.CreateLoad(builder.getPtrTy(), current);
  builder.CreateStore(slot, current);
  builder.CreateCall(wrapper, arguments);
  builder.CreateStore(outer, current);
  builder.CreateRet(builder.CreateLoad(builder.getPtrTy(), slot));
  return Error::success();
}

Error tile::cpu::addCForm(Module &module, const CFunction &function) {
  return EntryBuilder(module, function).build();
}

//===----------------------------------------------------------------------===//
// Runtime
//===----------------------------------------------------------------------===//

/// Gives the declaration of `name` a body, if there is one.
static void define(Module &module, StringRef name,
                   function_ref<void(IRBuilder<> &, Function *)> body) {
  Function *function = module.getFunction(name);
  if (!function)
    return;
  function->setLinkage(GlobalValue::InternalLinkage);
  IRBuilder<> builder(
      BasicBlock::Create(module.getContext(), "entry", function));
  body(builder, function);
  if (!builder.GetInsertBlock()->getTerminator())
    builder.CreateRetVoid();
}

void tile::cpu::addRuntime(Module &module) {
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::getUnqual(context);
  Type *integer = Type::getInt32Ty(context);
  auto getStream = [&](IRBuilder<> &builder) -> Value * {
    return builder.CreateLoad(pointer,
                              module.getOrInsertGlobal("stdout", pointer));
  };
  /// Calls a function of the C library that has the stream among its arguments.
  auto call = [&](IRBuilder<> &builder, StringRef name,
                  ArrayRef<Value *> arguments, bool isVarArg = false) {
    SmallVector<Type *> types;
    for (Value *argument : isVarArg ? arguments.take_front(2) : arguments)
      types.push_back(argument->getType());
    builder.CreateCall(module.getOrInsertFunction(
                           name, FunctionType::get(integer, types, isVarArg)),
                       arguments);
  };

  define(module, "__tile_cpu_call", [&](IRBuilder<> &builder, Function *) {
    builder.CreateRet(builder.CreateLoad(
        pointer, builder.CreateThreadLocalAddress(getCurrentCall(module))));
  });
  define(module, "__tile_cpu_report",
         [&](IRBuilder<> &builder, Function *function) {
           builder.CreateAtomicCmpXchg(
               function->getArg(0), Constant::getNullValue(pointer),
               function->getArg(1), MaybeAlign(),
               AtomicOrdering::AcquireRelease, AtomicOrdering::Monotonic);
         });
  // A line is one thread's while it is put together.
  define(module, "__tile_cpu_print_begin",
         [&](IRBuilder<> &builder, Function *) {
           call(builder, "flockfile", getStream(builder));
         });
  define(module, "__tile_cpu_print_text",
         [&](IRBuilder<> &builder, Function *function) {
           call(builder, "fputs", {function->getArg(0), getStream(builder)});
         });
  auto printNumber = [&](StringRef name, StringRef format) {
    define(module, name, [&](IRBuilder<> &builder, Function *function) {
      call(builder, "fprintf",
           {getStream(builder), builder.CreateGlobalString(format),
            function->getArg(0)},
           /*isVarArg=*/true);
    });
  };
  printNumber("__tile_cpu_print_integer", "%lld");
  printNumber("__tile_cpu_print_float", "%g");
  define(module, "__tile_cpu_print_end", [&](IRBuilder<> &builder, Function *) {
    call(builder, "fputs",
         {builder.CreateGlobalString("\n"), getStream(builder)});
    call(builder, "funlockfile", getStream(builder));
  });
  define(module, "__tile_cpu_print_flush",
         [&](IRBuilder<> &builder, Function *) {
           call(builder, "fflush", getStream(builder));
         });
}
