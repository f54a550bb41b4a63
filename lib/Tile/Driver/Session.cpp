//===- Session.cpp - Loading of source --------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CapturedDiagnostics.h"
#include "SessionState.h"
#include "Tile/Driver/Registration.h"
#include "Tile/Driver/SourceLimits.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace tile::driver;
using llvm::createStringError;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  tile::driver::registerAllDialects(registry);
  return registry;
}

// A program is small and its passes work on one function: threads would cost
// more to start than they save.
Session::State::State()
    : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
  // Messages show the line of the source; the op after some passes says little
  // to its author.
  context.printOpOnDiagnostic(false);
}

Session::Session() : state(std::make_shared<State>()) {}

/// Remembers what the source calls the arguments of functions.
static void recordArgumentNames(const AsmParserState &asmState,
                                Program::State &program) {
  program.module->walk([&](func::FuncOp function) {
    if (function.isExternal())
      return;
    const AsmParserState::BlockDefinition *block =
        asmState.getBlockDef(&function.getBody().front());
    if (!block)
      return;
    std::vector<std::string> &names = program.argumentNames[function];
    for (const AsmParserState::SMDefinition &argument : block->arguments) {
      const char *begin = argument.loc.Start.getPointer();
      const char *end = argument.loc.End.getPointer();
      StringRef text = begin && end ? StringRef(begin, end - begin) : "";
      text.consume_front("%");
      // Numbers are positions, not names.
      names.push_back(!text.empty() && llvm::isDigit(text[0]) ? ""
                                                              : text.str());
    }
  });
}

/// Puts what was parsed into a module, unless it is one.
static OwningOpRef<ModuleOp> takeModule(Block &block, Location loc) {
  if (llvm::hasSingleElement(block))
    if (auto module = dyn_cast<ModuleOp>(block.front())) {
      module->remove();
      return module;
    }
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  module->getBody()->getOperations().splice(module->getBody()->begin(),
                                            block.getOperations());
  return module;
}

static llvm::Expected<std::unique_ptr<Program::State>>
parse(std::shared_ptr<Session::State> session,
      std::unique_ptr<llvm::MemoryBuffer> buffer) {
  auto program = std::make_unique<Program::State>();
  program->name = buffer->getBufferIdentifier().str();
  program->session = session;
  MLIRContext *context = &session->context;
  llvm::MemoryBufferRef text = *buffer;
  bool hasText = !isBytecode(text);
  if (hasText)
    if (const char *place = findTooDeep(text.getBuffer())) {
      StringRef before(text.getBufferStart(), place - text.getBufferStart());
      return createStringError(
          program->name + ":" + std::to_string(before.count('\n') + 1) +
          ": brackets nest too deep here, more than " +
          std::to_string(kMaxNesting) + " inside each other");
    }
  program->source.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());

  std::lock_guard lock(session->mutex);
  CapturedDiagnostics diagnostics(program->source, context);
  ParserConfig config(context);
  Block block;
  AsmParserState asmState;
  LogicalResult parsed =
      hasText ? parseAsmSourceFile(program->source, &block, config, &asmState)
              : readBytecodeFile(text, &block, config);
  if (failed(parsed))
    return diagnostics.takeError(program->name + " does not parse");
  program->module =
      takeModule(block, FileLineColLoc::get(context, program->name, 1, 1));
  if (hasText)
    recordArgumentNames(asmState, *program);
  return program;
}

llvm::Expected<Program> Session::loadFile(StringRef path) const {
  // A device may never end.
  llvm::sys::fs::file_status status;
  if (path != "-" && !llvm::sys::fs::status(path, status) &&
      (status.type() == llvm::sys::fs::file_type::character_file ||
       status.type() == llvm::sys::fs::file_type::block_file))
    return createStringError("cannot read '" + path +
                             "': it is a device, not a file");
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer)
    return createStringError("cannot read '" + path +
                             "': " + buffer.getError().message());
  auto program = parse(state, std::move(*buffer));
  if (!program)
    return program.takeError();
  return Program(std::move(*program));
}

llvm::Expected<Program> Program::reload() const {
  const llvm::MemoryBuffer *buffer =
      state->source.getMemoryBuffer(state->source.getMainFileID());
  return Session().loadText(buffer->getBuffer(), state->name);
}

llvm::Expected<Program> Session::loadText(StringRef text,
                                          StringRef name) const {
  auto program = parse(state, llvm::MemoryBuffer::getMemBufferCopy(text, name));
  if (!program)
    return program.takeError();
  return Program(std::move(*program));
}
