//===- Parser.h - From PTX text to a Program -------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recursive descent over the tokens of a module. Any text gives either a
// Program whose operands are all resolved, or diagnostics with lines; never a
// crash. Registers, variables and labels follow PTX's nested scopes, since
// inline assembly brings its own in braces.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_PARSER_H
#define TILE_LIB_EMULATOR_PARSER_H

#include "Lexer.h"
#include "Program.h"
#include "Tile/Emulator/Diagnostic.h"
#include "llvm/ADT/DenseMap.h"

namespace tile::emulator::ptx {

/// Parses `text`; empty where it is not PTX, with the reasons in
/// `diagnostics`.
std::unique_ptr<Program> parseProgram(llvm::StringRef text,
                                      Diagnostics &diagnostics);

/// Index of a special register by its name without the percent sign, or -1,
/// and how many components it has.
int findSpecialRegister(llvm::StringRef name, unsigned &components);

class Parser {
public:
  Parser(Program &program, Diagnostics &diagnostics);
  bool parseModule();

private:
  struct Entity {
    enum class Kind : uint8_t { Register, VectorRegister, Variable, Label };
    Kind kind;
    int index;
    unsigned count = 1;
  };
  struct Range {
    int first;
    unsigned count;
  };
  struct Scope {
    llvm::StringMap<Entity> names;
    llvm::StringMap<Range> ranges; // %r<16>
    std::vector<int> pendingLabels;
  };

  // Directives (ParserDirectives.cpp).
  bool parseTopLevel();
  bool parseVariables(Space space, bool isExternal);
  bool parseVariable(Variable prototype, bool isExternal);
  bool parseInitializer(Variable &variable);
  bool parseInitialValue(Variable &variable, uint64_t element);
  bool parseFunction(bool isEntry);
  bool parseParameterList(int functionIndex, std::vector<int> &list,
                          uint64_t &bytes);
  bool parseFunctionDirectives(Function &function);
  bool parseRegisters();
  bool parseLocation();
  bool parseFile();
  bool parseCounts(std::vector<unsigned> &counts, unsigned limit);
  bool skipSection();
  bool parseArrayShape(Variable &variable);

  // Statements and operands (ParserStatements.cpp).
  bool parseBody();
  bool parseStatement();
  bool parseBranchTargets(int label);
  bool parseInstruction();
  bool parseCall(Instruction &instruction);
  bool parseOperand(Operand &operand);
  bool parsePrimary(Operand &operand);
  bool parseNamed(Operand &operand);
  bool parseNumber(Operand &operand, bool negative);
  bool parseAddress(Operand &operand);
  bool parseList(Operand &operand, char close);
  bool parseOffset(int64_t &offset);
  int labelFor(llvm::StringRef name, bool define);
  bool declare(llvm::StringRef name, Entity entity);
  const Entity *find(llvm::StringRef name, Entity &storage) const;
  int addRegister(std::string name, Type type);
  bool closeScope();

  // Tokens.
  const Token &peek(unsigned ahead = 0) const {
    size_t i = std::min(cursor + ahead, tokens.size() - 1);
    return tokens[i];
  }
  Token take() {
    Token token = peek();
    if (cursor + 1 < tokens.size())
      ++cursor;
    return token;
  }
  bool takeMark(char mark);
  bool expectMark(char mark, llvm::StringRef where);
  bool expectWord(llvm::StringRef &word, llvm::StringRef what);
  bool expectInteger(uint64_t &value, llvm::StringRef what);
  bool fail(unsigned line, std::string message);
  bool failHere(llvm::StringRef expected);
  void skipStatement();

  Program &program;
  Diagnostics &diagnostics;
  std::vector<Token> tokens;
  size_t cursor = 0;
  std::vector<Scope> scopes;
  Function *function = nullptr;
  int functionIndex = -1;
  int currentLocation = -1;
  /// By a pragma, for the next instruction.
  uint32_t usedBytes = ~uint32_t(0);
};

} // namespace tile::emulator::ptx

#endif // TILE_LIB_EMULATOR_PARSER_H
