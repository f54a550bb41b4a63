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

/// A number of runs; a bare --bench asks for 20. LLVM's own parser takes the
/// value that is not there for a number that is not one.
struct NumRunsParser : cl::parser<unsigned> {
  using cl::parser<unsigned>::parser;
  bool parse(cl::Option &option, llvm::StringRef name, llvm::StringRef text,
             unsigned &value) {
    return cl::parser<unsigned>::parse(option, name, text.empty() ? "20" : text,
                                       value);
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

  cl::opt<std::string> inputFile{cl::Positional, cl::desc("FILE.mlir"),
                                 cl::Required, cl::cat(runOptions)};
  cl::list<std::string> entries{
      "entry", cl::value_desc("function"), cl::cat(runOptions),
      cl::desc("the function to run; every entry of the file if none is "
               "given")};
  cl::opt<std::string> targetName{
      "target", cl::value_desc("cpu|cuda|emulator"), cl::cat(runOptions),
      cl::desc("where to run; cuda where a device is present, else "
               "cpu")};
  cl::list<std::string> tunables{"set", cl::value_desc("NAME=VALUE"),
                                 cl::cat(runOptions),
                                 cl::desc("the value of a tunable")};

  cl::list<std::string> arguments{
      "arg", cl::value_desc("NAME=SPEC"), cl::cat(argumentOptions),
      cl::desc(
          "what an argument holds: randn:64x32xf16, uniform(-1,1):..., "
          "zeros:..., ones:..., iota:..., full(2.5):..., empty:..., a .npy "
          "file or a number. NAME is its name or its position")};
  cl::opt<uint64_t> seed{"seed", cl::init(0), cl::cat(argumentOptions),
                         cl::desc("the seed of random arguments")};
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
  cl::opt<unsigned, false, NumRunsParser> bench{
      "bench",
      cl::ValueOptional,
      cl::value_desc("N"),
      cl::init(0),
      cl::cat(checkOptions),
      cl::desc("time N more runs, 20 if no number is given")};

  cl::opt<std::string> emitStage{
      "emit", cl::value_desc("STAGE"), cl::cat(outputOptions),
      cl::desc("write the program as it is after a pass, or 'source', 'mlir' "
               "(after all passes), 'llvm', 'asm' or 'obj', and do not run")};
  cl::opt<std::string> outputFile{"o", cl::value_desc("FILE"), cl::init("-"),
                                  cl::cat(outputOptions),
                                  cl::desc("where --emit writes to")};
  cl::opt<std::string> dumpDirectory{
      "dump-stages", cl::value_desc("DIR"), cl::cat(outputOptions),
      cl::desc("write every stage to a file of its own")};
  cl::opt<bool> timePasses{"time-passes", cl::cat(outputOptions),
                           cl::desc("print how long each step of "
                                    "compilation took")};

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
  tile-run matmul.mlir --dump-stages=stages --no-reference
      the program after every pass

EXIT CODES
  0 everything is right    1 a result is wrong    2 bad input or compile error
)"};

  /// Parses the arguments of main; what is wrong with them is printed.
  bool parse(int argc, char **argv);
  /// What was asked of the driver.
  llvm::Expected<tile::driver::ExampleOptions> makeOptions() const;
  /// Pairs of argument and file.
  llvm::Expected<NameValues> getSaves() const;
};

#endif // TILE_RUN_COMMANDLINE_H
