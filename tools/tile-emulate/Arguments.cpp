//===- Arguments.cpp - Kernel arguments from the command line --*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Arguments.h. Halves are converted through LLVM's APFloat.
//===----------------------------------------------------------------------===//
#include "Arguments.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile::emulator;
using llvm::StringRef;

static unsigned bytesOf(StringRef type) {
  return llvm::StringSwitch<unsigned>(type)
      .Cases({"f16", "bf16", "i16", "u16"}, 2)
      .Cases({"f32", "i32", "u32"}, 4)
      .Cases({"f64", "i64", "u64"}, 8)
      .Cases({"i8", "u8"}, 1)
      .Default(0);
}

static uint64_t encode(StringRef type, double value) {
  auto narrow = [&](const llvm::fltSemantics &semantics) {
    llvm::APFloat number(value);
    bool lost;
    number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
    return number.bitcastToAPInt().getZExtValue();
  };
  if (type == "f16")
    return narrow(llvm::APFloat::IEEEhalf());
  if (type == "bf16")
    return narrow(llvm::APFloat::BFloat());
  if (type == "f32")
    return narrow(llvm::APFloat::IEEEsingle());
  if (type == "f64")
    return llvm::bit_cast<uint64_t>(value);
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

double HostBuffer::at(uint64_t index) {
  uint64_t bits = 0;
  std::memcpy(&bits, data() + index * elementBytes, elementBytes);
  auto widen = [&](const llvm::fltSemantics &semantics, unsigned width) {
    llvm::APFloat number(semantics, llvm::APInt(width, bits));
    bool lost;
    number.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &lost);
    return number.convertToDouble();
  };
  if (type == "f16")
    return widen(llvm::APFloat::IEEEhalf(), 16);
  if (type == "bf16")
    return widen(llvm::APFloat::BFloat(), 16);
  if (type == "f32")
    return widen(llvm::APFloat::IEEEsingle(), 32);
  if (type == "f64")
    return llvm::bit_cast<double>(bits);
  unsigned shift = 64 - 8 * elementBytes;
  return type[0] == 'i' ? double(int64_t(bits << shift) >> shift)
                        : double(bits);
}

HostBuffer *Arguments::find(const std::string &name) {
  for (HostBuffer &buffer : buffers)
    if (buffer.name == name)
      return &buffer;
  return nullptr;
}

static void allocate(HostBuffer &buffer) {
  buffer.bytes = buffer.elementBytes;
  for (uint64_t extent : buffer.shape)
    buffer.bytes *= extent;
  buffer.storage.assign(buffer.bytes / 8 + 1, 0);
}

bool Arguments::addBuffer(std::string name, const std::string &kind,
                          const std::string &text, std::string &problem) {
  HostBuffer buffer;
  buffer.name = std::move(name);
  llvm::SmallVector<StringRef, 6> parts;
  StringRef(text).split(parts, 'x');
  buffer.type = parts.pop_back_val().str();
  buffer.elementBytes = bytesOf(buffer.type);
  uint64_t count = 1;
  for (StringRef part : parts) {
    uint64_t extent;
    if (part.getAsInteger(10, extent) || extent == 0 ||
        count > (uint64_t(1) << 32) / extent) {
      problem = "'" + text + "' is no shape such as 64x32xf16";
      return false;
    }
    count *= extent;
    buffer.shape.push_back(extent);
  }
  if (!buffer.elementBytes || parts.empty()) {
    problem = "'" + text + "' is no shape such as 64x32xf16";
    return false;
  }
  allocate(buffer);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (uint64_t i = 0; i < count; ++i) {
    double value = kind == "randn"     ? normal(random)
                   : kind == "uniform" ? uniform(random)
                   : kind == "ones"    ? 1
                   : kind == "iota"    ? double(i)
                                       : 0;
    uint64_t bits = encode(buffer.type, value);
    if (kind == "undef")
      bits = 0xffffffffffffffff;
    std::memcpy(buffer.data() + i * buffer.elementBytes, &bits,
                buffer.elementBytes);
  }
  buffer.isInitialized = kind != "undef";
  buffers.push_back(std::move(buffer));
  return true;
}

bool Arguments::addFile(std::string name, const std::string &path,
                        std::string &problem) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) {
    problem = "cannot read '" + path + "': " + file.getError().message();
    return false;
  }
  StringRef text = (*file)->getBuffer();
  StringRef header = text.size() > 10 ? text.substr(10) : "";
  uint16_t length = 0;
  if (text.starts_with("\x93NUMPY") && text.size() > 10)
    std::memcpy(&length, text.data() + 8, 2);
  header = header.take_front(length);
  StringRef type = header.split("'descr': '").second.split('\'').first;
  StringRef shape = header.split("'shape': (").second.split(')').first;
  HostBuffer buffer;
  buffer.name = std::move(name);
  buffer.type = llvm::StringSwitch<std::string>(type)
                    .Case("<f2", "f16")
                    .Case("<f4", "f32")
                    .Case("<f8", "f64")
                    .Case("|i1", "i8")
                    .Case("|u1", "u8")
                    .Case("<i2", "i16")
                    .Case("<u2", "u16")
                    .Case("<i4", "i32")
                    .Case("<u4", "u32")
                    .Case("<i8", "i64")
                    .Case("<u8", "u64")
                    .Default("");
  llvm::SmallVector<StringRef, 6> parts;
  shape.split(parts, ',', -1, false);
  for (StringRef part : parts) {
    uint64_t extent;
    if (!part.trim().empty() && !part.trim().getAsInteger(10, extent))
      buffer.shape.push_back(extent);
  }
  buffer.elementBytes = bytesOf(buffer.type);
  StringRef data = text.substr(10 + length);
  if (buffer.type.empty() || header.contains("'fortran_order': True")) {
    problem = "'" + path + "' is no .npy file of a known type in C order";
    return false;
  }
  allocate(buffer);
  if (data.size() < buffer.bytes) {
    problem = "'" + path + "' ends before its data";
    return false;
  }
  std::memcpy(buffer.data(), data.data(), buffer.bytes);
  buffers.push_back(std::move(buffer));
  return true;
}

/// map:NAME,box=64x64,swizzle=128[,fill=nan]: a map over a dense buffer. Boxes
/// are written as the shape is, outermost first.
bool Arguments::addMap(const std::string &text, std::string &problem) {
  llvm::SmallVector<StringRef, 6> parts;
  StringRef(text).split(parts, ',');
  HostBuffer *buffer = find(parts[0].str());
  if (!buffer || buffer->shape.size() > 5) {
    problem = "'" + parts[0].str() +
              "' is no buffer of rank 1 to 5 given "
              "before";
    return false;
  }
  TensorMap map;
  map.base = reinterpret_cast<uintptr_t>(buffer->data());
  map.rank = static_cast<unsigned>(buffer->shape.size());
  map.element = llvm::StringSwitch<TensorElement>(buffer->type)
                    .Case("f16", TensorElement::F16)
                    .Case("bf16", TensorElement::BF16)
                    .Case("f32", TensorElement::F32)
                    .Case("f64", TensorElement::F64)
                    .Case("i32", TensorElement::S32)
                    .Case("u32", TensorElement::U32)
                    .Case("i64", TensorElement::S64)
                    .Case("u64", TensorElement::U64)
                    .Cases({"i16", "u16"}, TensorElement::U16)
                    .Default(TensorElement::U8);
  uint64_t stride = buffer->elementBytes;
  for (unsigned i = 0; i < map.rank; ++i) {
    map.extents[i] = buffer->shape[map.rank - 1 - i];
    if (i)
      map.strides[i - 1] = stride;
    stride *= map.extents[i];
  }
  for (StringRef part : llvm::ArrayRef<StringRef>(parts).drop_front()) {
    auto [key, value] = part.split('=');
    if (key == "box") {
      llvm::SmallVector<StringRef, 5> extents;
      value.split(extents, 'x');
      if (extents.size() != map.rank) {
        problem = "the box has another rank than '" + buffer->name + "'";
        return false;
      }
      for (unsigned i = 0; i < map.rank; ++i)
        if (extents[map.rank - 1 - i].getAsInteger(10, map.box[i])) {
          problem = "'" + value.str() + "' is no box";
          return false;
        }
    } else if (key == "swizzle") {
      map.swizzle = llvm::StringSwitch<TensorSwizzle>(value)
                        .Case("32", TensorSwizzle::B32)
                        .Case("64", TensorSwizzle::B64)
                        .Case("128", TensorSwizzle::B128)
                        .Default(TensorSwizzle::None);
    } else if (key == "fill") {
      map.fill = value == "nan" ? TensorFill::NaN : TensorFill::Zeros;
    } else {
      problem = "a map takes box=, swizzle= and fill=, got '" + key.str() + "'";
      return false;
    }
  }
  TensorMapBytes bytes;
  if (!encodeTensorMap(map, bytes, problem))
    return false;
  list.push_back(Argument::tensorMap(bytes));
  return true;
}

bool Arguments::add(const std::string &text, bool isArgument,
                    std::string &problem) {
  StringRef rest = text;
  std::string name = "arg" + std::to_string(list.size());
  size_t equals = rest.find('=');
  if (equals != StringRef::npos && equals < rest.find(':')) {
    name = rest.take_front(equals).str();
    rest = rest.drop_front(equals + 1);
  }
  auto [kind, value] = rest.split(':');
  if (kind == "map")
    return addMap(value.str(), problem);
  if (kind == "ptr") {
    HostBuffer *buffer = find(value.str());
    if (!buffer) {
      problem = "'" + value.str() + "' is no buffer given before";
      return false;
    }
    list.push_back(Argument::pointer(buffer->data()));
    return true;
  }
  if (unsigned bytes = bytesOf(kind)) {
    double number = 0;
    int64_t whole = 0;
    bool isFloat = kind[0] == 'f' || kind[0] == 'b';
    if (isFloat ? value.getAsDouble(number) : value.getAsInteger(0, whole)) {
      problem = "'" + value.str() + "' is no " + kind.str();
      return false;
    }
    uint64_t bits = isFloat ? encode(kind, number) : uint64_t(whole);
    auto *raw = reinterpret_cast<const uint8_t *>(&bits);
    list.push_back({std::vector<uint8_t>(raw, raw + bytes)});
    return true;
  }
  bool isGenerated = llvm::StringSwitch<bool>(kind)
                         .Cases({"randn", "uniform", "zeros", "ones"}, true)
                         .Cases({"iota", "undef"}, true)
                         .Default(false);
  if (isGenerated) {
    if (!addBuffer(name, kind.str(), value.str(), problem))
      return false;
  } else if (rest.ends_with(".npy")) {
    if (!addFile(name, rest.str(), problem))
      return false;
  } else {
    problem = "'" + text +
              "' is no argument; try i32:5, f32:1.5, randn:64x32xf16, "
              "zeros:64xf32, undef:64xf32, x.npy, ptr:NAME or "
              "map:NAME,box=64x64,swizzle=128";
    return false;
  }
  if (isArgument)
    list.push_back(Argument::pointer(buffers.back().data()));
  return true;
}

bool saveNpy(HostBuffer &buffer, const std::string &path,
             std::string &problem) {
  std::string type = llvm::StringSwitch<std::string>(buffer.type)
                         .Case("f16", "<f2")
                         .Case("f32", "<f4")
                         .Case("f64", "<f8")
                         .Case("i8", "|i1")
                         .Case("u8", "|u1")
                         .Case("i16", "<i2")
                         .Cases({"u16", "bf16"}, "<u2")
                         .Case("i32", "<i4")
                         .Case("u32", "<u4")
                         .Case("i64", "<i8")
                         .Default("<u8");
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (";
  for (uint64_t extent : buffer.shape)
    header += std::to_string(extent) + ",";
  header += "), }";
  header.resize((header.size() + 10 + 64) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (error) {
    problem = "cannot write '" + path + "': " + error.message();
    return false;
  }
  uint16_t length = static_cast<uint16_t>(header.size());
  file.write("\x93NUMPY\x01\x00", 8);
  file.write(reinterpret_cast<const char *>(&length), 2);
  file << header;
  file.write(reinterpret_cast<const char *>(buffer.data()), buffer.bytes);
  return true;
}
