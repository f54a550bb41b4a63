//===- CommandLine.h - The options of tile-run ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUN_COMMANDLINE_H
#define TILE_RUN_COMMANDLINE_H

#include "Tile/Driver/Example.h"
#include "llvm/Support/CommandLine.h"

namespace cl = llvm::cl;

using NameValues = std::vector<std::pair<std::string, std::string>>;

/// A number that may be left out: a bare --bench asks for 20 runs. LLVM's own
/// parser takes the value that is not there for a number that is not one.
template <typename Number, int bare> struct NumberParser : cl::parser<Number> {
  using cl::parser<Number>::parser;
  bool parse(cl::Option &option, llvm::StringRef name, llvm::StringRef text,
             Number &value) {
    std::string number = text.empty() ? std::to_string(bare) : text.str();
    return cl::parser<Number>::parse(option, name, number, value);
  }
};

/// To be made once, in main: making it removes the options that LLVM's
/// libraries register for themselves. Some have the names of ours, and none is
/// for users of this tool.
struct CommandLine {
  CommandLine() = default;
  CommandLine(const CommandLine &) = delete;

private:
  struct Reset {
    Reset() { cl::ResetCommandLineParser(); }
  } reset;

public:
  cl::OptionCategory runOptions{"What to run"};
  cl::OptionCategory argumentOptions{"Arguments"};
  cl::OptionCategory checkOptions{"Checking and timing"};
  cl::OptionCategory outputOptions{"Looking inside"};

  cl::OptionCategory ptxOptions{"PTX kernels"};

  cl::opt<std::string> inputFile{cl::Positional,
                                 cl::desc("FILE.mlir|FILE.tile|FILE.ptx"),
                                 cl::Required, cl::cat(runOptions)};
  cl::list<std::string> entries{
      "entry", cl::value_desc("function"), cl::cat(runOptions),
      cl::desc("the function to run; every entry of the file if none is "
               "given")};
  cl::opt<std::string> targetName{
      "target", cl::value_desc("cpu|cuda|emulator"), cl::cat(runOptions),
      cl::desc("where to run; cuda where a device is present, else "
               "cpu")};
  cl::opt<std::string> chip{
      "chip", cl::value_desc("sm_80|sm_90|..."), cl::cat(runOptions),
      cl::desc("the GPU to compile for: the device's by default, sm_80 for "
               "the emulator")};
  cl::opt<int> device{
      "device", cl::value_desc("N"), cl::cat(runOptions),
      cl::desc("the GPU to run on, and to compile for where --chip does not "
               "say, of those that the driver numbers from 0 on; implies "
               "--target=cuda")};
  cl::opt<unsigned> seeds{
      "seeds", cl::value_desc("N"), cl::init(1), cl::cat(runOptions),
      cl::desc("schedules for the emulator to try, from --seed on")};
  cl::opt<std::string> checks{
      "checks", cl::value_desc("race,proxy,uninit,register,converge"),
      cl::init("all"), cl::cat(runOptions),
      cl::desc("what the emulator looks for; all by default, or none")};
  cl::opt<std::string> cacheDirectory{
      "cache", cl::value_desc("DIR"), cl::cat(runOptions),
      cl::desc("where compiled kernels are kept: TILE_CACHE_DIR, or tile in "
               "the user's cache directory, where no option says")};
  cl::opt<bool> noCache{"no-cache", cl::cat(runOptions),
                        cl::desc("compile anew, and keep nothing")};
  cl::list<std::string> tunables{"set", cl::value_desc("NAME=VALUE"),
                                 cl::cat(runOptions),
                                 cl::desc("the value of a tunable")};

  cl::list<std::string> arguments{
      "arg", cl::value_desc("NAME=SPEC"), cl::cat(argumentOptions),
      cl::desc(
          "what an argument holds: randn:64x32xf16, uniform(-1,1):..., "
          "zeros:..., ones:..., iota:..., full(2.5):..., empty:..., a .npy "
          "file or a number. NAME is its name or its position")};
  cl::opt<uint64_t> seed{
      "seed", cl::init(0), cl::cat(argumentOptions),
      cl::desc("the seed of random arguments, and of the first "
               "schedule of the emulator")};
  cl::list<std::string> saves{
      "save", cl::value_desc("NAME=FILE.npy"), cl::cat(argumentOptions),
      cl::desc("write an argument to a file after the run")};

  cl::list<std::string> expected{"expect", cl::value_desc("NAME=FILE.npy"),
                                 cl::cat(checkOptions),
                                 cl::desc("compare an argument with a file")};
  cl::opt<std::string> reference{"reference", cl::value_desc("function"),
                                 cl::cat(checkOptions),
                                 cl::desc("the function to compare with")};
  cl::opt<bool> noReference{"no-reference", cl::cat(checkOptions),
                            cl::desc("run no reference")};
  cl::opt<std::string> tolerance{
      "tolerance", cl::value_desc("norm=X,atol=X,rtol=X,products=X"),
      cl::cat(checkOptions),
      cl::desc("how far results may be off; one number is atol and rtol")};
  cl::opt<unsigned, false, NumberParser<unsigned, 20>> bench{
      "bench",
      cl::ValueOptional,
      cl::value_desc("N"),
      cl::init(0),
      cl::cat(checkOptions),
      cl::desc("time N more runs, 20 if no number is given")};

  cl::opt<double, false, NumberParser<double, 60>> tune{
      "tune", cl::ValueOptional, cl::value_desc("SECONDS"),
      cl::cat(checkOptions),
      cl::desc("try combinations of tunables for so long, 60 if no number is "
               "given, and run the best")};

  cl::opt<std::string> emitStage{
      "emit", cl::value_desc("STAGE"), cl::cat(outputOptions),
      cl::desc("write the program as it is after a pass, or 'source', 'mlir' "
               "(after all passes), 'llvm', 'asm', 'obj', 'ptx' or 'cubin', "
               "and do not run; "
               "'artifact' writes all entries, compiled for the chips that "
               "--chip lists; 'object' and 'header' are for C programs")};
  cl::opt<std::string> outputFile{"o", cl::value_desc("FILE"), cl::init("-"),
                                  cl::cat(outputOptions),
                                  cl::desc("where --emit writes to")};
  cl::opt<std::string> dumpDirectory{
      "dump-stages", cl::value_desc("DIR"), cl::cat(outputOptions),
      cl::desc("write every stage to a file of its own")};
  cl::opt<std::string> recordDirectory{
      "record", cl::value_desc("DIR"), cl::cat(outputOptions),
      cl::desc("write arguments and references of each run to DIR, for a "
               "machine that runs the compiled program only")};
  cl::opt<bool> verbose{
      "verbose", cl::cat(outputOptions),
      cl::desc("print what each kernel takes of the GPU: registers, shared "
               "memory, spills, stack, occupancy")};
  cl::opt<bool> timePasses{"time-passes", cl::cat(outputOptions),
                           cl::desc("print how long each step of "
                                    "compilation took")};

  cl::opt<std::string> grid{"grid", cl::value_desc("X,Y,Z"), cl::init("1"),
                            cl::cat(ptxOptions), cl::desc("blocks")};
  cl::opt<std::string> block{"block", cl::value_desc("X,Y,Z"), cl::init("1"),
                             cl::cat(ptxOptions),
                             cl::desc("threads of a block")};
  cl::opt<std::string> cluster{"cluster", cl::value_desc("X,Y,Z"),
                               cl::cat(ptxOptions),
                               cl::desc("blocks of a cluster")};
  cl::opt<unsigned> sharedBytes{"shared", cl::value_desc("BYTES"), cl::init(0),
                                cl::cat(ptxOptions),
                                cl::desc("dynamic shared memory")};
  cl::list<std::string> buffers{
      "buffer", cl::value_desc("NAME=SPEC"), cl::cat(ptxOptions),
      cl::desc("a buffer that is no parameter itself, for --arg ptr:NAME and "
               "--arg map:NAME,box=64x64,swizzle=128")};
  cl::opt<unsigned> workers{
      "workers", cl::value_desc("N"), cl::init(0), cl::cat(ptxOptions),
      cl::desc("threads of this machine; all cores by default")};
  cl::opt<double> timeLimit{"time-limit", cl::value_desc("SECONDS"),
                            cl::init(600), cl::cat(ptxOptions),
                            cl::desc("how long a run may take")};
  cl::list<std::string> printNames{"print", cl::value_desc("NAME"),
                                   cl::cat(ptxOptions),
                                   cl::desc("a buffer to print after the run")};

  cl::extrahelp examples{R"(
EXAMPLES
  tile-run matmul.mlir
      runs the entries of the file with the arguments they name, compares with
      the references they name and prints a table
  tile-run matmul.mlir --arg A=randn:1000x300xf16 --arg B=randn:300x77xf16
      other shapes
  tile-run matmul.mlir --arg A=a.npy --save C=c.npy
      an argument from a file, a result to a file
  tile-run matmul.mlir --set block_m=64 --bench=50
      another tile size, the median, minimum and maximum of 50 runs
  tile-run matmul.mlir --emit=asm -o -
      the assembly
  tile-run matmul.mlir --entry matmul --emit=object -o matmul.o
  tile-run matmul.mlir --entry matmul --emit=header -o matmul.h
      an object file for a C program and what it includes
  tile-run matmul.mlir --dump-stages=stages --no-reference
      the program after every pass
  tile-run matmul.mlir --target=emulator --seeds=4
      the GPU's code, run on this machine and searched for races
  tile-run matmul.mlir --emit=artifact --chip=sm_80,sm_90 -o matmul.tile
  tile-run matmul.tile
      compiled on one machine, run on another
  tile-run matmul.mlir --tune=30 --target=cuda
      the fastest of its tile sizes
  tile-run gemm.ptx --grid=2,2 --block=128 --arg A=randn:64x64xf16 --arg i32:64
      a kernel of anyone's, likewise

EXIT CODES
  0 everything is right    1 a result is wrong, or the running program was
  2 bad input or compile error
)"};

  /// Parses the arguments of main; what is wrong with them is printed.
  bool parse(int argc, char **argv);
  /// What was asked of the driver.
  llvm::Expected<tile::driver::ExampleOptions> makeOptions() const;
  /// True where the input is a PTX file.
  bool isPTX() const { return llvm::StringRef(inputFile).ends_with(".ptx"); }
  /// True where the input is a compiled program.
  bool isArtifact() const {
    return llvm::StringRef(inputFile).ends_with(".tile");
  }
  bool emitsArtifact() const { return emitStage == "artifact"; }
  /// Pairs of argument and file.
  llvm::Expected<NameValues> getSaves() const;
};

#endif // TILE_RUN_COMMANDLINE_H
