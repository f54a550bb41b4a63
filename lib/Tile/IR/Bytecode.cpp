//===- Bytecode.cpp - The version of the dialect in bytecode ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes and types are written in their textual form, which is MLIR's own
// fallback: they are few and small beside the code.
//
//===----------------------------------------------------------------------===//

#include "Bytecode.h"
#include "Tile/IR/TileDialect.h"
#include "Tile/IR/Version.h"

using namespace mlir;
using namespace tile;

namespace {
struct TileBytecodeInterface : BytecodeDialectInterface {
  // The inherited constructor is protected.
  explicit TileBytecodeInterface(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const final {
    // A writer may be told to name another version.
    FailureOr<const DialectVersion *> wanted =
        writer.getDialectVersion<TileDialect>();
    Version version = succeeded(wanted) ? *static_cast<const Version *>(*wanted)
                                        : Version::current();
    writer.writeVarInt(version.majorNumber);
    writer.writeVarInt(version.minorNumber);
  }

  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const final {
    uint64_t majorNumber, minorNumber;
    if (failed(reader.readVarInt(majorNumber)) ||
        failed(reader.readVarInt(minorNumber)))
      return nullptr;
    Version version(majorNumber, minorNumber), current = Version::current();
    if (version.isNewerThan(current)) {
      reader.emitError() << "was written with version " << majorNumber << '.'
                         << minorNumber
                         << " of the tile dialect, which is newer than "
                         << current.majorNumber << '.' << current.minorNumber
                         << ", the newest that this reader knows";
      return nullptr;
    }
    return std::make_unique<Version>(version);
  }
};
} // namespace

void tile::addBytecodeInterface(TileDialect &dialect) {
  dialect.addInterfaces<TileBytecodeInterface>();
}
