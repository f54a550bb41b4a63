//===- LoweringAsync.cpp - mbarrier and asynchronous copies ----*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA sections "mbarrier", "Data Movement and Conversion: Asynchronous
// copy" and "Tensor copy".
//===----------------------------------------------------------------------===//
#include "AsyncSites.h"
#include "Lowering.h"

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::StringRef;
using llvm::Value;

void FunctionLowering::lowerMbarrier(Inst &I) {
  auto *site = image.addSite<MBarrierSite>();
  fillSite(*site, I);
  if (I.take("pending_count")) {
    requireType(I);
    return write(I, 0,
                 callRuntime("tileEmuPendingCount", B.getInt32Ty(),
                             {thread, read(I, 1, 64)}));
  }
  int action = I.takeOneOf({"init", "inval", "complete_tx", "arrive",
                            "arrive_drop", "test_wait", "try_wait"});
  bool expects = I.take("expect_tx");
  site->noComplete = I.take("noComplete");
  site->byParity = I.take("parity");
  site->isRelaxed = I.takeOneOf({"relaxed", "release", "acquire"}) == 0;
  I.takeOneOf({"cta", "cluster"});
  site->space = takeSpace(I);
  requireType(I);
  if (action < 0 && !expects)
    return fail(I, "expected an operation, such as .arrive");
  unsigned at = 0;
  while (at < I.count() && !I.operand(at).is(Operand::Kind::Address))
    ++at;
  if (at >= I.count())
    return fail(I, "expected the address of a barrier");
  bool hasDestination = at > 0;
  unsigned arguments = I.count() - at - 1;
  Value *where = address(I, at, site->space);
  Value *argument = B.getInt64(0);
  switch (action) {
  case 0:
    site->action = MBarrierAction::Init;
    if (arguments < 1)
      return fail(I, "expected a count");
    argument = read(I, at + 1, 32);
    break;
  case 1:
    site->action = MBarrierAction::Invalidate;
    break;
  case 2:
    site->action = MBarrierAction::CompleteTx;
    if (arguments < 1)
      return fail(I, "expected a byte count");
    argument = read(I, at + 1, 32);
    break;
  case 3:
  case 4:
    site->action =
        expects ? MBarrierAction::ArriveExpectTx : MBarrierAction::Arrive;
    site->drops = action == 4;
    argument = arguments >= 1 ? read(I, at + 1, 32) : B.getInt32(1);
    if (expects && arguments < 1)
      return fail(I, "expected a byte count");
    break;
  case 5:
  case 6:
    site->action =
        action == 5 ? MBarrierAction::TestWait : MBarrierAction::TryWait;
    if (!hasDestination || arguments < 1)
      return fail(I, "expected a predicate, a barrier and a phase");
    argument = read(I, at + 1, site->byParity ? 32 : 64);
    break;
  default:
    site->action = MBarrierAction::ExpectTx;
    if (arguments < 1)
      return fail(I, "expected a byte count");
    argument = read(I, at + 1, 32);
  }
  site->isVoid = !hasDestination || I.operand(0).is(Operand::Kind::Sink);
  Value *result = callRuntime("tileEmuMBarrier", B.getInt64Ty(),
                              {thread, sitePointer(site), where,
                               B.CreateZExt(argument, B.getInt64Ty())});
  if (!hasDestination)
    return;
  bool isWait = action == 5 || action == 6;
  write(I, 0, isWait ? B.CreateTrunc(result, B.getInt1Ty()) : result);
}

void FunctionLowering::lowerCp(Inst &I) {
  bool isReduction = I.take("reduce");
  if (!I.take("async"))
    return fail(I, "expected .async");
  bool isBulk = I.take("bulk");
  bool isPrefetch = isBulk && I.take("prefetch");
  if (I.take("commit_group")) {
    callRuntime(isBulk ? "tileEmuBulkCommit" : "tileEmuCopyCommit",
                B.getVoidTy(), {thread});
    return;
  }
  bool all = !isBulk && I.take("wait_all");
  if (all || I.take("wait_group")) {
    bool onlyRead = I.take("read");
    if (!all &&
        (!expectCount(I, 1, 1) || !I.operand(0).is(Operand::Kind::Integer)))
      return fail(I, "the number of groups must be a literal");
    Site *site = image.addSite<Site>();
    fillSite(*site, I);
    Value *pending =
        B.getInt32(all ? 0 : static_cast<unsigned>(I.operand(0).bits));
    if (isBulk)
      callRuntime("tileEmuBulkWait", B.getVoidTy(),
                  {thread, sitePointer(site), pending, B.getInt32(onlyRead)});
    else
      callRuntime("tileEmuCopyWait", B.getVoidTy(),
                  {thread, sitePointer(site), pending, B.getInt32(all)});
    return;
  }
  if (isBulk)
    return I.take("tensor") ? lowerBulkTensor(I, isReduction, isPrefetch)
                            : lowerBulkPlain(I, isReduction, isPrefetch);
  image.usesAsyncCopies = true;
  if (I.take("mbarrier")) {
    auto *site = image.addSite<MBarrierSite>();
    fillSite(*site, I);
    if (!I.take("arrive"))
      return fail(I, "expected .arrive");
    site->noComplete = I.take("noinc");
    site->space = takeSpace(I);
    requireType(I);
    callRuntime("tileEmuCopyArrive", B.getVoidTy(),
                {thread, sitePointer(site), address(I, 0, site->space)});
    return;
  }
  auto *site = image.addSite<AsyncCopySite>();
  fillSite(*site, I);
  if (I.takeOneOf({"ca", "cg"}) < 0)
    return fail(I, "expected .ca or .cg");
  I.takeOneOf({"shared", "shared::cta"});
  I.take("global");
  takeCacheHints(I);
  if (!expectCount(I, 3, 5) || !I.operand(2).is(Operand::Kind::Integer))
    return fail(I, "the size must be a literal");
  site->bytes = static_cast<unsigned>(I.operand(2).bits);
  if (site->bytes != 4 && site->bytes != 8 && site->bytes != 16)
    return fail(I,
                "the size must be 4, 8 or 16, got " + llvm::Twine(site->bytes));
  Value *sourceBytes = B.getInt32(site->bytes);
  bool hint = llvm::is_contained(I->modifiers, "L2::cache_hint");
  if (I.count() > (hint ? 4u : 3u)) {
    const Operand &extra = I.operand(3);
    bool isPredicate =
        extra.is(Operand::Kind::Register) &&
        function.registers[extra.reg].type.kind == TypeClass::Pred;
    if (isPredicate) // ignore-src: nothing is read, zeros arrive
      sourceBytes =
          B.CreateSelect(readPredicate(I, 3), B.getInt32(0), sourceBytes);
    else
      sourceBytes = read(I, 3, 32);
  }
  callRuntime("tileEmuCopyAsync", B.getVoidTy(),
              {thread, sitePointer(site), address(I, 0, Space::Shared),
               address(I, 1, Space::Global), sourceBytes});
}

static bool takeReduction(Inst &I, BulkSite &site) {
  int op = I.takeOneOf({"and", "or", "xor", "add", "inc", "dec", "min", "max"});
  if (op < 0)
    return false;
  site.reduction = static_cast<AtomicOp>(op);
  site.isReduction = true;
  return true;
}

void FunctionLowering::lowerBulkPlain(Inst &I, bool isReduce, bool isPrefetch) {
  if (isPrefetch)
    return I.takeAll();
  auto *site = image.addSite<BulkSite>();
  fillSite(*site, I);
  site->usesBarrier = I.take("mbarrier::complete_tx::bytes");
  bool group = I.take("bulk_group");
  if (site->usesBarrier == group)
    return fail(I, "expected .mbarrier::complete_tx::bytes or .bulk_group");
  site->isMulticast = I.take("multicast::cluster");
  takeCacheHints(I);
  // Destination and source spaces stand in this order.
  llvm::SmallVector<Space, 2> spaces;
  for (StringRef modifier : I->modifiers)
    if (modifier == "global")
      spaces.push_back(Space::Global);
    else if (modifier == "shared::cta" || modifier == "shared::cluster")
      spaces.push_back(Space::Shared);
  while (I.takeOneOf({"global", "shared::cta", "shared::cluster"}) >= 0)
    ;
  if (spaces.size() != 2)
    return fail(I, "expected the spaces of destination and source");
  site->way = spaces[0] == Space::Global   ? CopyWay::SharedToGlobal
              : spaces[1] == Space::Global ? CopyWay::GlobalToShared
                                           : CopyWay::SharedToShared;
  if (isReduce) {
    I.take("noftz");
    std::optional<Type> type = requireType(I);
    if (!takeReduction(I, *site) || !type)
      return fail(I, "expected a reduction, such as .add, and a type");
    site->type = *type;
  }
  unsigned needed = site->usesBarrier ? 4 : 3;
  if (site->isMulticast)
    ++needed;
  if (!expectCount(I, needed, needed + 1))
    return;
  auto spaceOf = [&](unsigned i) {
    return spaces[i] == Space::Global ? Space::Global : Space::SharedCluster;
  };
  callRuntime("tileEmuBulkCopy", B.getVoidTy(),
              {thread, sitePointer(site), address(I, 0, spaceOf(0)),
               address(I, 1, spaceOf(1)), read(I, 2, 32),
               site->usesBarrier ? address(I, 3, Space::SharedCluster)
                                 : static_cast<Value *>(B.getInt64(0)),
               site->isMulticast ? read(I, 4, 32) : B.getInt32(0)});
}

void FunctionLowering::lowerBulkTensor(Inst &I, bool isReduce,
                                       bool isPrefetch) {
  auto *site = image.addSite<BulkSite>();
  fillSite(*site, I);
  int rank = I.takeOneOf({"1d", "2d", "3d", "4d", "5d"}) + 1;
  if (rank < 1)
    return fail(I, "expected a rank from .1d to .5d");
  site->rank = static_cast<unsigned>(rank);
  I.take("tile");
  if (isPrefetch)
    return I.takeAll();
  site->usesBarrier = I.take("mbarrier::complete_tx::bytes");
  bool group = I.take("bulk_group");
  if (site->usesBarrier == group)
    return fail(I, "expected .mbarrier::complete_tx::bytes or .bulk_group");
  site->isMulticast = I.take("multicast::cluster");
  takeCacheHints(I);
  I.take("global");
  I.takeOneOf({"shared::cta", "shared::cluster"});
  if (isReduce && !takeReduction(I, *site))
    return fail(I, "expected a reduction, such as .add");
  site->way =
      site->usesBarrier ? CopyWay::GlobalToShared : CopyWay::SharedToGlobal;
  bool isLoad = site->usesBarrier;
  unsigned needed = (isLoad ? 3 : 2) + (site->isMulticast ? 1 : 0);
  if (!expectCount(I, needed, needed + 1))
    return;
  const Operand &tensor = I.operand(isLoad ? 1 : 0);
  if (!tensor.is(Operand::Kind::Address) || tensor.elements.size() != 2)
    return fail(I, "expected [tensor map, {coordinates}]");
  std::vector<const Operand *> coordinates = elementsOf(tensor.elements[1]);
  if (coordinates.size() != site->rank)
    return fail(I, "expected " + llvm::Twine(site->rank) +
                       " coordinates, got " + llvm::Twine(coordinates.size()));
  Value *list = scratch(64);
  for (size_t i = 0; i < coordinates.size(); ++i)
    B.CreateStore(B.CreateSExt(read(I, *coordinates[i], 32), B.getInt64Ty()),
                  scratchSlot(list, static_cast<unsigned>(i)));
  callRuntime("tileEmuBulkTensor", B.getVoidTy(),
              {thread, sitePointer(site),
               address(I, isLoad ? 0 : 1, Space::SharedCluster),
               addressOf(I, tensor, Space::Generic), list,
               isLoad ? address(I, 2, Space::SharedCluster)
                      : static_cast<Value *>(B.getInt64(0)),
               site->isMulticast ? read(I, 3, 32) : B.getInt32(0)});
}
