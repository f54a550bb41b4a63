//===- Convergence.cpp - Loops that may part a warp ------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes that go round on an edge of their own need not wait for the others: to
// ptxas that edge is an inner loop, which the others have left. Where a loop
// has two entries there is no place before it where all could meet.
//===----------------------------------------------------------------------===//
#include "Convergence.h"
#include "Uniformity.h"

using namespace tile::emulator;
using namespace tile::emulator::ptx;

/// Whether PTX lets a warp come to it only as one. A `shfl.sync` waits for the
/// lanes it names, together or not.
static bool isAligned(const Instruction &instruction) {
  if (instruction.opcode == "bar")
    return !llvm::is_contained(instruction.modifiers, "warp");
  return llvm::is_contained(instruction.modifiers, "aligned");
}

namespace {
struct Suspect {
  const ControlFlow::Cycle *cycle;
  const Instruction *aligned;
  llvm::SmallVector<int, 2> latches; // of a loop with one entry
};
} // namespace

static std::vector<Suspect> findSuspects(const ControlFlow &flow) {
  std::vector<Suspect> suspects;
  for (const ControlFlow::Cycle &cycle : flow.cycles) {
    Suspect suspect{&cycle, nullptr, {}};
    if (cycle.entries.size() == 1)
      for (int block : flow.blocks[cycle.entries[0]].predecessors)
        if (cycle.blocks.test(block))
          suspect.latches.push_back(block);
    if (suspect.latches.size() == 1)
      continue;
    for (unsigned block : cycle.blocks.set_bits())
      for (int i = flow.blocks[block].first; i < flow.blocks[block].end; ++i)
        if (!suspect.aligned && isAligned(flow.function.code[i]))
          suspect.aligned = &flow.function.code[i];
    if (suspect.aligned)
      suspects.push_back(std::move(suspect));
  }
  return suspects;
}

static std::string listLines(const ControlFlow &flow,
                             llvm::ArrayRef<int> instructions) {
  std::string text;
  for (size_t i = 0; i < instructions.size(); ++i)
    text += (i == 0                         ? ""
             : i + 1 == instructions.size() ? " and "
                                            : ", ") +
            std::to_string(flow.function.code[instructions[i]].line);
  return text;
}

std::vector<ConvergenceFault>
tile::emulator::findConvergenceFaults(const Function &function) {
  std::vector<ConvergenceFault> faults;
  ControlFlow flow(function);
  std::vector<Suspect> suspects = findSuspects(flow);
  if (suspects.empty())
    return faults;
  llvm::BitVector divergent = findDivergentBranches(flow);
  llvm::BitVector everywhere(flow.blocks.size(), true);
  for (const Suspect &suspect : suspects) {
    bool hasEntries = suspect.cycle->entries.size() > 1;
    for (unsigned branch : divergent.set_bits()) {
      bool parts = false;
      std::string shape;
      if (!hasEntries) {
        if (!suspect.cycle->blocks.test(branch))
          continue;
        int start = suspect.cycle->entries[0];
        parts = Ways(flow, branch, suspect.cycle->blocks, start)
                    .meetAt(start, suspect.latches);
        llvm::SmallVector<int, 2> ends;
        for (int latch : suspect.latches)
          ends.push_back(
              std::max(flow.blocks[latch].first, flow.blocks[latch].end - 1));
        shape = "goes back to line " +
                listLines(flow, flow.blocks[start].first) + " from lines " +
                listLines(flow, ends);
      } else {
        // Inside, or in front with its sides going in at different entries.
        parts = suspect.cycle->blocks.test(branch);
        if (!parts) {
          Ways ways(flow, branch, everywhere, /*end=*/-1);
          for (int entry : suspect.cycle->entries)
            parts |= ways.meetAt(entry, flow.blocks[entry].predecessors);
        }
        llvm::SmallVector<int, 2> starts;
        for (int entry : suspect.cycle->entries)
          starts.push_back(flow.blocks[entry].first);
        shape = "is entered at lines " + listLines(flow, starts);
      }
      if (!parts)
        continue;
      faults.push_back(
          {suspect.aligned, flow.lastOf(branch),
           "a warp must come here as one, in a loop that " + shape +
               " by a branch that depends on the thread: nothing makes its "
               "threads meet before the next round"});
      break;
    }
  }
  return faults;
}
