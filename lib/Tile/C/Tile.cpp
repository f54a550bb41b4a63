//===- Tile.cpp - C ABI of the compiler -------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every function is a call of the driver; what the driver returns as an error
// becomes the thread's last one.
//
//===----------------------------------------------------------------------===//

#include "Tile/C/Tile.h"
#include "Json.h"
#include "LastError.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib>
#include <cstring>
#include <mutex>

using namespace tile;
using namespace tile::driver;
using llvm::createStringError;
using tile::c::setLastError;

struct tile_session {
  Session session;
};

struct tile_program {
  explicit tile_program(Program program) : program(std::move(program)) {}

  Program program;
  std::once_flag isDescribed;
  std::string description;
};

struct tile_kernel {
  explicit tile_kernel(std::shared_ptr<const Kernel> kernel)
      : kernel(std::move(kernel)), description(c::describe(*this->kernel)) {}

  std::shared_ptr<const Kernel> kernel;
  std::string description;
};

static std::nullptr_t fail(llvm::Error error) {
  setLastError(toString(std::move(error)));
  return nullptr;
}

/// A copy that tile_string_free frees.
static char *copyText(llvm::StringRef text) {
  char *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (!copy)
    return fail(createStringError("out of memory"));
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = 0;
  return copy;
}

//===----------------------------------------------------------------------===//
// Sessions and programs
//===----------------------------------------------------------------------===//

tile_session *tile_session_create(void) { return new tile_session(); }
void tile_session_destroy(tile_session *session) { delete session; }

tile_program *tile_program_load_text(tile_session *session, const char *text,
                                     size_t length, const char *name) {
  llvm::Expected<Program> program = session->session.loadText(
      llvm::StringRef(text, length), name ? name : "program");
  if (!program)
    return fail(program.takeError());
  return new tile_program(std::move(*program));
}

tile_program *tile_program_load_file(tile_session *session, const char *path) {
  llvm::Expected<Program> program = session->session.loadFile(path);
  if (!program)
    return fail(program.takeError());
  return new tile_program(std::move(*program));
}

void tile_program_destroy(tile_program *program) { delete program; }

const char *tile_program_describe(tile_program *program) {
  std::call_once(program->isDescribed,
                 [&] { program->description = c::describe(program->program); });
  return program->description.c_str();
}

char *tile_program_run_passes(tile_program *program, const char *pipeline,
                              size_t *length) {
  llvm::Expected<std::string> text = program->program.runPasses(pipeline);
  if (!text)
    return fail(text.takeError());
  if (length)
    *length = text->size();
  return copyText(*text);
}

/// The function of that name, or the only entry.
static llvm::Expected<std::string> chooseFunction(const Program &program,
                                                  const char *name) {
  if (name)
    return name;
  std::vector<std::string> entries = program.getEntries();
  if (entries.size() == 1)
    return entries[0];
  return createStringError(
      program.getName() + " has " + llvm::Twine(entries.size()) +
      " entries; name the function to compile" +
      (entries.empty() ? "" : ": " + llvm::join(entries, ", ")));
}

tile_kernel *tile_program_compile(tile_program *program, const char *function,
                                  const char *options) {
  llvm::Expected<CompileOptions> parsed = c::parseOptions(options);
  if (!parsed)
    return fail(parsed.takeError());
  llvm::Expected<std::string> name = chooseFunction(program->program, function);
  if (!name)
    return fail(name.takeError());
  auto kernel = program->program.compile(*name, *parsed);
  if (!kernel)
    return fail(kernel.takeError());
  return new tile_kernel(std::move(*kernel));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void tile_kernel_destroy(tile_kernel *kernel) { delete kernel; }

const char *tile_kernel_describe(const tile_kernel *kernel) {
  return kernel->description.c_str();
}

const char *tile_kernel_stage(const tile_kernel *kernel, const char *name,
                              size_t *length) {
  llvm::ArrayRef<Stage> stages = kernel->kernel->getStages();
  const auto *stage = llvm::find_if(
      stages, [&](const Stage &each) { return each.name == name; });
  if (stage == stages.end()) {
    std::string names;
    for (const Stage &each : stages)
      names += (names.empty() ? "" : ", ") + each.name;
    return fail(createStringError(
        "the kernel has no stage '" + llvm::Twine(name) + "'; it has " +
        (names.empty() ? "none: compile with \"keepStages\"" : names)));
  }
  if (length)
    *length = stage->contents.size();
  return stage->contents.c_str();
}

namespace {
/// Arguments of the C ABI in the driver's form.
class Views {
public:
  llvm::Error convert(const Signature &signature,
                      llvm::ArrayRef<tile_argument> arguments);
  llvm::ArrayRef<ArgumentView> get() const { return views; }

private:
  llvm::Error convertArray(const Parameter &parameter,
                           const tile_argument &argument, ArgumentView &view);
  llvm::Error convertScalar(const Parameter &parameter,
                            const tile_argument &argument, runtime::DType type);

  llvm::SmallVector<ArgumentView, 16> views;
  /// As a buffer holds them.
  llvm::SmallVector<uint64_t, 16> scalars;
  llvm::SmallVector<int64_t, 32> denseStrides;
};
} // namespace

static llvm::Error wrong(const Parameter &parameter, const llvm::Twine &text) {
  return createStringError("argument '" + parameter.name + "': " + text);
}

llvm::Error Views::convertArray(const Parameter &parameter,
                                const tile_argument &argument,
                                ArgumentView &view) {
  size_t rank = argument.rank ? argument.rank : parameter.shape.size();
  view.data = argument.address;
  if (rank == 0)
    return llvm::Error::success();
  if (!argument.shape)
    return wrong(parameter, "expected " + parameter.typeText +
                                ", got null for its extents");
  view.shape = llvm::ArrayRef(argument.shape, rank);
  if (argument.strides) {
    view.strides = llvm::ArrayRef(argument.strides, rank);
    return llvm::Error::success();
  }
  size_t start = denseStrides.size();
  denseStrides.resize(start + rank);
  uint64_t next = 1;
  for (size_t i = rank; i-- > 0;) {
    denseStrides[start + i] = static_cast<int64_t>(next);
    next *= static_cast<uint64_t>(std::max<int64_t>(view.shape[i], 1));
  }
  view.strides = llvm::ArrayRef(denseStrides).drop_front(start);
  return llvm::Error::success();
}

llvm::Error Views::convertScalar(const Parameter &parameter,
                                 const tile_argument &argument,
                                 runtime::DType type) {
  if (runtime::isFloat(type)) {
    scalars.push_back(runtime::encode(type, argument.real));
    return llvm::Error::success();
  }
  // The types have no sign, so a value may be of either kind.
  int64_t value = argument.integer, low = runtime::getMinInt(type);
  uint64_t high = 2 * static_cast<uint64_t>(runtime::getMaxInt(type)) + 1;
  if (type == runtime::DType::I1)
    value = value != 0;
  else if (value < low || (value > 0 && static_cast<uint64_t>(value) > high))
    return wrong(parameter, "expected an integer from " + llvm::Twine(low) +
                                " to " + llvm::Twine(high) + ", got " +
                                llvm::Twine(value));
  scalars.push_back(static_cast<uint64_t>(value));
  return llvm::Error::success();
}

llvm::Error Views::convert(const Signature &signature,
                           llvm::ArrayRef<tile_argument> arguments) {
  // Views point into these.
  scalars.reserve(arguments.size());
  size_t dimensions = 0;
  for (const auto &[parameter, argument] :
       llvm::zip(signature.parameters, arguments))
    dimensions += argument.rank ? argument.rank : parameter.shape.size();
  denseStrides.reserve(dimensions);

  for (auto [i, argument] : llvm::enumerate(arguments)) {
    ArgumentView &view = views.emplace_back();
    // Their number is checked with the rest.
    if (i >= signature.parameters.size())
      continue;
    const Parameter &parameter = signature.parameters[i];
    if (argument.rank < 0 || argument.rank > 64)
      return wrong(parameter, "expected a rank of 0 to 64, got " +
                                  llvm::Twine(argument.rank));
    if (argument.dtype < 0 ||
        argument.dtype > static_cast<int>(runtime::numDTypes))
      return wrong(parameter,
                   "expected a tile_dtype, got " + llvm::Twine(argument.dtype));
    view.type = argument.dtype ? static_cast<runtime::DType>(argument.dtype - 1)
                               : parameter.type;
    if (!parameter.isScalar || argument.rank) {
      if (llvm::Error error = convertArray(parameter, argument, view))
        return error;
      continue;
    }
    if (llvm::Error error = convertScalar(parameter, argument, view.type))
      return error;
    view.data = reinterpret_cast<uintptr_t>(&scalars.back());
  }
  return llvm::Error::success();
}

int tile_kernel_launch(const tile_kernel *kernel,
                       const tile_argument *arguments, size_t count,
                       void *stream) {
  Views views;
  llvm::Error error = views.convert(kernel->kernel->getSignature(),
                                    llvm::ArrayRef(arguments, count));
  if (!error)
    error = kernel->kernel->launch(views.get(), stream);
  if (!error)
    return 0;
  setLastError(toString(std::move(error)));
  return 1;
}

const char *tile_kernel_take_output(const tile_kernel *kernel) {
  static thread_local std::string output;
  output = kernel->kernel->takeOutput();
  return output.c_str();
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

char *tile_environment(void) { return copyText(c::describeEnvironment()); }
void tile_string_free(char *text) { std::free(text); }
