// A C program includes the header, links the object file with the OpenMP
// runtime, and gets numbers, messages about arguments that do not fit, and
// reports of failed assertions, each call its own.

// RUN: tile-run %s --entry scale --entry sum --emit=object -o %t.o
// RUN: tile-run %s --entry scale --entry sum --emit=header -o %t.h
// RUN: FileCheck %s --input-file=%t.h --check-prefix=HEADER
// RUN: %llvm/bin/clang -std=c11 -Wall -Wextra -Werror -include %t.h %S/Inputs/object.c %t.o -L%llvm/lib -Wl,-rpath,%llvm/lib -lomp -lm -o %t.exe
// RUN: %t.exe | FileCheck %s --check-prefix=OUT
// RUN: %llvm/bin/clang++ -x c++ -fsyntax-only -Wall -Werror %t.h
// RUN: not tile-run %s --entry scale.twice --emit=object -o %t.o 2>&1 | FileCheck %s --check-prefix=NAME

// HEADER: typedef struct tile_buffer_1 {
// HEADER-NEXT: void *data;
// HEADER-NEXT: int64_t extents[1];
// HEADER-NEXT: int64_t strides[1];
// HEADER-NEXT: } tile_buffer_1;
// HEADER: typedef struct tile_buffer_2 {
// HEADER: extern "C" {
// HEADER: y: memref<?x64xf32>, written
// HEADER: const char *scale(const tile_buffer_2 *x,
// HEADER-NEXT: float factor,
// HEADER-NEXT: const tile_buffer_2 *y);
// HEADER: const char *sum(const tile_buffer_1 *x,
// HEADER-NEXT: const tile_buffer_1 *y,
// HEADER-NEXT: int64_t limit,
// HEADER-NEXT: uint8_t loud);

// OUT: numbers are right
// OUT: scale: argument 'y': expects extent 64 in dimension 1
// OUT: scale: argument 'y': expects a dense buffer
// OUT: scale: argument 'x': got a null pointer
// OUT: the sum is 4950
// OUT: object.mlir:{{.*}}: assertion failed: too many elements
// OUT: all calls kept apart

// NAME: 'scale.twice' is no name for a C function

func.func @scale(
    %x: memref<?x?xf32, strided<[?, 1]>> {tile.name = "x"},
    %factor: f32 {tile.name = "factor"},
    %y: memref<?x64xf32> {tile.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %rows = memref.dim %y, %c0 : memref<?x64xf32>
  %grid = arith.ceildivsi %rows, %c8 : index
  tile.launch blocks(%b) in (%grid) {
    %row = arith.muli %b, %c8 : index
    tile.parallel (%i, %j) in (8, 64) {
      %r = arith.addi %row, %i : index
      %v = memref.load %x[%r, %j] : memref<?x?xf32, strided<[?, 1]>>
      %w = arith.mulf %v, %factor : f32
      memref.store %w, %y[%r, %j] : memref<?x64xf32>
    }
  }
  return
}

func.func @scale.twice(%x: memref<4xf32>) {
  return
}

func.func @sum(%x: memref<?xf64> {tile.name = "x"}, %y: memref<1xf64> {tile.name = "y"},
               %limit: index {tile.name = "limit"}, %loud: i1 {tile.name = "loud"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  tile.launch blocks(%b) in (%c1) {
    %fits = arith.cmpi sle, %n, %limit : index
    tile.assert %fits, "too many elements"
    %s = tile.alloc_shared : memref<64xf64, #tile.shared>
    %t = tile.alloc_shared : memref<1xf64, #tile.shared>
    %zero = arith.constant 0.0 : f64
    tile.fill %t, %zero : memref<1xf64, #tile.shared>
    scf.for %k = %c0 to %n step %c64 {
      tile.copy %x[%k] to %s : memref<?xf64> to memref<64xf64, #tile.shared>
      tile.reduce sum %s along 0 into %t accumulate
        : memref<64xf64, #tile.shared> into memref<1xf64, #tile.shared>
    }
    tile.copy %t to %y : memref<1xf64, #tile.shared> to memref<1xf64>
    scf.if %loud {
      %v = memref.load %t[%c0] : memref<1xf64, #tile.shared>
      tile.print "the sum is" %v : f64
    }
  }
  return
}
