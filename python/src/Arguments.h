//===- Arguments.h - Arrays of Python as arguments of a kernel --*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads address, shape and strides out of whatever holds an array: a tensor of
// torch, a buffer, __cuda_array_interface__, __array_interface__ or DLPack, in
// this order. Nothing is copied. Called at every launch, so the common cases
// take no detour through Python code.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_PYTHON_ARGUMENTS_H
#define TILE_PYTHON_ARGUMENTS_H

#include "Tile/C/TileRuntime.h"
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

namespace tile::python {

constexpr int kMaxRank = 16;

/// A parameter, as the program declares it.
struct Parameter {
  std::string name;
  bool isScalar;
  bool isWritten;
  tile_dtype dtype;
  /// 1 for an unsigned integer, 0 for a signed one, -1 where both will do.
  int isUnsigned;
  /// For each dimension the number of the symbol it must agree with, or -1.
  std::vector<int> symbols;
};

/// An array that has been read.
struct Argument {
  uint64_t address = 0;
  int64_t shape[kMaxRank];
  int64_t strides[kMaxRank];
  int rank = 0;
  tile_dtype dtype = TILE_DTYPE_NOT_SAID;
  int isUnsigned = -1;
  bool isOnDevice = false;
  /// Tensors of torch and cupy name the stream to use; see getStream.
  bool isTorch = false;
  bool isCupy = false;
  /// The GPU's number, or -1 where the array does not say.
  int device = -1;
  int64_t integer = 0;
  double real = 0;
};

/// Keeps what was read alive until the launch is done.
class Holder {
public:
  Holder() = default;
  Holder(const Holder &) = delete;
  Holder &operator=(const Holder &) = delete;
  ~Holder();

  Py_buffer *addBuffer();
  void dropBuffer();
  void keep(pybind11::object object) { objects.push_back(std::move(object)); }

private:
  static constexpr int kMaxBuffers = 64;
  Py_buffer buffers[kMaxBuffers];
  int numBuffers = 0;
  std::vector<pybind11::object> objects;
};

/// Reads an argument. Throws pybind11::value_error or type_error with a message
/// that names the parameter.
void readArgument(PyObject *object, const Parameter &parameter,
                  Argument &argument, Holder &holder);

/// The stream on which the caller works: that of the library whose arrays they
/// are, else the default one.
uint64_t getStream(const Argument &argument);

/// The name of an element type as Python users know it.
const char *getName(tile_dtype dtype, bool isUnsigned);

} // namespace tile::python

#endif // TILE_PYTHON_ARGUMENTS_H
