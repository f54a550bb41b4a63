//===- RegisterAnalysis.cpp - Facts about PTX registers --------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Definite assignment as a forward data flow over the instruction graph: a
// register not assigned on every path to a read is a candidate. What is
// computed from candidates is one too.
//===----------------------------------------------------------------------===//
#include "RegisterAnalysis.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::BitVector;

/// Instructions whose first operand is a source.
static bool hasNoDestination(const Instruction &instruction) {
  llvm::StringRef op = instruction.opcode;
  if (op == "bar" || op == "barrier")
    return !llvm::is_contained(instruction.modifiers, "red");
  return op == "st" || op == "red" || op == "bra" || op == "brx" ||
         op == "nanosleep" || op == "setmaxnreg" || op == "stmatrix" ||
         op == "cp" || op == "prefetch" || op == "membar" || op == "fence";
}

bool tile::emulator::isPure(const Instruction &instruction) {
#define PTX_OPCODE(word, handler)
#define PTX_PURE(word, handler)                                                \
  if (instruction.opcode == #word)                                             \
    return true;
#define PTX_PURE_SAME PTX_PURE
#include "Opcodes.def"
  return false;
}

static void visitOperand(const Operand &operand, bool isWrite,
                         llvm::function_ref<void(int, bool)> visit) {
  if (operand.is(Operand::Kind::Register))
    visit(operand.reg, isWrite);
  for (const Operand &element : operand.elements)
    visitOperand(element, isWrite && !operand.is(Operand::Kind::Address),
                 visit);
}

/// The bytes that a `prmt` takes of a source for the `wanted` ones of its
/// result: `prmt d, a, b, selector` in its default mode picks one of the eight
/// bytes of a and b by each digit.
static uint16_t findPickedBytes(const Instruction &instruction,
                                const Operand &operand, uint16_t wanted) {
  constexpr uint16_t all = UINT16_MAX;
  if (instruction.operands.size() != 4 ||
      !instruction.operands[3].is(Operand::Kind::Integer) ||
      llvm::any_of(instruction.modifiers,
                   [](llvm::StringRef modifier) { return modifier != "b32"; }))
    return all;
  bool isFirst = &operand == &instruction.operands[1];
  if (!isFirst && &operand != &instruction.operands[2])
    return all;
  uint16_t picked = 0;
  for (unsigned digit = 0; digit < 4; ++digit) {
    uint64_t byte = instruction.operands[3].bits >> (4 * digit) & 7;
    if ((wanted >> digit & 1) && (byte < 4) == isFirst)
      picked |= static_cast<uint16_t>(1 << (byte & 3));
  }
  return picked;
}

bool tile::emulator::isUnusedSource(const Instruction &instruction,
                                    const Operand &operand) {
  return instruction.opcode == "prmt" &&
         findPickedBytes(instruction, operand, UINT16_MAX) == 0;
}

void tile::emulator::forEachRegister(
    const Instruction &instruction, llvm::function_ref<void(int, bool)> visit) {
  if (instruction.predicate >= 0)
    visit(instruction.predicate, false);
  bool noDestination = hasNoDestination(instruction);
  for (size_t i = noDestination ? 0 : 1; i < instruction.operands.size(); ++i)
    if (!isUnusedSource(instruction, instruction.operands[i]))
      visitOperand(instruction.operands[i], false, visit);
  if (noDestination || instruction.operands.empty())
    return;
  // wgmma adds to its accumulator.
  if (instruction.opcode == "wgmma")
    visitOperand(instruction.operands[0], false, visit);
  visitOperand(instruction.operands[0], true, visit);
}

llvm::SmallVector<int, 2>
tile::emulator::findTargets(const Function &function,
                            const Instruction &instruction) {
  llvm::SmallVector<int, 2> labels;
  if (instruction.opcode == "bra" && !instruction.operands.empty() &&
      instruction.operands[0].is(Operand::Kind::Label) &&
      instruction.operands[0].symbol >= 0)
    labels.push_back(instruction.operands[0].symbol);
  if (instruction.opcode == "brx")
    for (const auto &targets : function.branchTargets)
      labels.append(targets.second.begin(), targets.second.end());
  return labels;
}

bool tile::emulator::fallsThrough(const Instruction &instruction) {
  llvm::StringRef op = instruction.opcode;
  return instruction.predicate >= 0 ||
         !(op == "bra" || op == "brx" || op == "ret" || op == "exit" ||
           op == "trap");
}

static llvm::SmallVector<int, 2> successors(const Function &function,
                                            int index) {
  const Instruction &instruction = function.code[index];
  llvm::SmallVector<int, 2> list;
  for (int label : findTargets(function, instruction))
    list.push_back(function.labels[label].position);
  if (fallsThrough(instruction))
    list.push_back(index + 1);
  llvm::erase_if(list, [&](int i) {
    return i < 0 || i >= static_cast<int>(function.code.size());
  });
  return list;
}

std::vector<int>
tile::emulator::findMaybeUninitialized(const Function &function) {
  int count = static_cast<int>(function.code.size());
  unsigned registers = static_cast<unsigned>(function.registers.size());
  if (!count || !registers)
    return {};
  // States are kept at block starts only.
  std::vector<int> isStart(count, 0);
  isStart[0] = 1;
  for (int i = 0; i < count; ++i) {
    auto next = successors(function, i);
    if (next.size() == 1 && next[0] == i + 1)
      continue;
    for (int s : next)
      isStart[s] = 1;
  }
  for (const Label &label : function.labels)
    if (label.position >= 0 && label.position < count)
      isStart[label.position] = 1;
  llvm::DenseMap<int, BitVector> assigned;
  std::vector<int> work = {0};
  assigned[0] = BitVector(registers);
  // Far beyond any kernel: give up on the check, not on the program.
  size_t budget = size_t(1) << 34;
  llvm::DenseSet<int> candidates;
  auto walk = [&](int start, bool collect) {
    BitVector state = assigned[start];
    for (int i = start;; ++i) {
      bool guarded = function.code[i].predicate >= 0;
      forEachRegister(function.code[i], [&](int reg, bool isWrite) {
        if (isWrite) {
          if (!guarded || candidates.count(reg))
            state.set(reg);
          else if (!state.test(reg) && collect)
            candidates.insert(reg);
        } else if (collect && !state.test(reg)) {
          candidates.insert(reg);
        }
      });
      auto next = successors(function, i);
      if (next.size() == 1 && next[0] == i + 1 && !isStart[i + 1])
        continue;
      if (!collect)
        for (int s : next) {
          auto [it, isNew] = assigned.try_emplace(s, state);
          BitVector before = it->second;
          if (!isNew)
            it->second &= state;
          if (isNew || it->second != before)
            work.push_back(s);
        }
      return;
    }
  };
  while (!work.empty()) {
    int start = work.back();
    work.pop_back();
    if (budget < registers)
      return {};
    budget -= registers;
    walk(start, false);
  }
  std::vector<int> starts;
  for (auto &entry : assigned)
    starts.push_back(entry.first);
  for (int start : starts)
    walk(start, true);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction &instruction : function.code) {
      if (!isPure(instruction))
        continue;
      bool isCandidate = false;
      forEachRegister(instruction, [&](int reg, bool isWrite) {
        if (!isWrite)
          isCandidate |= candidates.contains(reg);
        else if (isCandidate)
          changed |= candidates.insert(reg).second;
      });
    }
  }
  std::vector<int> list(candidates.begin(), candidates.end());
  llvm::sort(list);
  return list;
}

/// The bits that stand for the lowest bytes of a register.
static uint16_t lowest(unsigned bytes) {
  return static_cast<uint16_t>((uint32_t(1) << bytes) - 1);
}

/// Calls `take` for each source with the bytes that go into the `wanted` ones
/// of the result; false where the instruction is not followed byte by byte.
static bool
followBytes(const Instruction &instruction,
            llvm::function_ref<uint16_t(const Operand &)> wantedOf,
            llvm::function_ref<void(const Operand &, uint16_t)> take) {
  llvm::StringRef op = instruction.opcode;
  llvm::ArrayRef<Operand> operands = instruction.operands;
  if (operands.size() < 2)
    return false;
  const Operand &target = operands[0], &source = operands[1];
  std::optional<Type> type;
  for (llvm::StringRef word : llvm::reverse(instruction.modifiers))
    if ((type = parseTypeName(word)))
      break;
  if (!type)
    return false;
  if (op == "mov") {
    // The parts of a side lie in a row.
    auto partsOf = [](const Operand &side) -> llvm::ArrayRef<Operand> {
      return side.is(Operand::Kind::Vector)
                 ? llvm::ArrayRef<Operand>(side.elements)
                 : llvm::ArrayRef<Operand>(side);
    };
    uint16_t wanted = 0;
    auto bytesOf = [&](llvm::ArrayRef<Operand> parts) {
      return static_cast<unsigned>(type->bytes() / parts.size());
    };
    llvm::ArrayRef<Operand> to = partsOf(target), from = partsOf(source);
    for (auto [i, part] : llvm::enumerate(to))
      wanted |= static_cast<uint16_t>((wantedOf(part) & lowest(bytesOf(to)))
                                      << i * bytesOf(to));
    for (auto [i, part] : llvm::enumerate(from))
      take(part, static_cast<uint16_t>(wanted >> i * bytesOf(from)) &
                     lowest(bytesOf(from)));
    return true;
  }
  uint16_t wanted = wantedOf(target);
  if (op == "cvt") {
    std::optional<Type> to = parseTypeName(instruction.modifiers.front());
    if (instruction.modifiers.size() != 2 || !to || !to->isInteger() ||
        !type->isInteger())
      return false;
    wanted &= lowest(to->bytes());
    uint16_t held = lowest(type->bytes());
    // A sign fills what lies beyond it.
    bool takesSign = type->isSigned() && (wanted & ~held);
    take(source,
         (wanted & held) | (takesSign ? held & ~(held >> 1) : uint16_t(0)));
    return true;
  }
  if (op == "prmt") {
    for (const Operand &operand : operands.drop_front())
      take(operand, findPickedBytes(instruction, operand, wanted));
    return true;
  }
  if (op == "and" || op == "or" || op == "xor") {
    // Zeros of a literal mask keep nothing.
    if (op == "and" && operands.back().is(Operand::Kind::Integer))
      for (unsigned byte = 0; byte < 8; ++byte)
        if (!(operands.back().bits >> 8 * byte & 255))
          wanted &= static_cast<uint16_t>(~(1 << byte));
    for (const Operand &operand : operands.drop_front())
      take(operand, wanted);
    return true;
  }
  return false;
}

std::vector<uint16_t> tile::emulator::findReadBytes(const Function &function) {
  std::vector<uint16_t> bytes(function.registers.size());
  bool changed = true;
  auto take = [&](int reg, uint16_t taken) {
    changed |= (taken & ~bytes[reg]) != 0;
    bytes[reg] |= taken;
  };
  // Nearly all uses follow the load: backwards, once is mostly enough.
  while (changed) {
    changed = false;
    for (const Instruction &instruction : llvm::reverse(function.code)) {
      bool isFollowed = followBytes(
          instruction,
          [&](const Operand &target) {
            return target.is(Operand::Kind::Register) ? bytes[target.reg]
                                                      : uint16_t(0);
          },
          [&](const Operand &source, uint16_t taken) {
            if (source.is(Operand::Kind::Register))
              take(source.reg, taken);
          });
      if (instruction.predicate >= 0)
        take(instruction.predicate, lowest(16));
      if (!isFollowed)
        forEachRegister(instruction, [&](int reg, bool isWrite) {
          if (!isWrite)
            take(reg, lowest(16));
        });
    }
  }
  return bytes;
}

std::vector<int> tile::emulator::findAsyncRegisters(const Function &function) {
  std::vector<int> list;
  llvm::DenseSet<int> seen;
  for (const Instruction &instruction : function.code) {
    if (instruction.opcode != "wgmma" ||
        !llvm::is_contained(instruction.modifiers, "mma_async"))
      continue;
    for (size_t i = 0; i < instruction.operands.size() && i < 2; ++i)
      if (instruction.operands[i].is(Operand::Kind::Vector))
        visitOperand(instruction.operands[i], false, [&](int reg, bool) {
          if (seen.insert(reg).second)
            list.push_back(reg);
        });
  }
  return list;
}
