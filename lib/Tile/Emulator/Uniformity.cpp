//===- Uniformity.cpp - What depends on the thread -------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A forward data flow over registers. Where ways meet that a divergent branch
// parted, what was written on them differs between lanes as well; that makes
// further branches divergent, until nothing changes.
//===----------------------------------------------------------------------===//
#include "Uniformity.h"
#include "Parser.h"
#include "RegisterAnalysis.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/CycleInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::BitVector;

ControlFlow::ControlFlow(const Function &function) : function(function) {
  int count = static_cast<int>(function.code.size());
  // In the order of the text. A label that was named before its place is there
  // twice, of which the later is the place.
  std::vector<llvm::SmallVector<int, 1>> labelsAt(count + 1);
  std::vector<int> places(function.labels.size(), -1);
  for (int i = static_cast<int>(places.size()) - 1; i >= 0; --i) {
    const Label &label = function.labels[i];
    if (label.position < 0)
      continue;
    auto &list = labelsAt[label.position];
    auto *same = llvm::find_if(
        list, [&](int j) { return function.labels[j].name == label.name; });
    places[i] = same == list.end() ? i : *same;
    if (places[i] == i)
      list.insert(list.begin(), i);
  }
  std::vector<int> blockOf(function.labels.size(), -1);
  bool isStart = true;
  for (int i = 0; i < count; ++i) {
    for (int label : labelsAt[i]) {
      blockOf[label] = static_cast<int>(blocks.size());
      blocks.push_back({i, i, {}, {}});
    }
    if (isStart && labelsAt[i].empty())
      blocks.push_back({i, i, {}, {}});
    blocks.back().end = i + 1;
    isStart = !fallsThrough(function.code[i]) ||
              !findTargets(function, function.code[i]).empty();
  }
  for (int b = 0; b < static_cast<int>(blocks.size()); ++b) {
    auto connect = [&](int to) {
      if (to < 0 || to >= static_cast<int>(blocks.size()) ||
          llvm::is_contained(blocks[b].successors, to))
        return;
      blocks[b].successors.push_back(to);
      blocks[to].predecessors.push_back(b);
    };
    const Instruction *last = lastOf(b);
    if (last)
      for (int label : findTargets(function, *last))
        if (places[label] >= 0)
          connect(blockOf[places[label]]);
    if (!last || fallsThrough(*last))
      connect(b + 1);
  }
  if (blocks.empty())
    return;
  BitVector seen(blocks.size());
  std::vector<std::pair<int, unsigned>> path = {{0, 0}};
  seen.set(0);
  while (!path.empty()) {
    auto &[block, next] = path.back();
    if (next == blocks[block].successors.size()) {
      order.push_back(block);
      path.pop_back();
      continue;
    }
    int successor = blocks[block].successors[next++];
    if (seen.test(successor))
      continue;
    seen.set(successor);
    path.push_back({successor, 0});
  }
  std::reverse(order.begin(), order.end());
  findCycles();
}

/// Leaves it to LLVM, with a function of the same shape.
void ControlFlow::findCycles() {
  llvm::LLVMContext context;
  llvm::Module module("shape", context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto *shape = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                       "shape", module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", shape));
  std::vector<llvm::BasicBlock *> places;
  llvm::DenseMap<const llvm::BasicBlock *, int> numbers;
  for (size_t i = 0; i < blocks.size(); ++i) {
    places.push_back(llvm::BasicBlock::Create(context, "", shape));
    numbers[places.back()] = static_cast<int>(i);
  }
  builder.CreateBr(places.front());
  for (size_t i = 0; i < blocks.size(); ++i) {
    builder.SetInsertPoint(places[i]);
    const auto &successors = blocks[i].successors;
    if (successors.empty()) {
      builder.CreateRetVoid();
      continue;
    }
    auto *choice =
        builder.CreateSwitch(builder.getInt32(0), places[successors[0]]);
    for (unsigned s = 1; s < successors.size(); ++s)
      choice->addCase(builder.getInt32(s), places[successors[s]]);
  }
  llvm::CycleInfo info;
  info.compute(*shape);
  std::vector<const llvm::Cycle *> work(info.toplevel_cycles().begin(),
                                        info.toplevel_cycles().end());
  while (!work.empty()) {
    const llvm::Cycle *cycle = work.back();
    work.pop_back();
    work.insert(work.end(), cycle->children().begin(), cycle->children().end());
    Cycle &copy = cycles.emplace_back();
    copy.blocks.resize(blocks.size());
    for (const llvm::BasicBlock *block : cycle->blocks())
      copy.blocks.set(numbers.lookup(block));
    for (const llvm::BasicBlock *block : cycle->getEntries())
      copy.entries.push_back(numbers.lookup(block));
  }
}

Ways::Ways(const ControlFlow &flow, int branch, const BitVector &region,
           int end)
    : flow(flow), branch(branch), end(end) {
  // Once ways are found to meet somewhere, what was said behind it is stale.
  for (size_t before = size_t(-1); before != met.size();) {
    before = met.size();
    ways.assign(flow.blocks.size(), -1);
    for (int b : met)
      ways[b] = b;
    for (bool changed = true; changed;) {
      changed = false;
      for (int b : flow.order) {
        if (!region.test(b) || ways[b] == b)
          continue;
        int way = -1;
        for (int p : flow.blocks[b].predecessors) {
          int other = region.test(p) ? of(p, b) : -1;
          if (other >= 0)
            way = way < 0 || way == other ? other : b;
        }
        if (way == b)
          met.push_back(b);
        changed |= way != ways[b];
        ways[b] = way;
      }
    }
  }
}

int Ways::of(int block, int successor) const {
  if (block == branch) {
    const auto &list = flow.blocks[block].successors;
    auto edge = llvm::find(list, successor) - list.begin();
    return static_cast<int>(ways.size() + edge);
  }
  return block == end ? -1 : ways[block];
}

bool Ways::meetAt(int block, llvm::ArrayRef<int> predecessors) const {
  int way = -1;
  for (int p : predecessors) {
    int other = of(p, block);
    if (other >= 0 && way >= 0 && other != way)
      return true;
    way = other >= 0 ? other : way;
  }
  return false;
}

namespace {
/// What lanes of one warp have in a register: the same, the same multiple of 32
/// plus the number of the lane, or anything.
enum Kind : uint8_t { Same, Lane, Any };
using State = std::vector<uint8_t>;

class Analysis {
public:
  explicit Analysis(const ControlFlow &flow);
  BitVector run();

private:
  Kind kindOf(const Operand &operand, const State &state) const;
  Kind resultOf(const Instruction &instruction, const State &state) const;
  void step(const Instruction &instruction, State &state) const;
  void part(int branch);
  BitVector writtenBetween(int branch, int join) const;

  const ControlFlow &flow;
  const Function &function;
  bool isLinear = true;             // threads are counted by %tid.x alone
  std::vector<BitVector> written;   // by each block
  std::vector<BitVector> differsAt; // registers, from each block on
  BitVector divergent, all;
};
} // namespace

Analysis::Analysis(const ControlFlow &flow)
    : flow(flow), function(flow.function),
      written(flow.blocks.size(), BitVector(function.registers.size())),
      differsAt(written), divergent(flow.blocks.size()),
      all(flow.blocks.size(), true) {
  unsigned unused;
  int tid = findSpecialRegister("tid", unused);
  for (size_t b = 0; b < flow.blocks.size(); ++b)
    for (int i = flow.blocks[b].first; i < flow.blocks[b].end; ++i) {
      const Instruction &instruction = function.code[i];
      for (const Operand &operand : instruction.operands)
        isLinear &= !operand.is(Operand::Kind::Special) ||
                    operand.symbol != tid || operand.component == 0;
      forEachRegister(instruction, [&](int reg, bool isWrite) {
        if (isWrite)
          written[b].set(reg);
      });
    }
}

/// Of a special register, which has nothing in its upper bits but what all
/// lanes of a warp share.
static Kind kindOfSpecial(const Operand &operand, bool isLinear) {
  static const llvm::StringRef names[] = {
#define SPECIAL_REGISTER(word, field, count, bits) #word,
#define SPECIAL_CALL(word, function, bits) #word,
#include "SpecialRegisters.def"
  };
  llvm::StringRef name = names[operand.symbol];
  if (name == "laneid")
    return Lane;
  if (name == "tid")
    return isLinear ? Lane : Any;
  return name.starts_with("lanemask") ? Any : Same;
}

Kind Analysis::kindOf(const Operand &operand, const State &state) const {
  if (operand.is(Operand::Kind::Register))
    return static_cast<Kind>(state[operand.reg]);
  if (operand.is(Operand::Kind::Special))
    return kindOfSpecial(operand, isLinear);
  Kind kind = Same;
  for (const Operand &element : operand.elements)
    kind = std::max(kind, kindOf(element, state));
  return kind;
}

/// What an operation with a constant leaves of the number of a lane.
static Kind withConstant(const Instruction &instruction, uint64_t bits) {
  llvm::StringRef op = instruction.opcode;
  auto has = [&](std::initializer_list<llvm::StringRef> words) {
    return llvm::any_of(instruction.modifiers, [&](llvm::StringRef modifier) {
      return llvm::is_contained(words, modifier);
    });
  };
  unsigned low = bits % 32;
  bool isUnsigned = has({"u16", "u32", "u64"});
  if (op == "add" || op == "sub")
    return low == 0 ? Lane : Any;
  if (op == "and")
    return low == 0 ? Same : low == 31 ? Lane : Any;
  if (op == "shr")
    return bits >= 5 ? Same : Any;
  if (op == "div" && isUnsigned)
    return low == 0 ? Same : Any;
  if (op == "rem" && isUnsigned)
    return low == 0 ? Lane : Any;
  if (op == "setp" && ((low == 0 && has({"lt", "ge", "lo", "hs"})) ||
                       (low == 31 && has({"le", "gt", "ls", "hi"}))))
    return Same;
  return Any;
}

Kind Analysis::resultOf(const Instruction &instruction,
                        const State &state) const {
  llvm::StringRef op = instruction.opcode;
  const auto &operands = instruction.operands;
  auto has = [&](llvm::StringRef word) {
    return llvm::is_contained(instruction.modifiers, word);
  };
  Kind kind = Same;
  for (size_t i = 1; i < operands.size(); ++i)
    if (!isUnusedSource(instruction, operands[i]))
      kind = std::max(kind, kindOf(operands[i], state));
  if (op == "mov" || (op == "cvt" && operands.size() == 2))
    return kind;
  if (kind == Lane) {
    bool isFirst = operands.size() == 3 && kindOf(operands[1], state) == Lane;
    kind = isFirst && operands[2].is(Operand::Kind::Integer)
               ? withConstant(instruction, operands[2].bits)
               : Any;
  }
  if (isPure(instruction) || op == "cvta" || op == "mapa" ||
      op == "getctarank" || op == "isspacep" || op == "createpolicy" ||
      op == "mbarrier" || op == "bar" || op == "barrier" || op == "activemask")
    return kind;
  if (op == "ld" || op == "ldu") {
    // What a call gave back, or what a function was given, may be anything.
    bool isParameter = has("param") && !function.isEntry;
    if (has("param") && !operands[1].elements.empty() &&
        operands[1].elements[0].is(Operand::Kind::Symbol))
      isParameter |= !llvm::is_contained(function.parameters,
                                         operands[1].elements[0].symbol);
    return isParameter || has("local") ? Any : kind;
  }
  bool isWhole = !operands.empty() &&
                 operands.back().is(Operand::Kind::Integer) &&
                 uint32_t(operands.back().bits) == ~uint32_t(0);
  if (op == "vote" || op == "redux" || (op == "match" && has("all")))
    return isWhole ? Same : Any;
  if (op == "shfl" && has("idx") && operands.size() > 2)
    return isWhole && kindOf(operands[2], state) == Same ? Same : Any;
  return Any;
}

void Analysis::step(const Instruction &instruction, State &state) const {
  std::optional<Kind> result;
  bool isGuarded = instruction.predicate >= 0;
  forEachRegister(instruction, [&](int reg, bool isWrite) {
    if (!isWrite)
      return;
    if (!result) {
      result = resultOf(instruction, state);
      if (isGuarded && state[instruction.predicate] != Same)
        result = Any;
    }
    state[reg] = isGuarded && state[reg] != *result
                     ? std::max<uint8_t>(state[reg], *result)
                     : uint8_t(*result);
  });
}

/// Registers written on the way from a branch to where its ways meet.
BitVector Analysis::writtenBetween(int branch, int join) const {
  auto walk = [&](int from, auto next) {
    BitVector seen(flow.blocks.size());
    std::vector<int> work = {from};
    while (!work.empty()) {
      int block = work.back();
      work.pop_back();
      for (int n : next(flow.blocks[block]))
        if (n != branch && n != join && !seen.test(n)) {
          seen.set(n);
          work.push_back(n);
        }
    }
    return seen;
  };
  BitVector between = walk(branch, [](auto &b) { return b.successors; });
  between &= walk(join, [](auto &b) { return b.predecessors; });
  BitVector registers(function.registers.size());
  for (unsigned block : between.set_bits())
    registers |= written[block];
  return registers;
}

/// Lanes take this branch differently: so they do with what they find where
/// they meet again.
void Analysis::part(int branch) {
  divergent.set(branch);
  Ways ways(flow, branch, all, /*end=*/-1);
  for (int join : ways.joins())
    differsAt[join] |= writtenBetween(branch, join);
  // Who leaves a loop earlier has seen less of it.
  for (const ControlFlow::Cycle &cycle : flow.cycles)
    for (int successor : flow.blocks[branch].successors)
      if (cycle.blocks.test(branch) && !cycle.blocks.test(successor))
        for (unsigned block : cycle.blocks.set_bits())
          differsAt[successor] |= written[block];
}

BitVector Analysis::run() {
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<State> states(flow.blocks.size(),
                              State(function.registers.size(), Same));
    std::vector<State> ends = states;
    for (bool moving = true; moving;) {
      moving = false;
      for (int b : flow.order) {
        State &state = states[b];
        for (int p : flow.blocks[b].predecessors)
          for (size_t r = 0; r < state.size(); ++r)
            state[r] = std::max(state[r], ends[p][r]);
        for (unsigned r : differsAt[b].set_bits())
          state[r] = Any;
        State end = state;
        for (int i = flow.blocks[b].first; i < flow.blocks[b].end; ++i)
          step(function.code[i], end);
        moving |= end != ends[b];
        ends[b] = std::move(end);
      }
    }
    for (int b : flow.order) {
      const Instruction *last = flow.lastOf(b);
      if (divergent.test(b) || flow.blocks[b].successors.size() < 2 ||
          llvm::is_contained(last->modifiers, "uni"))
        continue;
      Kind kind = last->predicate >= 0
                      ? static_cast<Kind>(ends[b][last->predicate])
                      : Same;
      if (last->opcode == "brx" && !last->operands.empty())
        kind = std::max(kind, kindOf(last->operands[0], ends[b]));
      if (kind == Same)
        continue;
      part(b);
      changed = true;
    }
  }
  return divergent;
}

BitVector tile::emulator::findDivergentBranches(const ControlFlow &flow) {
  return Analysis(flow).run();
}
