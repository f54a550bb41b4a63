//===- ParserStatements.cpp - Function bodies of PTX -----------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements, operands, and the scopes they are resolved in. A name that is
// not declared yet can only be a label; it waits in its scope and moves
// outwards when the scope closes without defining it.
//===----------------------------------------------------------------------===//
#include "Parser.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::StringRef;

static constexpr size_t maxDiagnostics = 20;
static constexpr unsigned maxDepth = 64;

Parser::Parser(Program &program, Diagnostics &diagnostics)
    : program(program), diagnostics(diagnostics) {
  Lexer lexer(*program.text);
  do
    tokens.push_back(lexer.next());
  while (tokens.back().kind != Token::Kind::End);
  scopes.emplace_back();
}

std::unique_ptr<Program>
tile::emulator::ptx::parseProgram(StringRef text, Diagnostics &diagnostics) {
  auto program = std::make_unique<Program>();
  program->text = std::make_unique<std::string>(text.str());
  Parser parser(*program, diagnostics);
  if (!parser.parseModule())
    return nullptr;
  return program;
}

int tile::emulator::ptx::findSpecialRegister(StringRef name,
                                             unsigned &components) {
  int index = 0;
#define SPECIAL_REGISTER(word, field, count, bits)                             \
  if (name == #word) {                                                         \
    components = count;                                                        \
    return index;                                                              \
  }                                                                            \
  ++index;
#define SPECIAL_CALL(word, function, bits) SPECIAL_REGISTER(word, , 1, bits)
#include "SpecialRegisters.def"
  return -1;
}

bool Parser::fail(unsigned line, std::string message) {
  if (diagnostics.size() < maxDiagnostics)
    diagnostics.push_back({line, std::move(message)});
  return false;
}

bool Parser::failHere(StringRef expected) {
  const Token &token = peek();
  std::string got = token.kind == Token::Kind::End ? "the end of the text"
                    : token.kind == Token::Kind::Dotted
                        ? "'." + token.text.str() + "'"
                        : "'" + token.text.str() + "'";
  return fail(token.line, "expected " + expected.str() + ", got " + got);
}

bool Parser::takeMark(char mark) {
  if (!peek().is(mark))
    return false;
  take();
  return true;
}

bool Parser::expectMark(char mark, StringRef where) {
  if (takeMark(mark))
    return true;
  return failHere(std::string("'") + mark + "' " + where.str());
}

bool Parser::expectWord(StringRef &word, StringRef what) {
  if (peek().kind != Token::Kind::Word)
    return failHere(what);
  word = take().text;
  return true;
}

bool Parser::expectInteger(uint64_t &value, StringRef what) {
  if (peek().kind != Token::Kind::Integer)
    return failHere(what);
  value = take().value;
  return true;
}

int Parser::addRegister(std::string name, Type type) {
  function->registers.push_back({std::move(name), type});
  return static_cast<int>(function->registers.size()) - 1;
}

bool Parser::declare(StringRef name, Entity entity) {
  auto [it, isNew] = scopes.back().names.try_emplace(name, entity);
  // Module-level redeclaration (extern, then the definition) is legal.
  if (!isNew && scopes.size() > 1 && it->second.kind != Entity::Kind::Label)
    return fail(peek().line,
                "'" + name.str() + "' is declared a second time in its scope");
  it->second = entity;
  return true;
}

const Parser::Entity *Parser::find(StringRef name, Entity &storage) const {
  size_t digits = name.size();
  while (digits > 0 && llvm::isDigit(name[digits - 1]))
    --digits;
  StringRef prefix = name.take_front(digits);
  unsigned number = 0;
  bool isNumbered = digits < name.size() && digits > 0 &&
                    !name.substr(digits).getAsInteger(10, number);
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if (auto it = scope->names.find(name); it != scope->names.end())
      return &it->second;
    if (!isNumbered)
      continue;
    auto range = scope->ranges.find(prefix);
    if (range != scope->ranges.end() && number < range->second.count) {
      storage = {Entity::Kind::Register,
                 range->second.first + static_cast<int>(number)};
      return &storage;
    }
  }
  return nullptr;
}

int Parser::labelFor(StringRef name, bool define) {
  if (!define) {
    Entity storage;
    if (const Entity *entity = find(name, storage))
      return entity->kind == Entity::Kind::Label ? entity->index : -1;
  } else {
    auto it = scopes.back().names.find(name);
    if (it != scopes.back().names.end()) {
      bool isLabel = it->second.kind == Entity::Kind::Label;
      int index = it->second.index;
      if (!isLabel || function->labels[index].position >= 0)
        return -1;
      return index;
    }
  }
  int index = static_cast<int>(function->labels.size());
  function->labels.push_back({name, -1});
  if (define) {
    scopes.back().names[name] = {Entity::Kind::Label, index};
  } else {
    scopes.back().pendingLabels.push_back(index);
  }
  return index;
}

bool Parser::closeScope() {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  bool isOutermost = scopes.size() == 2; // module, parameters
  for (int pending : scope.pendingLabels) {
    StringRef name = function->labels[pending].name;
    auto it = scope.names.find(name);
    if (it != scope.names.end() && it->second.kind == Entity::Kind::Label &&
        it->second.index >= 0 &&
        function->labels[it->second.index].position >= 0) {
      function->labels[pending].position =
          function->labels[it->second.index].position;
      for (auto &targets : function->branchTargets)
        if (targets.first == it->second.index) {
          function->branchTargets.push_back({pending, targets.second});
          break;
        }
    } else if (!isOutermost) {
      scopes.back().pendingLabels.push_back(pending);
    } else if (!name.starts_with("prototype")) {
      unsigned line = function->line;
      for (const Instruction &instruction : function->code)
        for (const Operand &operand : instruction.operands)
          if (operand.is(Operand::Kind::Label) && operand.symbol == pending)
            line = instruction.line;
      fail(line, "'" + name.str() + "' is not declared");
    }
  }
  return true;
}

void Parser::skipStatement() {
  while (peek().kind != Token::Kind::End && !peek().is(';') && !peek().is('}'))
    take();
  takeMark(';');
}

bool Parser::parseBody() {
  size_t base = scopes.size() - 1;
  scopes.emplace_back();
  while (scopes.size() > base + 1) {
    if (peek().kind == Token::Kind::End)
      return fail(peek().line, "function '" + function->name.str() +
                                   "' has no closing brace");
    if (takeMark('{')) {
      if (scopes.size() > maxDepth)
        return fail(peek().line, "scopes are nested more than 64 deep");
      scopes.emplace_back();
    } else if (takeMark('}')) {
      closeScope();
      if (scopes.size() == base + 1)
        break;
    } else if (!parseStatement()) {
      if (diagnostics.size() >= maxDiagnostics)
        return false;
      skipStatement();
    }
  }
  scopes.pop_back();
  return true;
}

bool Parser::parseStatement() {
  Token token = peek();
  if (token.is(';')) {
    take();
    return true;
  }
  if (token.kind == Token::Kind::Dotted) {
    take();
    if (token.text == "reg")
      return parseRegisters();
    if (token.text == "loc")
      return parseLocation();
    if (token.text == "file")
      return parseFile();
    if (token.text == "pragma") {
      llvm::StringRef pragma = take().text;
      if (pragma.consume_front("used_bytes_mask") &&
          pragma.trim().getAsInteger(0, usedBytes))
        usedBytes = ~uint32_t(0);
      return expectMark(';', "after .pragma");
    }
    if (token.text == "local")
      return parseVariables(Space::Local, false);
    if (token.text == "shared")
      return parseVariables(Space::Shared, false);
    if (token.text == "param")
      return parseVariables(Space::Param, false);
    if (token.text == "global")
      return parseVariables(Space::Global, false);
    if (token.text == "const")
      return parseVariables(Space::Const, false);
    return fail(token.line, "directive ." + token.text.str() +
                                " is not known inside a function");
  }
  if (token.kind == Token::Kind::Word && peek(1).is(':')) {
    take();
    take();
    if (peek().isDotted("callprototype")) {
      skipStatement();
      declare(token.text, {Entity::Kind::Label, -1});
      return true;
    }
    int label = labelFor(token.text, true);
    if (label < 0)
      return fail(token.line,
                  "label '" + token.text.str() + "' is defined a second time");
    function->labels[label].position = static_cast<int>(function->code.size());
    if (peek().isDotted("branchtargets")) {
      take();
      return parseBranchTargets(label);
    }
    return true;
  }
  return parseInstruction();
}

bool Parser::parseBranchTargets(int label) {
  std::vector<int> targets;
  do {
    StringRef name;
    unsigned line = peek().line;
    if (!expectWord(name, "a label"))
      return false;
    int target = labelFor(name, false);
    if (target < 0)
      return fail(line, "'" + name.str() + "' is no label");
    targets.push_back(target);
  } while (takeMark(','));
  function->branchTargets.push_back({label, std::move(targets)});
  return expectMark(';', "after the branch targets");
}

bool Parser::parseInstruction() {
  Instruction instruction;
  instruction.line = peek().line;
  instruction.location = currentLocation;
  if (takeMark('@')) {
    instruction.predicateNegated = takeMark('!');
    Operand guard;
    if (!parseNamed(guard))
      return false;
    if (!guard.is(Operand::Kind::Register) ||
        function->registers[guard.reg].type.kind != TypeClass::Pred)
      return fail(instruction.line, "the guard must be a predicate register");
    instruction.predicate = guard.reg;
  }
  if (!expectWord(instruction.opcode, "an instruction"))
    return false;
  while (peek().kind == Token::Kind::Dotted)
    instruction.modifiers.push_back(take().text);
  if (instruction.opcode == "call") {
    if (!parseCall(instruction))
      return false;
  } else if (!peek().is(';')) {
    do {
      Operand operand;
      if (!parseOperand(operand))
        return false;
      instruction.operands.push_back(std::move(operand));
    } while (takeMark(','));
  }
  if (!expectMark(';', "after '" + instruction.spelled() + "'"))
    return false;
  instruction.usedBytes = std::exchange(usedBytes, ~uint32_t(0));
  function->code.push_back(std::move(instruction));
  return true;
}

/// Operands of a call are always four: results, callee, arguments, and the
/// prototype or target list of an indirect call (or a sink).
bool Parser::parseCall(Instruction &instruction) {
  Operand results, callee, arguments, prototype;
  results.kind = arguments.kind = Operand::Kind::Tuple;
  if (takeMark('(')) {
    if (!parseList(results, ')') || !expectMark(',', "after the results"))
      return false;
  }
  if (!parseOperand(callee))
    return false;
  if (takeMark(',')) {
    if (!expectMark('(', "before the arguments") || !parseList(arguments, ')'))
      return false;
    if (takeMark(',') && !parseOperand(prototype))
      return false;
  }
  instruction.operands = {results, callee, arguments, prototype};
  return true;
}

bool Parser::parseList(Operand &operand, char close) {
  if (takeMark(close))
    return true;
  do {
    Operand element;
    if (!parseOperand(element))
      return false;
    operand.elements.push_back(std::move(element));
  } while (takeMark(','));
  return expectMark(close, "at the end of the list");
}

bool Parser::parseOperand(Operand &operand) {
  if (!parsePrimary(operand))
    return false;
  if (!takeMark('|'))
    return true;
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.elements.push_back(std::move(operand));
  pair.elements.emplace_back();
  if (!parsePrimary(pair.elements.back()))
    return false;
  operand = std::move(pair);
  return true;
}

bool Parser::parsePrimary(Operand &operand) {
  const Token &token = peek();
  if (token.is('{')) {
    // Vectors nest once: tensor coordinates inside an address.
    take();
    operand.kind = Operand::Kind::Vector;
    for (;;) {
      Operand element;
      if (peek().is('{') || peek().is('['))
        return failHere("an element of a vector");
      if (!parsePrimary(element))
        return false;
      operand.elements.push_back(std::move(element));
      if (!takeMark(','))
        return expectMark('}', "at the end of the vector");
    }
  }
  if (token.is('[')) {
    take();
    return parseAddress(operand);
  }
  if (token.is('!')) {
    take();
    if (!parseNamed(operand))
      return false;
    operand.negated = true;
    return true;
  }
  if (token.is('-') || token.is('+')) {
    bool negative = take().is('-');
    return parseNumber(operand, negative);
  }
  if (token.kind == Token::Kind::Integer || token.kind == Token::Kind::Float)
    return parseNumber(operand, false);
  if (token.kind == Token::Kind::Word)
    return parseNamed(operand);
  return failHere("an operand");
}

bool Parser::parseNumber(Operand &operand, bool negative) {
  Token token = peek();
  if (token.kind == Token::Kind::Integer) {
    take();
    operand.kind = Operand::Kind::Integer;
    operand.bits = negative ? 0 - token.value : token.value;
    return true;
  }
  if (token.kind != Token::Kind::Float)
    return failHere("a number");
  take();
  operand.kind = Operand::Kind::Float;
  operand.isSingle = token.isSingle;
  operand.bits = token.value;
  if (negative)
    operand.bits ^= token.isSingle ? uint64_t(1) << 31 : uint64_t(1) << 63;
  return true;
}

bool Parser::parseOffset(int64_t &offset) {
  while (peek().is('+') || peek().is('-')) {
    bool negative = take().is('-');
    if (takeMark('-'))
      negative = !negative;
    uint64_t value;
    if (!expectInteger(value, "an offset"))
      return false;
    offset = int64_t(uint64_t(offset) + (negative ? 0 - value : value));
  }
  return true;
}

bool Parser::parseNamed(Operand &operand) {
  Token token = peek();
  StringRef name;
  if (!expectWord(name, "a name"))
    return false;
  if (name == "_") {
    operand.kind = Operand::Kind::Sink;
    return true;
  }
  if (name == "WARP_SZ") {
    operand.kind = Operand::Kind::Integer;
    operand.bits = 32;
    return true;
  }
  Entity storage;
  if (const Entity *entity = find(name, storage)) {
    switch (entity->kind) {
    case Entity::Kind::Register:
      operand.kind = Operand::Kind::Register;
      operand.reg = entity->index;
      return true;
    case Entity::Kind::VectorRegister: {
      StringRef order = "xyzw";
      if (peek().kind == Token::Kind::Dotted && peek().text.size() == 1) {
        size_t component = order.find(take().text[0]);
        if (component >= entity->count)
          return fail(token.line, "'" + name.str() + "' has " +
                                      std::to_string(entity->count) +
                                      " components");
        operand.kind = Operand::Kind::Register;
        operand.reg = entity->index + static_cast<int>(component);
        return true;
      }
      operand.kind = Operand::Kind::Vector;
      for (unsigned i = 0; i < entity->count; ++i) {
        operand.elements.emplace_back();
        operand.elements.back().kind = Operand::Kind::Register;
        operand.elements.back().reg = entity->index + static_cast<int>(i);
      }
      return true;
    }
    case Entity::Kind::Variable:
      operand.kind = Operand::Kind::Symbol;
      operand.symbol = entity->index;
      return parseOffset(operand.offset);
    case Entity::Kind::Label:
      operand.kind = Operand::Kind::Label;
      operand.symbol = entity->index;
      return true;
    }
  }
  if (name.starts_with("%")) {
    unsigned components = 1;
    int special = findSpecialRegister(name.drop_front(), components);
    if (special < 0)
      return fail(token.line, "register '" + name.str() +
                                  "' is not declared and no special register");
    operand.kind = Operand::Kind::Special;
    operand.symbol = special;
    if (components == 1)
      return true;
    StringRef component = peek().kind == Token::Kind::Dotted ? peek().text : "";
    if (component.size() != 1 || !StringRef("xyz").contains(component))
      return failHere("component .x, .y or .z of '" + name.str() + "'");
    operand.component = uint8_t(StringRef("xyz").find(take().text));
    return true;
  }
  int callee = program.findFunction(name);
  if (callee >= 0) {
    operand.kind = Operand::Kind::Function;
    operand.symbol = callee;
    return true;
  }
  if (!function)
    return fail(token.line, "'" + name.str() + "' is not declared");
  operand.kind = Operand::Kind::Label;
  operand.symbol = labelFor(name, false);
  return true;
}

bool Parser::parseAddress(Operand &operand) {
  operand.kind = Operand::Kind::Address;
  Operand base;
  if (peek().is('['))
    return failHere("a register, a variable or a number in an address");
  if (!parsePrimary(base))
    return false;
  if (!base.is(Operand::Kind::Register) && !base.is(Operand::Kind::Symbol) &&
      !base.is(Operand::Kind::Integer))
    return failHere("a register, a variable or a number in an address");
  operand.offset = base.offset;
  base.offset = 0;
  if (!parseOffset(operand.offset))
    return false;
  operand.elements.push_back(std::move(base));
  while (takeMark(',')) {
    Operand extra;
    if (peek().is('['))
      return failHere("an operand of the address");
    if (!parsePrimary(extra))
      return false;
    operand.elements.push_back(std::move(extra));
  }
  return expectMark(']', "at the end of the address");
}
