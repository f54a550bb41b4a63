//===- Lowering.h - From a PTX function to LLVM IR -------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One FunctionLowering turns one PTX function into one LLVM function. PTX
// registers become stack slots of integers of their width (LLVM's SROA makes
// values of them), arithmetic becomes straight-line IR, and everything that
// concerns other threads or checked memory becomes a call of the runtime with
// a Site. A handler consumes the modifiers it understands; what is left over
// is reported as not modelled, so nothing is ever silently ignored.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_LOWERING_H
#define TILE_LIB_EMULATOR_LOWERING_H

#include "KernelImage.h"
#include "Program.h"
#include "Site.h"
#include "Tile/Emulator/Diagnostic.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace tile::emulator {

/// One instruction on its way through a handler: which modifiers were
/// understood so far.
class Inst {
public:
  explicit Inst(const ptx::Instruction &instruction)
      : instruction(instruction) {}

  const ptx::Instruction &operator*() const { return instruction; }
  const ptx::Instruction *operator->() const { return &instruction; }
  const ptx::Operand &operand(unsigned i) const {
    return instruction.operands[i];
  }
  unsigned count() const {
    return static_cast<unsigned>(instruction.operands.size());
  }

  bool take(llvm::StringRef modifier);
  /// Takes the first of `words` that is present; -1 where none is.
  int takeOneOf(std::initializer_list<llvm::StringRef> words);
  /// The next modifier not yet taken that names a type.
  std::optional<ptx::Type> takeType();
  void takeAll() { taken = ~uint64_t(0); }
  /// First modifier nobody took, or empty.
  llvm::StringRef leftOver() const;
  /// First untaken modifier with this prefix, taken.
  std::optional<llvm::StringRef> takePrefix(llvm::StringRef prefix);

private:
  const ptx::Instruction &instruction;
  uint64_t taken = 0;
};

class FunctionLowering {
public:
  FunctionLowering(KernelImage &image, llvm::Module &module,
                   const ptx::Program &program, int function,
                   Diagnostics &diagnostics);
  bool run();

private:
  using Value = llvm::Value;
  using Handler = void (FunctionLowering::*)(Inst &);

  // Structure (Lowering.cpp).
  static Handler findHandler(llvm::StringRef opcode);
  void lowerInstruction(int index);
  void createRegisters();
  void createBlocks();
  void callForBackEdges(int position);

  // Operands (LoweringOperands.cpp).
  Value *read(Inst &I, const ptx::Operand &operand, unsigned bits);
  Value *read(Inst &I, unsigned operand, unsigned bits) {
    return expect(I, operand) ? read(I, I.operand(operand), bits)
                              : poison(bits);
  }
  Value *readTyped(Inst &I, unsigned operand, ptx::Type type);
  Value *readTyped(Inst &I, const ptx::Operand &operand, ptx::Type type);
  Value *readPredicate(Inst &I, unsigned operand);
  void checkInFlight(Inst &I, int reg, bool isWrite);
  Value *readSpecial(const ptx::Operand &operand, unsigned bits);
  Value *symbolAddress(Inst &I, int symbol, int64_t offset);
  Value *address(Inst &I, unsigned operand, ptx::Space space);
  Value *addressOf(Inst &I, const ptx::Operand &operand, ptx::Space space);
  void write(Inst &I, const ptx::Operand &operand, Value *value);
  void write(Inst &I, unsigned operand, Value *value) {
    if (expect(I, operand))
      write(I, I.operand(operand), value);
  }
  bool expect(Inst &I, unsigned operand);
  bool expectCount(Inst &I, unsigned least, unsigned most);
  Value *constant(uint64_t value, unsigned bits);
  Value *poison(unsigned bits) { return constant(0, bits); }
  Value *registerSlot(int reg);
  std::vector<const ptx::Operand *> elementsOf(const ptx::Operand &operand);

  // Registers without a value (LoweringAbsence.cpp).
  Value *absentBits(const Inst &I, const ptx::Operand &operand, unsigned bits);
  void checkPresent(Inst &I, const ptx::Operand &operand, unsigned bits,
                    Value *isRead = nullptr);
  llvm::SmallVector<Value *, 4> findAbsentResults(Inst &I);
  void storeAbsentResults(Inst &I, llvm::ArrayRef<Value *> absent);
  Value *valueBits(Inst &I, const ptx::Operand &operand, unsigned bits);
  Value *absentLogic(Inst &I, unsigned bits);
  Value *absentShift(Inst &I, unsigned bits);
  Value *absentBytes(Inst &I);
  std::vector<const ptx::Operand *> destinationsOf(const Inst &I);

  // Pieces of IR (LoweringOperands.cpp).
  llvm::Type *intType(unsigned bits);
  Value *callRuntime(llvm::StringRef name, llvm::Type *result,
                     llvm::ArrayRef<Value *> arguments);
  Value *sitePointer(const Site *site);
  Value *threadField(unsigned offset, unsigned bits);
  Value *scratch(unsigned bytes);
  Value *scratchSlot(Value *base, unsigned index);
  void fillSite(Site &site, const Inst &I);
  void fail(const Inst &I, const llvm::Twine &message);
  void collective(Inst &I, CollectiveSite *site,
                  llvm::ArrayRef<Value *> arguments,
                  llvm::SmallVectorImpl<Value *> &results);
  std::optional<ptx::Type> requireType(Inst &I);

  // Floats (LoweringFloat.cpp).
  struct FloatMode {
    int rounding = 0; // 0 rn, 1 rz, 2 rm, 3 rp
    bool ftz = false, sat = false, relu = false, noFtzResult = false;
  };
  FloatMode takeFloatMode(Inst &I);
  Value *toCompute(Value *bits, ptx::Type lane);
  Value *fromCompute(Value *value, ptx::Type lane);
  Value *flush(Value *bits);
  Value *finishFloat(Value *value, ptx::Type lane, const FloatMode &mode);
  Value *floatOperand(Value *bits, ptx::Type lane, const FloatMode &mode);
  Value *mapLanes(ptx::Type type, llvm::ArrayRef<Value *> operands,
                  llvm::function_ref<Value *(llvm::ArrayRef<Value *>)> body);
  void lowerFloatBinary(Inst &I, ptx::Type type, llvm::StringRef op);
  void lowerFloatFma(Inst &I, ptx::Type type);
  void lowerFloatMinMax(Inst &I, ptx::Type type, bool isMax);
  void lowerFloatUnary(Inst &I, ptx::Type type, llvm::StringRef op);
  Value *compare(Inst &I, int comparison, ptx::Type type, Value *a, Value *b,
                 bool ftz);
  int takeComparison(Inst &I);

  // Conversions (LoweringConvert.cpp).
  Value *convertToInteger(Inst &I, Value *value, ptx::Type from, ptx::Type to,
                          bool saturate);
  void lowerNarrowPair(Inst &I, ptx::Type to, ptx::Type from, int rounding);
  void lowerWidenPair(Inst &I, ptx::Type to, ptx::Type from);

  // Memory (LoweringMemory.cpp).
  ptx::Space takeSpace(Inst &I);
  void writeExtended(Inst &I, const ptx::Operand &operand, Value *value,
                     ptx::Type type);
  void takeCacheHints(Inst &I);
  void takeOrder(Inst &I, MemorySite &site);
  unsigned takeVector(Inst &I);
  const ptx::Variable *directVariable(Inst &I, const ptx::Operand &operand,
                                      unsigned bytes);
  void storeElements(Inst &I, Value *pointer, unsigned operand, ptx::Type type,
                     unsigned count);
  void lowerReduceAsync(Inst &I);
  uint32_t getUsedBytes(Inst &I, ptx::Type type);
  void loadElements(Inst &I, Value *pointer, unsigned operand, ptx::Type type,
                    unsigned count);
  void lowerAtomicLike(Inst &I, bool returns);

  // Calls (LoweringControl.cpp).
  struct CallBlock {
    Value *base;
    llvm::SmallVector<std::pair<uint64_t, uint64_t>> places; // offset, bytes
  };
  CallBlock layOutCall(Inst &I, const ptx::Operand &tuple,
                       const std::vector<int> *declared);
  bool lowerKnownCallee(Inst &I, llvm::StringRef callee,
                        const CallBlock &arguments, const CallBlock &results);
  void lowerClusterBarrier(Inst &I);

  // Asynchronous instructions (LoweringAsync.cpp, LoweringBulk.cpp,
  // LoweringWgmma.cpp).
  void lowerBulkTensor(Inst &I, bool isReduce, bool isPrefetch);
  void lowerBulkPlain(Inst &I, bool isReduce, bool isPrefetch);
  void lowerWgmmaMultiply(Inst &I);
  void clearTouchedFlags();

#define PTX_OPCODE(word, handler) void handler(Inst &I);
#define PTX_OPCODE_SAME(word, handler)
#include "Opcodes.def"

  KernelImage &image;
  llvm::Module &module;
  llvm::LLVMContext &context;
  const ptx::Program &program;
  const ptx::Function &function;
  int functionIndex;
  Diagnostics &diagnostics;
  llvm::IRBuilder<> B;
  llvm::Function *llvmFunction = nullptr;
  Value *thread = nullptr;
  std::vector<llvm::AllocaInst *> slots;
  /// Registers that asynchronous matrix instructions read or write live in one
  /// frame whose address the runtime knows.
  Value *asyncFrame = nullptr;
  llvm::DenseMap<int, unsigned> asyncPlace;
  /// .local variables and call blocks live in the thread's local memory, not
  /// on the host's stack, so that a stray index cannot hurt the host. The
  /// frame's size is known, and set, when the function is lowered.
  void leaveFunction();
  Value *takeLocal(uint64_t bytes, uint64_t alignment);
  Value *localFrame = nullptr;
  llvm::GetElementPtrInst *localEnd = nullptr;
  uint64_t localBytes = 0;
  llvm::DenseMap<int, Value *> localVariables;
  /// Of registers, the bytes that some instruction takes.
  std::vector<uint16_t> readBytes;
  /// Of registers that may have no value, the bits without one.
  llvm::DenseMap<int, llvm::AllocaInst *> absences;
  llvm::AllocaInst *carry = nullptr;
  llvm::AllocaInst *scratchArea = nullptr;
  uint64_t scratchBytes = 0;
  std::vector<llvm::BasicBlock *> blocks; // by instruction; null inside blocks
  int current = 0;

public:
  ~FunctionLowering();
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_LOWERING_H
