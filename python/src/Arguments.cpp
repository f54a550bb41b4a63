//===- Arguments.cpp - Arrays of Python as arguments of a kernel -*- C++
//-*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "DLPack.h"
#include <cstring>

namespace py = pybind11;
using namespace tile::python;

Holder::~Holder() {
  for (int i = 0; i < numBuffers; ++i)
    PyBuffer_Release(&buffers[i]);
}

Py_buffer *Holder::addBuffer() {
  if (numBuffers == kMaxBuffers)
    throw py::value_error("a kernel has at most 64 arguments");
  return &buffers[numBuffers++];
}

void Holder::dropBuffer() { --numBuffers; }

namespace {

struct ElementType {
  tile_dtype dtype;
  int isUnsigned;
  int bytes;
};

constexpr ElementType kUnknown{TILE_DTYPE_NOT_SAID, -1, 0};

} // namespace

static ElementType getInteger(int bytes, bool isUnsigned) {
  switch (bytes) {
  case 1:
    return {TILE_I8, isUnsigned, 1};
  case 2:
    return {TILE_I16, isUnsigned, 2};
  case 4:
    return {TILE_I32, isUnsigned, 4};
  case 8:
    return {TILE_I64, isUnsigned, 8};
  default:
    return kUnknown;
  }
}

static ElementType getFloat(int bytes) {
  switch (bytes) {
  case 2:
    return {TILE_F16, -1, 2};
  case 4:
    return {TILE_F32, -1, 4};
  case 8:
    return {TILE_F64, -1, 8};
  default:
    return kUnknown;
  }
}

/// Types by the names that torch, ml_dtypes and JAX give them.
static ElementType getNamed(const char *name) {
  static const struct {
    const char *name;
    ElementType type;
  } kTypes[] = {
      {"float64", {TILE_F64, -1, 8}},
      {"float32", {TILE_F32, -1, 4}},
      {"float16", {TILE_F16, -1, 2}},
      {"bfloat16", {TILE_BF16, -1, 2}},
      {"float8_e4m3fn", {TILE_F8E4M3FN, -1, 1}},
      {"float8_e5m2", {TILE_F8E5M2, -1, 1}},
      {"int64", {TILE_I64, 0, 8}},
      {"int32", {TILE_I32, 0, 4}},
      {"int16", {TILE_I16, 0, 2}},
      {"int8", {TILE_I8, 0, 1}},
      {"uint64", {TILE_I64, 1, 8}},
      {"uint32", {TILE_I32, 1, 4}},
      {"uint16", {TILE_I16, 1, 2}},
      {"uint8", {TILE_I8, 1, 1}},
      {"bool", {TILE_I1, -1, 1}},
  };
  for (const auto &each : kTypes)
    if (!std::strcmp(each.name, name))
      return each.type;
  return kUnknown;
}

const char *tile::python::getName(tile_dtype dtype, bool isUnsigned) {
  switch (dtype) {
  case TILE_F64:
    return "float64";
  case TILE_F32:
    return "float32";
  case TILE_F16:
    return "float16";
  case TILE_BF16:
    return "bfloat16";
  case TILE_F8E4M3FN:
    return "float8_e4m3fn";
  case TILE_F8E5M2:
    return "float8_e5m2";
  case TILE_I64:
    return isUnsigned ? "uint64" : "int64";
  case TILE_I32:
    return isUnsigned ? "uint32" : "int32";
  case TILE_I16:
    return isUnsigned ? "uint16" : "int16";
  case TILE_I8:
    return isUnsigned ? "uint8" : "int8";
  case TILE_I4:
    return isUnsigned ? "uint4" : "int4";
  case TILE_I1:
    return "bool";
  default:
    return "unknown";
  }
}

[[noreturn]] static void refuse(const Parameter &parameter,
                                const std::string &why) {
  throw py::value_error("argument '" + parameter.name + "': " + why);
}

static void setType(Argument &argument, ElementType type) {
  argument.dtype = type.dtype;
  argument.isUnsigned = type.isUnsigned;
}

static void setRank(Argument &argument, int64_t rank,
                    const Parameter &parameter) {
  if (rank > kMaxRank)
    refuse(parameter, "has more than 16 dimensions");
  argument.rank = static_cast<int>(rank);
}

/// Strides of a dense array.
static void setDense(Argument &argument) {
  int64_t stride = 1;
  for (int i = argument.rank; i-- > 0;) {
    argument.strides[i] = stride;
    stride *= argument.shape[i];
  }
}

static int64_t toInteger(PyObject *object) {
  int64_t value = PyLong_AsLongLong(object);
  if (value == -1 && PyErr_Occurred())
    throw py::error_already_set();
  return value;
}

//===----------------------------------------------------------------------===//
// torch
//===----------------------------------------------------------------------===//

namespace {

/// What is needed of torch, once it has been imported by someone.
struct Torch {
  PyTypeObject *tensor = nullptr;
  /// Of torch from 2.10 on; reads a tensor in a tenth of the time.
  const DLPackExchangeAPI *exchange = nullptr;
  PyObject *getRawStream = nullptr;
  std::vector<std::pair<PyObject *, ElementType>> types;

  static Torch *get() {
    static Torch torch;
    if (!torch.tensor && !torch.load())
      return nullptr;
    return &torch;
  }

private:
  bool load() {
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *module = PyDict_GetItemString(modules, "torch");
    if (!module)
      return false;
    // Being imported right now, perhaps.
    PyObject *type = PyObject_GetAttrString(module, "Tensor");
    if (!type) {
      PyErr_Clear();
      return false;
    }
    for (const char *name :
         {"float64", "float32", "float16", "bfloat16", "float8_e4m3fn",
          "float8_e5m2", "int64", "int32", "int16", "int8", "uint64", "uint32",
          "uint16", "uint8", "bool"}) {
      if (PyObject *dtype = PyObject_GetAttrString(module, name))
        types.emplace_back(dtype, getNamed(name));
      else
        PyErr_Clear();
    }
    if (PyObject *inner = PyObject_GetAttrString(module, "_C")) {
      getRawStream = PyObject_GetAttrString(inner, "_cuda_getCurrentRawStream");
      Py_DECREF(inner);
    }
    PyErr_Clear();
    if (PyObject *capsule =
            PyObject_GetAttrString(type, "__dlpack_c_exchange_api__")) {
      auto *found = static_cast<const DLPackExchangeAPI *>(
          PyCapsule_GetPointer(capsule, kExchangeCapsule));
      if (found && found->major == kDLMajor && found->read && found->getStream)
        exchange = found;
      Py_DECREF(capsule);
    }
    PyErr_Clear();
    tensor = reinterpret_cast<PyTypeObject *>(type);
    return true;
  }
};

} // namespace

static py::object call(PyObject *object, const char *method) {
  PyObject *result = PyObject_CallMethod(object, method, nullptr);
  if (!result)
    throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

static void readTuple(PyObject *tuple, int64_t *values) {
  for (Py_ssize_t i = 0, e = PyTuple_GET_SIZE(tuple); i < e; ++i)
    values[i] = toInteger(PyTuple_GET_ITEM(tuple, i));
}

static ElementType getDLType(const DLDataType &type);

static void copyTensor(const DLTensor &tensor, const Parameter &parameter,
                       Argument &argument) {
  ElementType type = getDLType(tensor.dtype);
  if (type.dtype == TILE_DTYPE_NOT_SAID)
    refuse(parameter, "has an element type that kernels do not have");
  setType(argument, type);
  setRank(argument, tensor.ndim, parameter);
  argument.address =
      reinterpret_cast<uint64_t>(tensor.data) + tensor.byteOffset;
  std::copy(tensor.shape, tensor.shape + tensor.ndim, argument.shape);
  if (tensor.strides)
    std::copy(tensor.strides, tensor.strides + tensor.ndim, argument.strides);
  else
    setDense(argument);
  argument.isOnDevice =
      tensor.device.type != kDLCPU && tensor.device.type != kDLCUDAHost;
  argument.device = tensor.device.id;
}

static void readTorch(PyObject *tensor, const Torch &torch,
                      const Parameter &parameter, Argument &argument) {
  argument.isTorch = true;
  DLTensor view;
  if (torch.exchange && !torch.exchange->read(tensor, &view))
    return copyTensor(view, parameter, argument);
  // What it does not take, such as a tensor without memory, has a better
  // message below.
  PyErr_Clear();
  py::object shape = py::reinterpret_steal<py::object>(
      PyObject_GetAttrString(tensor, "shape"));
  py::object strides = call(tensor, "stride");
  py::object dtype = py::reinterpret_steal<py::object>(
      PyObject_GetAttrString(tensor, "dtype"));
  if (!shape || !PyTuple_Check(shape.ptr()) || !PyTuple_Check(strides.ptr()))
    refuse(parameter, "is a tensor without a shape");
  setRank(argument, PyTuple_GET_SIZE(shape.ptr()), parameter);
  readTuple(shape.ptr(), argument.shape);
  readTuple(strides.ptr(), argument.strides);
  for (const auto &[object, type] : torch.types)
    if (object == dtype.ptr())
      setType(argument, type);
  if (argument.dtype == TILE_DTYPE_NOT_SAID)
    refuse(parameter, "has the element type " +
                          py::str(dtype).cast<std::string>() +
                          ", which kernels do not have");
  argument.address = PyLong_AsUnsignedLongLong(call(tensor, "data_ptr").ptr());
  int64_t device = toInteger(call(tensor, "get_device").ptr());
  argument.isOnDevice = device >= 0;
  argument.device = static_cast<int>(device);
}

//===----------------------------------------------------------------------===//
// Protocols
//===----------------------------------------------------------------------===//

static ElementType getBufferType(const Py_buffer &buffer) {
  const char *format = buffer.format ? buffer.format : "B";
  if (*format == '@' || *format == '=' || *format == '<')
    ++format;
  if (!format[0] || format[1])
    return kUnknown;
  int bytes = static_cast<int>(buffer.itemsize);
  if (std::strchr("efd", *format))
    return getFloat(bytes);
  if (std::strchr("bhilqn", *format))
    return getInteger(bytes, false);
  if (std::strchr("BHILQN", *format))
    return getInteger(bytes, true);
  if (*format == '?')
    return {TILE_I1, -1, 1};
  return kUnknown;
}

/// Whether the object's buffer could be read.
static bool readBuffer(PyObject *object, const Parameter &parameter,
                       Argument &argument, Holder &holder) {
  Py_buffer *buffer = holder.addBuffer();
  int flags = PyBUF_STRIDES | PyBUF_FORMAT;
  if (PyObject_GetBuffer(object, buffer,
                         parameter.isWritten ? flags | PyBUF_WRITABLE
                                             : flags)) {
    PyErr_Clear();
    holder.dropBuffer();
    return false;
  }
  ElementType type = getBufferType(*buffer);
  if (type.dtype == TILE_DTYPE_NOT_SAID)
    return false;
  setType(argument, type);
  setRank(argument, buffer->ndim, parameter);
  argument.address = reinterpret_cast<uint64_t>(buffer->buf);
  for (int i = 0; i < buffer->ndim; ++i) {
    argument.shape[i] = buffer->shape[i];
    if (buffer->strides[i] % buffer->itemsize)
      refuse(parameter, "has strides that are no multiples of its elements");
    argument.strides[i] = buffer->strides[i] / buffer->itemsize;
  }
  return true;
}

static ElementType getTypestr(const std::string &text, PyObject *object) {
  // Bytes the other way round are not those of a kernel.
  if (text.size() < 3 || text[0] == '>')
    return kUnknown;
  int bytes = std::atoi(text.c_str() + 2);
  switch (text[1]) {
  case 'f':
    if (bytes > 1)
      return getFloat(bytes);
    break;
  case 'i':
    return getInteger(bytes, false);
  case 'u':
    return getInteger(bytes, true);
  case 'b':
    return {TILE_I1, -1, 1};
  default:
    break;
  }
  // NumPy knows the types of ml_dtypes by their names only.
  py::handle handle(object);
  if (py::hasattr(handle, "dtype")) {
    py::str name(py::getattr(handle.attr("dtype"), "name", py::str("")));
    return getNamed(name.cast<std::string>().c_str());
  }
  return kUnknown;
}

static bool readInterface(PyObject *object, const char *name, bool isOnDevice,
                          const Parameter &parameter, Argument &argument,
                          Holder &holder) {
  PyObject *found = PyObject_GetAttrString(object, name);
  if (!found) {
    PyErr_Clear();
    return false;
  }
  py::dict interface = py::reinterpret_steal<py::dict>(found);
  holder.keep(interface);
  ElementType type =
      getTypestr(interface["typestr"].cast<std::string>(), object);
  if (type.dtype == TILE_DTYPE_NOT_SAID)
    return false;
  setType(argument, type);
  py::tuple shape = interface["shape"];
  setRank(argument, static_cast<int64_t>(shape.size()), parameter);
  readTuple(shape.ptr(), argument.shape);
  py::tuple data = interface["data"];
  argument.address = data[0].cast<uint64_t>();
  if (parameter.isWritten && data[1].cast<bool>())
    refuse(parameter, "is read-only, and the kernel writes it");
  py::object strides =
      interface.contains("strides") ? interface["strides"] : py::none();
  if (strides.is_none()) {
    setDense(argument);
  } else {
    readTuple(strides.ptr(), argument.strides);
    for (int i = 0; i < argument.rank; ++i) {
      if (argument.strides[i] % type.bytes)
        refuse(parameter, "has strides that are no multiples of its elements");
      argument.strides[i] /= type.bytes;
    }
  }
  argument.isOnDevice = isOnDevice;
  argument.isCupy = isOnDevice;
  return true;
}

static ElementType getDLType(const DLDataType &type) {
  if (type.lanes != 1)
    return kUnknown;
  int bytes = type.bits / 8;
  switch (type.code) {
  case kDLInt:
    return getInteger(bytes, false);
  case kDLUInt:
    return getInteger(bytes, true);
  case kDLFloat:
    return getFloat(bytes);
  case kDLBfloat:
    return {TILE_BF16, -1, 2};
  case kDLBool:
    return {TILE_I1, -1, 1};
  case kDLFloat8E4M3FN:
    return {TILE_F8E4M3FN, -1, 1};
  case kDLFloat8E5M2:
    return {TILE_F8E5M2, -1, 1};
  default:
    return kUnknown;
  }
}

static bool readDLPack(PyObject *object, const Parameter &parameter,
                       Argument &argument, Holder &holder) {
  if (!PyObject_HasAttrString(object, "__dlpack__"))
    return false;
  PyObject *made = PyObject_CallMethod(object, "__dlpack__", nullptr);
  if (!made) {
    PyErr_Clear();
    return false;
  }
  py::object capsule = py::reinterpret_steal<py::object>(made);
  const DLTensor *tensor = nullptr;
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    tensor = &static_cast<DLManagedTensor *>(
                  PyCapsule_GetPointer(capsule.ptr(), "dltensor"))
                  ->tensor;
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto *managed = static_cast<DLManagedTensorVersioned *>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (parameter.isWritten && (managed->flags & kDLReadOnly))
      refuse(parameter, "is read-only, and the kernel writes it");
    tensor = &managed->tensor;
  } else {
    return false;
  }
  holder.keep(capsule);
  copyTensor(*tensor, parameter, argument);
  return true;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The integers that a parameter takes; those of MLIR have no sign.
static void checkRange(int64_t value, bool isBig, const Parameter &parameter) {
  int bits = 64;
  switch (parameter.dtype) {
  case TILE_I32:
    bits = 32;
    break;
  case TILE_I16:
    bits = 16;
    break;
  case TILE_I8:
    bits = 8;
    break;
  case TILE_I4:
    bits = 4;
    break;
  case TILE_I1:
    bits = 1;
    break;
  default:
    break;
  }
  bool mayBeSigned = parameter.isUnsigned != 1 && bits > 1;
  bool mayBeUnsigned = parameter.isUnsigned != 0 || bits == 1;
  int64_t low = mayBeSigned ? -(int64_t(1) << (bits - 2)) * 2 : 0;
  uint64_t high = ~uint64_t(0) >> (64 - bits + (mayBeUnsigned ? 0 : 1));
  bool fits =
      isBig || value >= 0 ? static_cast<uint64_t>(value) <= high : value >= low;
  if (!fits)
    refuse(parameter, std::string("does not fit ") +
                          getName(parameter.dtype, parameter.isUnsigned == 1) +
                          ", which goes from " + std::to_string(low) + " to " +
                          std::to_string(high));
}

static void readScalar(PyObject *object, const Parameter &parameter,
                       Argument &argument) {
  if (parameter.dtype == TILE_F64 || parameter.dtype == TILE_F32 ||
      parameter.dtype == TILE_F16 || parameter.dtype == TILE_BF16) {
    argument.real = PyFloat_AsDouble(object);
    if (argument.real == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      refuse(parameter, "expected a number");
    }
    return;
  }
  PyObject *whole = PyNumber_Index(object);
  if (!whole) {
    PyErr_Clear();
    refuse(parameter, "expected an integer");
  }
  py::object owned = py::reinterpret_steal<py::object>(whole);
  int overflow = 0;
  argument.integer = PyLong_AsLongLongAndOverflow(whole, &overflow);
  if (overflow > 0)
    argument.integer = static_cast<int64_t>(PyLong_AsUnsignedLongLong(whole));
  if (PyErr_Occurred() || overflow < 0) {
    PyErr_Clear();
    refuse(parameter, "does not fit 64 bits");
  }
  checkRange(argument.integer, overflow > 0, parameter);
}

/// Two 4-bit elements in each byte, as Python has them, count one by one.
static void unpack(Argument &argument) {
  for (int i = 0; i + 1 < argument.rank; ++i)
    argument.strides[i] *= 2;
  argument.shape[argument.rank - 1] *= 2;
  argument.dtype = TILE_I4;
}

void tile::python::readArgument(PyObject *object, const Parameter &parameter,
                                Argument &argument, Holder &holder) {
  if (parameter.isScalar)
    return readScalar(object, parameter, argument);
  Torch *torch = Torch::get();
  if (torch && PyObject_TypeCheck(object, torch->tensor)) {
    readTorch(object, *torch, parameter, argument);
  } else if (!(PyObject_CheckBuffer(object) &&
               readBuffer(object, parameter, argument, holder)) &&
             !readInterface(object, "__cuda_array_interface__", true, parameter,
                            argument, holder) &&
             !readInterface(object, "__array_interface__", false, parameter,
                            argument, holder) &&
             !readDLPack(object, parameter, argument, holder)) {
    py::handle array(object);
    if (py::hasattr(array, "shape") && py::hasattr(array, "dtype"))
      refuse(parameter,
             std::string("expected elements of ") +
                 getName(parameter.dtype, parameter.isUnsigned == 1) +
                 ", got " + py::str(array.attr("dtype")).cast<std::string>() +
                 ", which kernels do not have");
    refuse(parameter, std::string("expected an array (NumPy, torch, CuPy, JAX, "
                                  "or anything with DLPack), got ") +
                          Py_TYPE(object)->tp_name);
  }
  if (parameter.dtype == TILE_I4 && argument.dtype == TILE_I8 && argument.rank)
    unpack(argument);
  if (argument.dtype != parameter.dtype ||
      (parameter.isUnsigned >= 0 && argument.isUnsigned >= 0 &&
       parameter.dtype != TILE_I4 &&
       argument.isUnsigned != parameter.isUnsigned))
    refuse(parameter, std::string("expected elements of ") +
                          getName(parameter.dtype, parameter.isUnsigned == 1) +
                          ", got " +
                          getName(argument.dtype, argument.isUnsigned == 1));
}

uint64_t tile::python::getStream(const Argument &argument) {
  if (argument.isTorch) {
    Torch *torch = Torch::get();
    void *current = nullptr;
    if (torch && torch->exchange &&
        !torch->exchange->getStream(kDLCUDA, argument.device, &current))
      return reinterpret_cast<uint64_t>(current);
    PyErr_Clear();
    if (!torch || !torch->getRawStream)
      return 0;
    PyObject *stream =
        PyObject_CallFunction(torch->getRawStream, "i", argument.device);
    if (!stream)
      throw py::error_already_set();
    uint64_t value = PyLong_AsUnsignedLongLong(stream);
    Py_DECREF(stream);
    return value;
  }
  if (argument.isCupy) {
    PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), "cupy");
    if (!module)
      return 0;
    py::object stream =
        py::handle(module).attr("cuda").attr("get_current_stream")();
    return stream.attr("ptr").cast<uint64_t>();
  }
  return 0;
}
