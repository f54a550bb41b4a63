//===- Result.h - A value or an error message -------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How every function of the runtime reports failure: a value or one error
// message in plain words. Nothing here throws, prints or aborts; reading the
// value of a failed result is a bug of the caller and asserts.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_RESULT_H
#define TILE_RUNTIME_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tile::runtime {

/// What went wrong, lower case and without a full stop, so that callers can
/// put their own context in front.
struct Error {
  std::string message;
};

/// Either a `T` or an `Error`; true when it holds the value.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() & { return *get(); }
  const T &operator*() const & { return *get(); }
  T operator*() && { return std::move(*get()); }
  T *operator->() { return get(); }
  const T *operator->() const { return get(); }

  const std::string &message() const { return error().message; }
  const Error &error() const {
    assert(state.index() == 1 && "no error in a result that succeeded");
    return *std::get_if<1>(&state);
  }

private:
  T *get() {
    assert(state.index() == 0 && "value of a failed result");
    return std::get_if<0>(&state);
  }
  const T *get() const { return const_cast<Result *>(this)->get(); }

  std::variant<T, Error> state;
};

/// Success without a value, or an `Error`.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return !failure; }
  const std::string &message() const { return error().message; }
  const Error &error() const {
    assert(failure && "no error in a result that succeeded");
    return *failure;
  }

private:
  std::optional<Error> failure;
};

using Status = Result<void>;

/// The same error with `context` and a colon in front.
inline Error addContext(const std::string &context, const Error &error) {
  return {context + ": " + error.message};
}

} // namespace tile::runtime

#endif // TILE_RUNTIME_RESULT_H
