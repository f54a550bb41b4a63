//===- RandomBody.cpp - Random elementwise loops ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All numbers are of type index. Every subscript is reduced to the buffer's
// extent at the end, so that accesses stay inside.
//
//===----------------------------------------------------------------------===//

#include "RandomBody.h"
#include <random>
#include <vector>

using namespace tile::test;

namespace {

class Writer {
public:
  explicit Writer(unsigned seed) : random(seed) {}

  std::string write();

private:
  int pick(int limit) {
    return std::uniform_int_distribution<int>(0, limit - 1)(random);
  }
  bool chance(int percent) { return pick(100) < percent; }
  std::string fresh() { return "%v" + std::to_string(next++); }
  std::string indent() const { return std::string(4 + 2 * depth, ' '); }
  void line(const std::string &text) { out += indent() + text + "\n"; }
  std::string constant(int value) { return "%c" + std::to_string(value); }

  std::string binary(const std::string &op, const std::string &a,
                     const std::string &b) {
    std::string name = fresh();
    line(name + " = arith." + op + " " + a + ", " + b + " : index");
    return name;
  }
  std::string anyValue() { return values[pick(values.size())]; }
  std::string anyCondition();
  /// A number below `extent`.
  std::string subscript(int extent);
  /// Names the lane: distinct for all lanes, below their number.
  std::string laneSubscript();
  std::string place(int buffer, bool distinct);

  void statement();
  void block(int statements);
  void load();
  void store();
  void useLocal();
  void condition();
  void loop();
  void whileLoop();

  std::mt19937 random;
  std::string out;
  unsigned next = 0;
  int depth = 1;
  bool isFlat = true;
  int rows = 1, columns = 1;
  /// The values in sight.
  std::vector<std::string> values;
  /// The indices of the loops around.
  std::vector<std::string> counters;
  /// Arguments of the next block, and what the last one can yield.
  std::vector<std::string> inner;
  std::string yielded;
};

} // namespace

std::string Writer::anyCondition() {
  static const char *predicates[] = {"ult", "eq", "ne", "uge"};
  std::string a = binary("remui", chance(60) ? laneSubscript() : anyValue(),
                         constant(2 + pick(6)));
  std::string name = fresh();
  line(name + " = arith.cmpi " + predicates[pick(4)] + ", " + a + ", " +
       constant(pick(4)) + " : index");
  return name;
}

std::string Writer::laneSubscript() {
  if (isFlat)
    return "%i";
  std::string row = binary("muli", "%i", constant(columns));
  return binary("addi", row, "%j");
}

std::string Writer::subscript(int extent) {
  std::string base = chance(50) ? laneSubscript() : anyValue();
  if (chance(50))
    base = binary("addi", base, constant(pick(8)));
  if (chance(20))
    base = binary("muli", base, constant(pick(8)));
  return binary("remui", base, constant(extent));
}

/// Subscripts of a buffer: 0 is flat, one element a lane; 1 has the loop's rows
/// and columns; 2 is small.
std::string Writer::place(int buffer, bool distinct) {
  int lanes = rows * columns;
  if (buffer == 2)
    return "[" + subscript(4) + "]";
  if (!distinct)
    return buffer == 0
               ? "[" + subscript(lanes) + "]"
               : "[" + subscript(rows) + ", " + subscript(columns) + "]";
  std::string lane = laneSubscript();
  bool moves = !counters.empty() && chance(50);
  if (moves || chance(40)) {
    // A place that moves from iteration to iteration meets that of others.
    lane = binary("addi", lane,
                  moves ? counters[pick(counters.size())] : constant(pick(8)));
    lane = binary("remui", lane, constant(lanes));
  } else if (chance(20)) {
    lane = binary("subi", constant(lanes - 1), lane);
  }
  if (buffer == 0)
    return "[" + lane + "]";
  std::string row = binary("divui", lane, constant(columns));
  std::string column = binary("remui", lane, constant(columns));
  return "[" + row + ", " + column + "]";
}

void Writer::load() {
  int buffer = pick(3);
  std::string at = place(buffer, chance(40));
  std::string name = fresh();
  line(name + " = memref.load %S" + std::to_string(buffer) + at + " : !S" +
       std::to_string(buffer));
  values.push_back(name);
}

void Writer::store() {
  int buffer = pick(10) == 0 ? 2 : pick(2);
  bool distinct = chance(90);
  // Where lanes may meet, one value for all of them.
  std::string value = distinct && buffer != 2 ? anyValue() : constant(pick(8));
  std::string at = place(buffer, distinct);
  line("memref.store " + value + ", %S" + std::to_string(buffer) + at +
       " : !S" + std::to_string(buffer));
}

void Writer::useLocal() {
  std::string at = subscript(2);
  if (chance(50)) {
    line("memref.store " + anyValue() + ", %L[" + at + "] : !L");
    return;
  }
  std::string name = fresh();
  line(name + " = memref.load %L[" + at + "] : !L");
  values.push_back(name);
}

void Writer::condition() {
  std::string holds = anyCondition();
  bool hasResult = chance(40);
  std::string result = fresh();
  line((hasResult ? result + " = " : "") + "scf.if " + holds +
       (hasResult ? " -> (index) {" : " {"));
  auto branch = [&] {
    block(1 + pick(3));
    ++depth;
    if (hasResult)
      line("scf.yield " + yielded + " : index");
    --depth;
  };
  branch();
  if (hasResult || chance(40)) {
    line("} else {");
    branch();
  }
  line("}");
  if (hasResult)
    values.push_back(result);
}

void Writer::loop() {
  std::string upper = constant(1 + pick(4));
  if (chance(40))
    upper = binary("remui", chance(50) ? laneSubscript() : anyValue(),
                   constant(1 + pick(4)));
  std::string iv = fresh(), carried = fresh(), result = fresh();
  std::string init = anyValue();
  line(result + " = scf.for " + iv + " = %c0 to " + upper +
       " step %c1 iter_args(" + carried + " = " + init + ") -> (index) {");
  inner = {iv, carried};
  counters.push_back(iv);
  block(1 + pick(4));
  counters.pop_back();
  ++depth;
  line("scf.yield " + yielded + " : index");
  --depth;
  line("}");
  values.push_back(result);
}

void Writer::whileLoop() {
  std::string init = binary("remui", anyValue(), constant(1 + pick(4)));
  std::string count = fresh(), holds = fresh(), other = fresh(),
              result = fresh(), rest = fresh();
  line(result + " = scf.while (" + count + " = " + init +
       ") : (index) -> index {");
  inner = {count};
  block(pick(2));
  ++depth;
  line(holds + " = arith.cmpi ugt, " + count + ", %c0 : index");
  line("scf.condition(" + holds + ") " + count + " : index");
  --depth;
  line("} do {");
  line("^bb0(" + other + ": index):");
  inner = {other};
  block(1 + pick(3));
  ++depth;
  line(rest + " = arith.subi " + other + ", %c1 : index");
  line("scf.yield " + rest + " : index");
  --depth;
  line("}");
  values.push_back(result);
}

/// Statements of a nested block.
void Writer::block(int statements) {
  std::vector<std::string> outside = values;
  values.insert(values.end(), inner.begin(), inner.end());
  inner.clear();
  ++depth;
  for (int i = 0; i < statements; ++i)
    statement();
  yielded = anyValue();
  --depth;
  values = outside;
}

void Writer::statement() {
  int kind = pick(100);
  if (kind < 30)
    load();
  else if (kind < 60)
    store();
  else if (kind < 68)
    values.push_back(
        binary(chance(50) ? "addi" : "muli", anyValue(), anyValue()));
  else if (kind < 76)
    useLocal();
  else if (depth > 3)
    load();
  else if (kind < 86)
    condition();
  else if (kind < 95)
    loop();
  else
    whileLoop();
}

std::string Writer::write() {
  isFlat = chance(50);
  rows = isFlat ? 1 : 2 + pick(3);
  columns = isFlat ? 4 + pick(8) : 2 + pick(4);
  std::string lanes = std::to_string(rows * columns);
  std::string shape = std::to_string(rows) + "x" + std::to_string(columns);
  out += "!S0 = memref<" + lanes + "xindex, #tile.shared>\n";
  out += "!S1 = memref<" + shape + "xindex, #tile.fragment>\n";
  out += "!S2 = memref<4xindex, #tile.shared>\n";
  out += "!L = memref<2xindex, #tile.local>\n";
  out += "func.func @f(%n: index) {\n  tile.launch blocks(%b) in (%n) {\n";
  line("%S0 = tile.alloc_shared : !S0");
  line("%S1 = tile.alloc_fragment : !S1");
  line("%S2 = tile.alloc_shared : !S2");
  for (int i = 0; i <= 20; ++i)
    line(constant(i) + " = arith.constant " + std::to_string(i) + " : index");
  values = {"%c1", "%c5", "%i"};
  line(isFlat ? "tile.parallel (%i) in (" + lanes + ") {"
              : "tile.parallel (%i, %j) in (" + std::to_string(rows) + ", " +
                    std::to_string(columns) + ") {");
  ++depth;
  line("%L = tile.alloc_local : !L");
  line("memref.store %c2, %L[%c0] : !L");
  line("memref.store %i, %L[%c1] : !L");
  --depth;
  block(3 + pick(6));
  line("}");
  out += "  }\n  return\n}\n";
  return out;
}

std::string tile::test::makeRandomProgram(unsigned seed) {
  return Writer(seed).write();
}
