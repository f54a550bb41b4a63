//===- CHeader.cpp - Compiled functions declared for C ----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CHeader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <set>

using namespace tile;
using namespace tile::driver;
using llvm::StringRef;
using runtime::DType;

static bool isCName(StringRef name) {
  static const llvm::StringSet<> keywords = {
      "auto",     "break",    "case",     "char",   "const",   "continue",
      "default",  "do",       "double",   "else",   "enum",    "extern",
      "float",    "for",      "goto",     "if",     "inline",  "int",
      "long",     "register", "restrict", "return", "short",   "signed",
      "sizeof",   "static",   "struct",   "switch", "typedef", "union",
      "unsigned", "void",     "volatile", "while",  "class",   "new",
      "delete",   "template", "this",     "and",    "or",      "not"};
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; }) &&
         !keywords.contains(name);
}

llvm::Error driver::checkForC(const Signature &signature) {
  if (isCName(signature.function))
    return llvm::Error::success();
  return llvm::createStringError(
      "'" + signature.function +
      "' is no name for a C function; use letters, digits and '_'");
}

/// Arguments are known by their place, so any name will do.
static std::string getCName(const Parameter &parameter) {
  std::string name;
  for (char c : parameter.name)
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name = "argument" + name;
  return isCName(name) ? name : name + "_";
}

static StringRef getScalarType(DType type) {
  switch (type) {
  case DType::F64:
    return "double";
  case DType::F32:
    return "float";
  case DType::F16:
  case DType::BF16:
    return "uint16_t";
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::I4:
  case DType::I1:
    return "uint8_t";
  case DType::I64:
    return "int64_t";
  case DType::I32:
    return "int32_t";
  case DType::I16:
    return "int16_t";
  case DType::I8:
    return "int8_t";
  }
  llvm_unreachable("every type has been named");
}

static std::string printStruct(size_t rank) {
  std::string name = "tile_buffer_" + std::to_string(rank);
  std::string guard = llvm::StringRef(name).upper();
  std::string extents = "[" + std::to_string(rank) + "];";
  std::string text = "#ifndef " + guard + "\n#define " + guard +
                     "\ntypedef struct " + name + " {\n  void *data;\n";
  if (rank != 0)
    text +=
        "  int64_t extents" + extents + "\n  int64_t strides" + extents + "\n";
  return text + "} " + name + ";\n#endif\n";
}

static std::string printPrototype(const Signature &signature) {
  std::string comment, arguments;
  for (const Parameter &parameter : signature.parameters) {
    std::string name = getCName(parameter);
    arguments += arguments.empty() ? "" : ",\n    ";
    comment += "\n * " + name + ": " + parameter.typeText;
    if (parameter.isScalar) {
      arguments += getScalarType(parameter.type).str() + " " + name;
      continue;
    }
    comment += parameter.isWritten ? ", written" : ", read";
    arguments += "const tile_buffer_" + std::to_string(parameter.shape.size()) +
                 " *" + name;
  }
  return "/* " + signature.function + comment + "\n */\nconst char *" +
         signature.function + "(" + (arguments.empty() ? "void" : arguments) +
         ");\n";
}

std::string driver::printCHeader(llvm::ArrayRef<Signature> signatures) {
  std::string guard = "TILE_OBJECT";
  std::set<size_t> ranks;
  for (const Signature &signature : signatures) {
    guard += "_" + StringRef(signature.function).upper();
    for (const Parameter &parameter : signature.parameters)
      if (!parameter.isScalar)
        ranks.insert(parameter.shape.size());
  }
  guard += "_H";
  std::string text = R"(/* Functions compiled by tile-run --emit=object.
 *
 * A buffer is the address of its first element, its extents and its strides,
 * in elements; data of f16 and bf16 are 16-bit patterns, of f8 bytes, of i1
 * bytes that are 0 or 1, of i4 two elements a byte, the even one low. Buffers
 * that are written must not overlap others unless the program declares it.
 *
 * Each function runs to its end on all cores and may be called from several
 * threads at once. It returns NULL, or a message that lives as long as the
 * code: an argument that does not fit (then nothing ran), or the first failed
 * assertion or access outside a buffer of this call (then what it wrote is
 * undefined). Link with -lomp -lm, and -lmvec where the C library has it.
 */
)";
  text +=
      "#ifndef " + guard + "\n#define " + guard + "\n\n#include <stdint.h>\n\n";
  for (size_t rank : ranks)
    text += printStruct(rank) + "\n";
  text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  for (const Signature &signature : signatures)
    text += printPrototype(signature) + "\n";
  return text + "#ifdef __cplusplus\n}\n#endif\n\n#endif /* " + guard + " */\n";
}
