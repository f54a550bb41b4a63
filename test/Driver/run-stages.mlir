// A tile program by its stages: tunables, what each pass leaves, files, times.
//
// RUN: tile-run %s | FileCheck %s --check-prefix=RESULT
// RESULT: scale {{ *}}cpu {{ *}}factor=2.5, x 1000xf32 -> y 1000xf32
// The extent of the tile is a choice; both give the same.
// RUN: tile-run %s --set tile=64 | FileCheck %s --check-prefix=RESULT
// RUN: not tile-run %s --set tile=100 2>&1 | FileCheck %s --check-prefix=CHOICE
// CHOICE: tile-run: error: tunable 'tile': expected one of 64, 256, got 100
// RUN: not tile-run %s --set tiel=64 2>&1 | FileCheck %s --check-prefix=TUNABLE
// TUNABLE: tile-run: error: there is no tunable 'tiel'; did you mean 'tile'?
//
// RUN: tile-run %s --emit=source | FileCheck %s --check-prefix=SOURCE
// SOURCE: func.func @scale
// SOURCE-NOT: @reference
// RUN: tile-run %s --set tile=64 --emit=tile-specialize -o - | FileCheck %s --check-prefix=SPECIALIZE
// SPECIALIZE: tile.parallel (%{{.*}}) in (64)
// RUN: tile-run %s --emit=convert-tile-to-cpu | FileCheck %s --check-prefix=CPU
// CPU-NOT: tile.
// CPU: omp.parallel
// RUN: tile-run %s --emit=mlir | FileCheck %s --check-prefix=MLIR
// MLIR: llvm.func @_mlir_ciface_scale
// RUN: tile-run %s --emit=llvm -o %t.ll && FileCheck %s --check-prefix=LLVM < %t.ll
// Only the packed form of the entry is seen outside.
// LLVM: define {{.*}}void @_tile_call_scale(ptr
// LLVM-NOT: define void
// RUN: tile-run %s --emit=asm | FileCheck %s --check-prefix=ASM
// ASM: _tile_call_scale:
// RUN: tile-run %s --emit=obj -o %t.o && llvm-nm %t.o | FileCheck %s --check-prefix=OBJ
// OBJ: T _tile_call_scale
//
// RUN: rm -rf %t.stages && tile-run %s --dump-stages=%t.stages && ls %t.stages | FileCheck %s --check-prefix=DUMP
// DUMP: 00-source.mlir
// DUMP-NEXT: 01-tile-inline-calls.mlir
// DUMP-NEXT: 02-tile-specialize.mlir
// DUMP: -mlir.mlir
// DUMP-NEXT: -llvm.ll
// DUMP-NEXT: -asm.s
// DUMP-NEXT: -obj.o
//
// RUN: tile-run %s --time-passes | FileCheck %s --check-prefix=TIME
// TIME: step of 'scale' {{ *}}time
// TIME-NEXT: tile-inline-calls {{ *[0-9.]+ .*s$}}
// TIME: llvm-optimize
// TIME: all {{ *[0-9.]+ .*s$}}
//
// The pipeline that the driver runs is one of tile-opt's.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-to-cpu{values=tile=64})' | FileCheck %s --check-prefix=OPT
// OPT: llvm.func @scale
// OPT: omp.wsloop
// OPT: llvm.func @reference

func.func @scale(%factor: f32 {tile.default = "2.5"},
                 %x: memref<?xf32> {tile.default = "randn:1000xf32"},
                 %y: memref<?xf32> {tile.default = "empty:x[0]xf32"})
    attributes {tile.reference = @reference} {
  %c0 = arith.constant 0 : index
  %tile = tile.tunable "tile" in [64, 256] default(256)
  %n = memref.dim %x, %c0 : memref<?xf32>
  %blocks = arith.ceildivsi %n, %tile : index
  tile.launch blocks(%b) in (%blocks) {
    %start = arith.muli %b, %tile : index
    tile.parallel (%i) in (%tile) {
      %at = arith.addi %start, %i : index
      %v = memref.load %x[%at] : memref<?xf32>
      %scaled = arith.mulf %v, %factor : f32
      memref.store %scaled, %y[%at] : memref<?xf32>
    }
  }
  return
}

func.func @reference(%factor: f32, %x: memref<?xf64>, %y: memref<?xf64>) {
  %wide = arith.extf %factor : f32 to f64
  linalg.map ins(%x : memref<?xf64>) outs(%y : memref<?xf64>)
    (%v: f64, %out: f64) {
      %scaled = arith.mulf %v, %wide : f64
      linalg.yield %scaled : f64
    }
  return
}
