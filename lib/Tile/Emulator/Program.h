//===- Program.h - PTX as parsed -------------------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parsed form of one PTX module: variables, functions, instructions with
// resolved operands. It is deliberately close to the text: an instruction
// keeps its opcode and modifiers as words, and only the lowering knows what
// they mean, so that a modifier nobody handles is noticed there and named.
// Words point into the text, which the Program owns.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_PROGRAM_H
#define TILE_LIB_EMULATOR_PROGRAM_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tile::emulator::ptx {

enum class TypeClass : uint8_t {
  Pred,
  Bits,
  Unsigned,
  Signed,
  Float,
  BFloat,
  TFloat,
  E4M3,
  E5M2
};

/// A scalar or packed type. `bits` counts the whole of a packed type.
struct Type {
  TypeClass kind = TypeClass::Bits;
  unsigned bits = 32;
  unsigned lanes = 1;

  bool isSigned() const { return kind == TypeClass::Signed; }
  bool isFloat() const { return kind >= TypeClass::Float; }
  bool isInteger() const {
    return kind == TypeClass::Unsigned || kind == TypeClass::Signed ||
           kind == TypeClass::Bits;
  }
  unsigned laneBits() const { return bits / lanes; }
  unsigned bytes() const { return bits < 8 ? 1 : bits / 8; }
  Type lane() const { return {kind, laneBits(), 1}; }
  bool operator==(const Type &other) const {
    return kind == other.kind && bits == other.bits && lanes == other.lanes;
  }
};

/// The type a word such as `f16x2` names, if it names one.
std::optional<Type> parseTypeName(llvm::StringRef name);
std::string typeName(Type type);

enum class Space : uint8_t {
  Generic,
  Const,
  Global,
  Local,
  Param,
  Shared,
  SharedCluster
};

struct Operand {
  enum class Kind : uint8_t {
    Register, // reg
    Integer,  // bits
    Float,    // bits: a double's, isSingle: a float's
    Symbol,   // symbol: index into the variables, plus offset
    Function, // symbol: index into the functions
    Special,  // symbol: index into the special registers, component
    Address,  // elements[0] base, offset; further elements after a comma
    Vector,   // elements
    Pair,     // elements: a|b
    Tuple,    // elements: (a, b), of calls only
    Label,    // symbol: index into the labels
    Sink      // _
  };
  Kind kind = Kind::Sink;
  bool negated = false;  // !p
  bool isSingle = false; // 0f...
  uint8_t component = 0;
  int reg = -1;
  int symbol = -1;
  uint64_t bits = 0;
  int64_t offset = 0;
  std::vector<Operand> elements;

  bool is(Kind k) const { return kind == k; }
};

struct Instruction {
  llvm::StringRef opcode;
  llvm::SmallVector<llvm::StringRef, 6> modifiers;
  llvm::SmallVector<Operand, 4> operands;
  int predicate = -1;
  bool predicateNegated = false;
  unsigned line = 0;
  int location = -1;
  /// Of a load, the bytes that somebody wants, where a pragma says: LLVM widens
  /// loads within an aligned word.
  uint32_t usedBytes = ~uint32_t(0);

  std::string spelled() const;
};

/// A position in the program the PTX was compiled from, from `.loc`.
struct SourceLocation {
  unsigned file = 0;
  unsigned line = 0;
  unsigned column = 0;
  bool operator==(const SourceLocation &o) const {
    return file == o.file && line == o.line && column == o.column;
  }
};

struct Register {
  std::string name;
  Type type;
};

/// A value inside an initialiser: literal bytes, or the address of a symbol.
struct InitialAddress {
  uint64_t position = 0;
  int symbol = -1;
  int64_t addend = 0;
  bool isFunction = false;
};

struct Variable {
  llvm::StringRef name;
  Space space = Space::Global;
  Type type;
  uint64_t count = 1; // elements; 0 for an open array
  uint64_t alignment = 1;
  bool isArray = false;
  bool isExternal = false;
  int function = -1; // owner, -1 for module scope
  bool isParameter = false;
  uint64_t offset = 0; // of a parameter in its block
  std::vector<uint8_t> initial;
  std::vector<InitialAddress> addresses;
  unsigned line = 0;

  uint64_t bytes() const { return count * type.bytes(); }
};

struct Label {
  llvm::StringRef name;
  int position = -1; // instruction index
};

struct Function {
  llvm::StringRef name;
  bool isEntry = false;
  bool hasBody = false;
  unsigned line = 0;
  std::vector<int> parameters; // variables
  std::vector<int> returns;    // variables
  uint64_t parameterBytes = 0;
  uint64_t returnBytes = 0;
  std::vector<Register> registers;
  std::vector<Label> labels;
  std::vector<Instruction> code;
  /// Targets of a `.branchtargets` list, keyed by its label.
  std::vector<std::pair<int, std::vector<int>>> branchTargets;
  std::optional<std::vector<unsigned>> requiredThreads, maximumThreads;
  std::optional<std::vector<unsigned>> clusterShape;
  bool explicitCluster = false;
  std::optional<unsigned> maximumRegisters, minimumBlocks;
};

struct Program {
  std::unique_ptr<std::string> text;
  unsigned versionMajor = 0, versionMinor = 0;
  std::string target;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<SourceLocation> locations;
  std::vector<std::string> files;

  const Function *findEntry(llvm::StringRef name) const;
  int findFunction(llvm::StringRef name) const;
};

} // namespace tile::emulator::ptx

#endif // TILE_LIB_EMULATOR_PROGRAM_H
