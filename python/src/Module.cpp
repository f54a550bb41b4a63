//===- Module.cpp - The C ABI for Python ------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sessions, programs and kernels as objects, and launches. Nothing is decided
// here: what these do is Tile/C/Tile.h, and what they mean to users is the
// Python package around them.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Tile/C/Tile.h"
#include <memory>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace tile::python;

namespace {

template <auto destroy> struct Destroy {
  template <typename T> void operator()(T *object) const { destroy(object); }
};
using SessionHandle =
    std::unique_ptr<tile_session, Destroy<tile_session_destroy>>;
using ProgramHandle =
    std::unique_ptr<tile_program, Destroy<tile_program_destroy>>;
using KernelHandle = std::unique_ptr<tile_kernel, Destroy<tile_kernel_destroy>>;

/// What the library refuses. Python's side gives it the class to raise.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename T> T *check(T *object) {
  if (!object)
    throw Refused(tile_last_error());
  return object;
}

class Kernel {
public:
  explicit Kernel(KernelHandle handle) : handle(std::move(handle)) {}

  std::string describe() const {
    return check(tile_kernel_describe(handle.get()));
  }
  py::bytes stage(const std::string &name) const {
    size_t length = 0;
    const char *text =
        check(tile_kernel_stage(handle.get(), name.c_str(), &length));
    return py::bytes(text, length);
  }
  std::string takeOutput() const {
    const char *text = tile_kernel_take_output(handle.get());
    return text ? text : "";
  }
  const tile_kernel *get() const { return handle.get(); }

private:
  KernelHandle handle;
};

class Program {
public:
  Program(tile_session *session, const std::string &text,
          const std::string &name) {
    py::gil_scoped_release release;
    handle.reset(check(tile_program_load_text(session, text.data(), text.size(),
                                              name.c_str())));
  }

  std::string describe() const {
    return check(tile_program_describe(handle.get()));
  }
  std::shared_ptr<Kernel> compile(const std::string &function,
                                  const std::string &options) const {
    py::gil_scoped_release release;
    KernelHandle kernel(check(tile_program_compile(
        handle.get(), function.empty() ? nullptr : function.c_str(),
        options.c_str())));
    return std::make_shared<Kernel>(std::move(kernel));
  }
  std::string runPasses(const std::string &pipeline) const {
    py::gil_scoped_release release;
    size_t length = 0;
    std::unique_ptr<char, Destroy<tile_string_free>> text(check(
        tile_program_run_passes(handle.get(), pipeline.c_str(), &length)));
    return std::string(text.get(), length);
  }

private:
  ProgramHandle handle;
};

class Session {
public:
  Session() : handle(check(tile_session_create())) {}

  std::unique_ptr<Program> load(const std::string &text,
                                const std::string &name) const {
    return std::make_unique<Program>(handle.get(), text, name);
  }

private:
  SessionHandle handle;
};

/// Calls a kernel with arrays. Made once for a kernel; a call reads the arrays
/// and launches, and does nothing else. Python's kernels derive from it, so
/// that calling one runs no Python code; those with outputs to allocate have a
/// method for it.
class Launcher {
public:
  Launcher(std::shared_ptr<Kernel> kernel, const py::list &specifications,
           bool isDevice, int device, bool hasOutputs)
      : hasOutputs(hasOutputs), kernel(std::move(kernel)), isDevice(isDevice),
        device(device) {
    for (py::handle each : specifications) {
      py::tuple tuple = py::reinterpret_borrow<py::tuple>(each);
      Parameter parameter{tuple[0].cast<std::string>(),
                          tuple[1].cast<bool>(),
                          tuple[2].cast<bool>(),
                          static_cast<tile_dtype>(tuple[3].cast<int>()),
                          tuple[4].cast<int>(),
                          tuple[5].cast<std::vector<int>>()};
      for (int symbol : parameter.symbols)
        numSymbols = std::max(numSymbols, symbol + 1);
      parameters.push_back(std::move(parameter));
    }
  }

  /// `values` is a tuple.
  void launch(py::handle values, py::handle stream) const {
    size_t count = parameters.size();
    size_t given = PyTuple_GET_SIZE(values.ptr());
    if (given != count)
      throw py::type_error("the kernel takes " + std::to_string(count) +
                           " arguments, and is given " + std::to_string(given));
    Holder holder;
    // Nearly all kernels have few arguments, whose memory is at hand.
    constexpr size_t few = 8;
    Argument fewArguments[few];
    tile_argument fewViews[few];
    std::vector<Argument> manyArguments(count > few ? count : 0);
    std::vector<tile_argument> manyViews(count > few ? count : 0);
    Argument *arguments = count > few ? manyArguments.data() : fewArguments;
    tile_argument *views = count > few ? manyViews.data() : fewViews;
    std::vector<int64_t> symbols(numSymbols, -1);
    const Argument *first = nullptr;
    for (size_t i = 0; i < count; ++i) {
      const Parameter &parameter = parameters[i];
      Argument &argument = arguments[i];
      readArgument(PyTuple_GET_ITEM(values.ptr(), i), parameter, argument,
                   holder);
      views[i] = tile_argument{};
      views[i].integer = argument.integer;
      views[i].real = argument.real;
      if (parameter.isScalar)
        continue;
      checkPlace(parameter, argument);
      checkSymbols(parameter, argument, symbols);
      views[i].address = argument.address;
      views[i].shape = argument.shape;
      views[i].strides = argument.strides;
      views[i].rank = argument.rank;
      views[i].dtype = argument.dtype;
      if (!first)
        first = &argument;
    }
    uint64_t queue = 0;
    if (!stream.is_none())
      queue = stream.cast<uint64_t>();
    else if (isDevice && first)
      queue = getStream(*first);
    int failed;
    {
      py::gil_scoped_release release;
      failed = tile_kernel_launch(kernel->get(), views, count,
                                  reinterpret_cast<void *>(queue));
    }
    if (failed)
      throw Failed(tile_last_error());
  }

  const bool hasOutputs;

private:
  void checkPlace(const Parameter &parameter, const Argument &argument) const {
    if (isDevice && argument.isOnDevice && argument.device >= 0 &&
        argument.device != device)
      throw py::value_error(
          "argument '" + parameter.name + "' is on GPU " +
          std::to_string(argument.device) +
          ", and the kernel was compiled for GPU " + std::to_string(device) +
          "; compile it with device=" + std::to_string(argument.device));
    if (argument.isOnDevice == isDevice)
      return;
    throw py::value_error("argument '" + parameter.name + "' is in " +
                          (argument.isOnDevice ? "a GPU's" : "the host's") +
                          " memory, and the kernel was compiled for " +
                          (isDevice ? "cuda" : "the host (cpu or emulator)"));
  }

  void checkSymbols(const Parameter &parameter, const Argument &argument,
                    std::vector<int64_t> &symbols) const {
    for (size_t dim = 0; dim < parameter.symbols.size() &&
                         dim < static_cast<size_t>(argument.rank);
         ++dim) {
      int symbol = parameter.symbols[dim];
      if (symbol < 0)
        continue;
      if (symbols[symbol] < 0)
        symbols[symbol] = argument.shape[dim];
      else if (symbols[symbol] != argument.shape[dim])
        throw py::value_error(
            "argument '" + parameter.name + "': dimension " +
            std::to_string(dim) + " is " + std::to_string(argument.shape[dim]) +
            ", and another argument has " + std::to_string(symbols[symbol]) +
            " for the same extent");
    }
  }

  std::shared_ptr<Kernel> kernel;
  std::vector<Parameter> parameters;
  bool isDevice;
  /// The number of the GPU where that is one.
  int device;
  int numSymbols = 0;
};

} // namespace

static py::object refusedClass, failedClass;

/// `kernel(a, b, stream=...)`, as the slot of the type: the way through
/// Python's method look-up and pybind11's overloads takes longer than all else.
static PyObject *callLauncher(PyObject *self, PyObject *values,
                              PyObject *named) {
  try {
    py::handle stream = Py_None;
    if (named && PyDict_GET_SIZE(named)) {
      PyObject *found = PyDict_GetItemString(named, "stream");
      if (!found || PyDict_GET_SIZE(named) != 1)
        throw py::type_error("a kernel takes no argument by name but stream");
      stream = found;
    }
    const auto &launcher = py::cast<const Launcher &>(py::handle(self));
    if (launcher.hasOutputs)
      return py::handle(self)
          .attr("_with_outputs")(py::handle(values), stream)
          .release()
          .ptr();
    launcher.launch(values, stream);
    Py_RETURN_NONE;
  } catch (py::error_already_set &error) {
    error.restore();
  } catch (const Failed &failed) {
    PyErr_SetString(failedClass ? failedClass.ptr() : PyExc_RuntimeError,
                    failed.what());
  } catch (const py::builtin_exception &error) {
    error.set_error();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PYBIND11_MODULE(_tile, module) {
  module.doc() = "The compiler's C ABI; use the package around it.";
  module.def("set_errors", [](py::object refused, py::object failed) {
    refusedClass = std::move(refused);
    failedClass = std::move(failed);
  });
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error)
        std::rethrow_exception(error);
    } catch (const Refused &refused) {
      PyErr_SetString(refusedClass ? refusedClass.ptr() : PyExc_RuntimeError,
                      refused.what());
    } catch (const Failed &failed) {
      PyErr_SetString(failedClass ? failedClass.ptr() : PyExc_RuntimeError,
                      failed.what());
    }
  });
  // Classes outlive the interpreter's last steps otherwise.
  module.add_object("_cleanup", py::capsule([] {
                      refusedClass.release();
                      failedClass.release();
                    }));
  module.def("environment", [] {
    std::unique_ptr<char, Destroy<tile_string_free>> text(
        check(tile_environment()));
    return std::string(text.get());
  });
  py::class_<Session>(module, "Session")
      .def(py::init<>())
      .def("load", &Session::load, py::arg("text"), py::arg("name"),
           py::keep_alive<0, 1>());
  py::class_<Program>(module, "Program")
      .def("describe", &Program::describe)
      .def("compile", &Program::compile, py::arg("function"),
           py::arg("options"))
      .def("run_passes", &Program::runPasses, py::arg("pipeline"));
  py::class_<Kernel, std::shared_ptr<Kernel>>(module, "Kernel")
      .def("describe", &Kernel::describe)
      .def("stage", &Kernel::stage, py::arg("name"))
      .def("take_output", &Kernel::takeOutput);
  py::class_<Launcher>(module, "Launcher",
                       py::custom_type_setup([](PyHeapTypeObject *type) {
                         type->ht_type.tp_call = callLauncher;
                       }))
      .def(py::init<std::shared_ptr<Kernel>, py::list, bool, int, bool>(),
           py::arg("kernel"), py::arg("parameters"), py::arg("is_device"),
           py::arg("device"), py::arg("has_outputs"))
      .def("launch",
           [](const Launcher &self, const py::tuple &values,
              const py::object &stream) { self.launch(values, stream); });
}
