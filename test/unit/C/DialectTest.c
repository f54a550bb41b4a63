/*===- DialectTest.c - The dialect through MLIR's C API ----------*- C -*-===*\
|*
|* Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#include "Check.h"
#include "Tile/C/TileDialect.h"
#include "mlir-c/Pass.h"

static void append(MlirStringRef part, void *text) {
  strncat(text, part.data, part.length);
}

int main(void) {
  MlirContext context = mlirContextCreate();
  MlirDialectHandle tile = mlirGetDialectHandle__tile__();
  MlirStringRef name = mlirDialectHandleGetNamespace(tile);
  CHECK(name.length == 4 && !strncmp(name.data, "tile", 4));
  mlirDialectHandleRegisterDialect(tile, context);
  MlirDialect loaded = mlirDialectHandleLoadDialect(tile, context);
  CHECK(!mlirDialectIsNull(loaded));

  /* What the dialect defines means the same to MLIR's own functions. */
  MlirAttribute attribute = mlirAttributeParseGet(
      context, mlirStringRefCreateFromCString("#tile.shared"));
  CHECK(!mlirAttributeIsNull(attribute));
  char text[4096] = "";
  mlirAttributePrint(attribute, append, text);
  CHECK_PART(text, "#tile.shared");
  CHECK(mlirDialectEqual(mlirAttributeGetDialect(attribute), loaded));

  /* Passes are known by name after registration, which may be repeated. */
  tileRegisterAllPasses();
  tileRegisterAllPasses();
  MlirPassManager passes = mlirPassManagerCreate(context);
  char problems[4096] = "";
  CHECK(mlirLogicalResultIsSuccess(mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(passes),
      mlirStringRefCreateFromCString("builtin.module(tile-specialize)"), append,
      problems)));
  CHECK(mlirLogicalResultIsFailure(mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(passes),
      mlirStringRefCreateFromCString("builtin.module(tile-nothing)"), append,
      problems)));
  mlirPassManagerDestroy(passes);
  mlirContextDestroy(context);
  return failures != 0;
}
