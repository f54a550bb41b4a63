//===- Expected.h - A value or the reason there is none ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout algebra is partial: a composition may have no strided form, a text
// may not parse. Such failures are values that carry a sentence a diagnostic
// can quote. (llvm::Expected would bring LLVM, and aborts when it goes
// unchecked.)
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_EXPECTED_H
#define TILE_LAYOUT_EXPECTED_H

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace tile::layout {

/// Why an operation has no result: lower case, no full stop.
struct Failure {
  std::string reason;
};

template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : storage(std::move(value)) {}
  Expected(Failure failure) : storage(std::move(failure)) {}

  explicit operator bool() const { return storage.index() == 0; }

  T &operator*() {
    assert(*this && "no value: ask before taking it");
    return *std::get_if<T>(&storage);
  }
  const T &operator*() const {
    assert(*this && "no value: ask before taking it");
    return *std::get_if<T>(&storage);
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }

  /// The reason of a failure; empty on success.
  std::string reason() const {
    const Failure *failure = std::get_if<Failure>(&storage);
    return failure ? failure->reason : std::string();
  }
  Failure failure() const { return Failure{reason()}; }

private:
  std::variant<T, Failure> storage;
};

} // namespace tile::layout

#endif // TILE_LAYOUT_EXPECTED_H
