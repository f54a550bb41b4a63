//===- ParserDirectives.cpp - Module level of PTX --------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Directives: version and target, variables with their initialisers, function
// headers, registers, source locations. Debug sections are skipped: `.loc`
// says all that reports need.
//===----------------------------------------------------------------------===//
#include "Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::StringRef;

/// More than any kernel has, little enough to keep a hostile text cheap.
static constexpr uint64_t maxRegisters = 1u << 20;
static constexpr uint64_t maxVariableBytes = uint64_t(1) << 31;

static std::optional<Space> parseSpaceName(StringRef name) {
  if (name == "global")
    return Space::Global;
  if (name == "const")
    return Space::Const;
  if (name == "shared")
    return Space::Shared;
  if (name == "local")
    return Space::Local;
  if (name == "param")
    return Space::Param;
  return std::nullopt;
}

bool Parser::parseModule() {
  bool ok = true;
  while (peek().kind != Token::Kind::End) {
    if (parseTopLevel())
      continue;
    ok = false;
    // An error at module level leaves no reliable place to go on from.
    break;
  }
  if (ok && program.versionMajor == 0)
    return fail(1, "expected a .version directive: this is not a PTX module");
  return ok && diagnostics.empty();
}

bool Parser::parseTopLevel() {
  bool isExternal = false;
  while (peek().isDotted("visible") || peek().isDotted("extern") ||
         peek().isDotted("weak") || peek().isDotted("common"))
    isExternal |= take().text == "extern";
  Token token = peek();
  if (token.kind != Token::Kind::Dotted)
    return failHere("a directive");
  take();
  if (token.text == "version") {
    Token number = take();
    StringRef major, minor;
    std::tie(major, minor) = number.text.split('.');
    if (major.getAsInteger(10, program.versionMajor) ||
        minor.getAsInteger(10, program.versionMinor))
      return fail(number.line, "expected a version such as 8.6 after .version");
    return true;
  }
  if (token.text == "target") {
    do {
      StringRef word;
      if (!expectWord(word, "a target name"))
        return false;
      if (program.target.empty())
        program.target = word.str();
    } while (takeMark(','));
    return true;
  }
  if (token.text == "address_size") {
    uint64_t bits;
    if (!expectInteger(bits, "an address size"))
      return false;
    return bits == 64 || fail(token.line, "only .address_size 64 is modelled");
  }
  if (token.text == "entry" || token.text == "func")
    return parseFunction(token.text == "entry");
  if (token.text == "file")
    return parseFile();
  if (token.text == "loc")
    return parseLocation();
  if (token.text == "section")
    return skipSection();
  if (token.text == "pragma") {
    take();
    return expectMark(';', "after .pragma");
  }
  if (std::optional<Space> space = parseSpaceName(token.text))
    return parseVariables(*space, isExternal);
  return fail(token.line, "directive ." + token.text.str() +
                              " is not known at module level");
}

bool Parser::skipSection() {
  unsigned line = peek().line;
  while (peek().kind != Token::Kind::End && !peek().is('{'))
    take();
  unsigned depth = 0;
  do {
    Token token = take();
    if (token.kind == Token::Kind::End)
      return fail(line, "section without closing brace");
    if (token.is('{'))
      ++depth;
    else if (token.is('}'))
      --depth;
  } while (depth);
  return true;
}

bool Parser::parseFile() {
  uint64_t index;
  if (!expectInteger(index, "a file number"))
    return false;
  Token name = take();
  if (name.kind != Token::Kind::String)
    return fail(name.line, "expected a quoted file name in .file");
  if (index > 100000)
    return fail(name.line, "file number out of range");
  if (program.files.size() <= index)
    program.files.resize(index + 1);
  program.files[index] = name.text.str();
  while (takeMark(',')) {
    uint64_t ignored;
    if (!expectInteger(ignored, "a time stamp or size"))
      return false;
  }
  return true;
}

bool Parser::parseLocation() {
  uint64_t file, line, column;
  if (!expectInteger(file, "a file number") ||
      !expectInteger(line, "a line number") ||
      !expectInteger(column, "a column"))
    return false;
  while (takeMark(',')) {
    StringRef word;
    if (!expectWord(word, "function_name or inlined_at"))
      return false;
    if (word == "function_name") {
      StringRef label;
      if (!expectWord(label, "a label"))
        return false;
      int64_t ignored = 0;
      if (!parseOffset(ignored))
        return false;
    } else if (word == "inlined_at") {
      uint64_t ignored;
      for (int i = 0; i < 3; ++i)
        if (!expectInteger(ignored, "a position"))
          return false;
    } else {
      return fail(peek().line,
                  "unknown attribute '" + word.str() + "' of .loc");
    }
  }
  SourceLocation location{unsigned(file), unsigned(line), unsigned(column)};
  if (currentLocation < 0 || !(program.locations.back() == location)) {
    program.locations.push_back(location);
    currentLocation = static_cast<int>(program.locations.size()) - 1;
  }
  return true;
}

bool Parser::parseArrayShape(Variable &variable) {
  while (takeMark('[')) {
    if (takeMark(']')) {
      variable.isArray = true;
      variable.count = 0;
      continue;
    }
    uint64_t extent;
    if (!expectInteger(extent, "an array extent") ||
        !expectMark(']', "after the array extent"))
      return false;
    if (extent > maxVariableBytes || variable.count * extent > maxVariableBytes)
      return fail(peek().line, "variable '" + variable.name.str() +
                                   "' is larger than 2 GiB");
    variable.count *= extent;
    variable.isArray = true;
  }
  return true;
}

bool Parser::parseVariables(Space space, bool isExternal) {
  Variable prototype;
  prototype.space = space;
  prototype.function = functionIndex;
  prototype.alignment = 0;
  std::optional<Type> type;
  unsigned vector = 1;
  while (peek().kind == Token::Kind::Dotted) {
    Token token = take();
    if (token.text == "align") {
      if (!expectInteger(prototype.alignment, "an alignment"))
        return false;
      if (!llvm::isPowerOf2_64(prototype.alignment) ||
          prototype.alignment > 4096)
        return fail(token.line, "alignment must be a power of two up to 4096");
    } else if (token.text == "v2" || token.text == "v4") {
      vector = token.text == "v2" ? 2 : 4;
    } else if (token.text == "attribute" || token.text == "managed") {
      if (takeMark('('))
        while (peek().kind != Token::Kind::End && !takeMark(')'))
          take();
    } else if ((type = parseTypeName(token.text))) {
      break;
    } else {
      return fail(token.line, "attribute ." + token.text.str() +
                                  " of a variable is not known");
    }
  }
  if (!type)
    return failHere("the type of a variable");
  prototype.type = *type;
  prototype.count = vector;
  if (prototype.alignment == 0)
    prototype.alignment = type->bytes() * vector;
  do {
    if (!parseVariable(prototype, isExternal))
      return false;
  } while (takeMark(','));
  return expectMark(';', "after the variable");
}

bool Parser::parseVariable(Variable variable, bool isExternal) {
  Token name = peek();
  if (!expectWord(variable.name, "a variable name"))
    return false;
  variable.line = name.line;
  variable.isExternal = isExternal;
  // name<N> declares N variables; nvcc writes call parameters so in places.
  if (takeMark('<')) {
    uint64_t count;
    if (!expectInteger(count, "a count") || !expectMark('>', "after the count"))
      return false;
    return fail(name.line, "numbered variables are not modelled; declare '" +
                               variable.name.str() + "' once each");
  }
  if (!parseArrayShape(variable))
    return false;
  int index = static_cast<int>(program.variables.size());
  if (takeMark('=') && !parseInitializer(variable))
    return false;
  program.variables.push_back(variable);
  return declare(variable.name, {Entity::Kind::Variable, index});
}

bool Parser::parseInitialValue(Variable &variable, uint64_t element) {
  unsigned size = variable.type.bytes();
  if (variable.count && element >= variable.count)
    return failHere("at most " + std::to_string(variable.count) +
                    " initial values");
  if (variable.initial.size() < (element + 1) * size)
    variable.initial.resize((element + 1) * size);
  uint8_t *place = variable.initial.data() + element * size;
  Token token = peek();
  bool generic = false;
  if (token.kind == Token::Kind::Word) {
    take();
    StringRef name = token.text;
    if (name == "generic" && takeMark('(')) {
      generic = true;
      if (!expectWord(name, "a variable name") ||
          !expectMark(')', "after generic(name"))
        return false;
    }
    int64_t addend = 0;
    if (!parseOffset(addend))
      return false;
    if (size != 8)
      return fail(token.line, "an address initialises 64-bit elements only");
    int callee = program.findFunction(name);
    if (callee >= 0 && !generic) {
      variable.addresses.push_back({element * size, callee, addend, true});
      return true;
    }
    Entity storage;
    const Entity *entity = find(name, storage);
    if (!entity || entity->kind != Entity::Kind::Variable)
      return fail(token.line, "initialiser names '" + name.str() +
                                  "', which is no variable");
    variable.addresses.push_back(
        {element * size, entity->index, addend, false});
    return true;
  }
  bool negative = takeMark('-');
  Operand value;
  if (!parseNumber(value, negative))
    return false;
  uint64_t bits = value.bits;
  if (value.is(Operand::Kind::Float)) {
    double number = 0;
    if (value.isSingle) {
      float single;
      uint32_t low = uint32_t(bits);
      std::memcpy(&single, &low, 4);
      number = single;
    } else {
      std::memcpy(&number, &bits, 8);
    }
    float single = float(number);
    if (variable.type.bits == 32)
      std::memcpy(&bits, &single, 4);
    else
      std::memcpy(&bits, &number, 8);
  } else if (variable.type.isFloat() && variable.type.bits >= 32) {
    double number = double(int64_t(bits));
    float single = float(number);
    if (variable.type.bits == 32)
      std::memcpy(&bits, &single, 4);
    else
      std::memcpy(&bits, &number, 8);
  }
  std::memcpy(place, &bits, std::min(size, 8u));
  return true;
}

bool Parser::parseInitializer(Variable &variable) {
  if (!peek().is('{'))
    return parseInitialValue(variable, 0);
  // Nested braces of several dimensions are flattened in row order; a short
  // inner list would leave a gap, which no compiler emits.
  unsigned depth = 0;
  uint64_t element = 0;
  do {
    if (takeMark('{')) {
      ++depth;
    } else if (takeMark('}')) {
      --depth;
    } else if (takeMark(',')) {
      continue;
    } else if (peek().kind == Token::Kind::End || peek().is(';')) {
      return failHere("'}' at the end of the initialiser");
    } else if (!parseInitialValue(variable, element++)) {
      return false;
    }
  } while (depth);
  if (variable.isArray && variable.count == 0)
    variable.count = element;
  return true;
}

bool Parser::parseParameterList(int index, std::vector<int> &list,
                                uint64_t &bytes) {
  if (takeMark(')'))
    return true;
  do {
    Variable parameter;
    parameter.space = Space::Param;
    parameter.isParameter = true;
    parameter.function = index;
    parameter.alignment = 0;
    bool isRegister = false;
    std::optional<Type> type;
    while (peek().kind == Token::Kind::Dotted) {
      Token token = take();
      if (token.text == "param" || token.text == "ptr" ||
          token.text == "global" || token.text == "shared" ||
          token.text == "const" || token.text == "local") {
        continue;
      } else if (token.text == "reg") {
        isRegister = true;
      } else if (token.text == "align") {
        uint64_t alignment;
        if (!expectInteger(alignment, "an alignment"))
          return false;
        // Behind .ptr the alignment is the pointee's.
        if (!type)
          parameter.alignment = alignment;
      } else if (std::optional<Type> named = parseTypeName(token.text)) {
        type = named;
      } else {
        return fail(token.line, "attribute ." + token.text.str() +
                                    " of a parameter is not known");
      }
    }
    if (!type)
      return failHere("the type of a parameter");
    if (isRegister)
      return fail(peek().line,
                  "parameters in registers are not modelled; use .param");
    parameter.type = *type;
    parameter.line = peek().line;
    if (!expectWord(parameter.name, "a parameter name") ||
        !parseArrayShape(parameter))
      return false;
    if (parameter.alignment == 0)
      parameter.alignment = type->bytes();
    if (!llvm::isPowerOf2_64(parameter.alignment))
      return fail(parameter.line, "alignment must be a power of two");
    bytes = llvm::alignTo(bytes, parameter.alignment);
    parameter.offset = bytes;
    bytes += parameter.bytes();
    int variable = static_cast<int>(program.variables.size());
    list.push_back(variable);
    program.variables.push_back(parameter);
    if (parameter.name != "_" &&
        !declare(parameter.name, {Entity::Kind::Variable, variable}))
      return false;
  } while (takeMark(','));
  return expectMark(')', "after the parameters");
}

bool Parser::parseCounts(std::vector<unsigned> &counts, unsigned limit) {
  do {
    uint64_t value;
    if (!expectInteger(value, "a count"))
      return false;
    counts.push_back(unsigned(std::min<uint64_t>(value, UINT32_MAX)));
  } while (counts.size() < limit && takeMark(','));
  return true;
}

bool Parser::parseFunctionDirectives(Function &function) {
  while (peek().kind == Token::Kind::Dotted) {
    Token token = take();
    std::vector<unsigned> counts;
    if (token.text == "noreturn" || token.text == "blocksareclusters")
      continue;
    if (token.text == "explicitcluster") {
      function.explicitCluster = true;
      continue;
    }
    if (token.text == "pragma") {
      take();
      if (!expectMark(';', "after .pragma"))
        return false;
      continue;
    }
    if (!parseCounts(counts, 3))
      return false;
    if (token.text == "maxntid")
      function.maximumThreads = counts;
    else if (token.text == "reqntid")
      function.requiredThreads = counts;
    else if (token.text == "reqnctapercluster")
      function.clusterShape = counts;
    else if (token.text == "maxnreg")
      function.maximumRegisters = counts[0];
    else if (token.text == "minnctapersm")
      function.minimumBlocks = counts[0];
    else if (token.text != "maxnctapersm" && token.text != "maxclusterrank")
      return fail(token.line, "directive ." + token.text.str() +
                                  " of a function is not known");
  }
  return true;
}

bool Parser::parseFunction(bool isEntry) {
  int index = static_cast<int>(program.functions.size());
  Function parsed;
  parsed.isEntry = isEntry;
  parsed.line = peek().line;
  scopes.emplace_back();
  if (peek().isDotted("attribute")) {
    take();
    while (peek().kind != Token::Kind::End && !takeMark(')'))
      take();
  }
  if (takeMark('(') &&
      !parseParameterList(index, parsed.returns, parsed.returnBytes))
    return false;
  if (!expectWord(parsed.name, "a function name"))
    return false;
  if (takeMark('(') &&
      !parseParameterList(index, parsed.parameters, parsed.parameterBytes))
    return false;
  if (!parseFunctionDirectives(parsed))
    return false;
  // A definition after a declaration takes the declaration's place, so that
  // calls parsed in between reach it.
  int previous = program.findFunction(parsed.name);
  if (previous >= 0 && program.functions[previous].hasBody && peek().is('{'))
    return fail(parsed.line, "function '" + parsed.name.str() +
                                 "' is defined a second time");
  if (previous < 0) {
    program.functions.push_back(parsed);
  } else {
    for (std::vector<int> *list : {&parsed.parameters, &parsed.returns})
      for (int variable : *list)
        program.variables[variable].function = previous;
    if (!program.functions[previous].hasBody)
      program.functions[previous] = parsed;
    index = previous;
  }
  if (takeMark(';')) {
    scopes.pop_back();
    return true;
  }
  if (!expectMark('{', "at the start of the function's body"))
    return false;
  // Taken out of the list while it is filled: calls may not move it.
  Function body = std::move(program.functions[index]);
  program.functions[index] = parsed;
  program.functions[index].hasBody = true;
  body.hasBody = true;
  function = &body;
  functionIndex = index;
  currentLocation = -1;
  bool ok = parseBody();
  function = nullptr;
  functionIndex = -1;
  program.functions[index] = std::move(body);
  return ok;
}

bool Parser::parseRegisters() {
  std::optional<Type> type;
  unsigned vector = 1;
  while (peek().kind == Token::Kind::Dotted) {
    Token token = take();
    if (token.text == "v2" || token.text == "v4") {
      vector = token.text == "v2" ? 2 : 4;
    } else if (token.text != "align" && (type = parseTypeName(token.text))) {
      break;
    } else {
      return fail(token.line,
                  "register attribute ." + token.text.str() + " is not known");
    }
  }
  if (!type)
    return failHere("the type of the registers");
  do {
    StringRef name;
    if (!expectWord(name, "a register name"))
      return false;
    if (takeMark('<')) {
      uint64_t count;
      unsigned line = peek().line;
      if (!expectInteger(count, "a register count") ||
          !expectMark('>', "after the register count"))
        return false;
      if (count > maxRegisters ||
          function->registers.size() + count > maxRegisters)
        return fail(line, "more than 1048576 registers in one function");
      int first = static_cast<int>(function->registers.size());
      for (uint64_t i = 0; i < count; ++i)
        addRegister((name + llvm::Twine(i)).str(), *type);
      scopes.back().ranges[name] = {first, unsigned(count)};
      continue;
    }
    if (vector == 1) {
      int index = addRegister(name.str(), *type);
      if (!declare(name, {Entity::Kind::Register, index}))
        return false;
      continue;
    }
    static const char *const components[] = {".x", ".y", ".z", ".w"};
    int first = static_cast<int>(function->registers.size());
    for (unsigned i = 0; i < vector; ++i)
      addRegister(name.str() + components[i], *type);
    if (!declare(name, {Entity::Kind::VectorRegister, first, vector}))
      return false;
  } while (takeMark(','));
  return expectMark(';', "after the registers");
}
