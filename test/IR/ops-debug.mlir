// Prints and assertions: their assembly, and that they stay, in order.
// RUN: tile-opt %s --cse --canonicalize | tile-opt | FileCheck %s
// RUN: tile-opt %s --cse --canonicalize --mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @debug
// CHECK-SAME: (%[[N:.*]]: index, %[[OK:.*]]: i1, %[[X:.*]]: memref<?xf32>)
func.func @debug(%n: index, %ok: i1, %x: memref<?xf32>) {
  %true = arith.constant true
  // CHECK: tile.print "on the host" %[[N]] : index
  tile.print "on the host" %n : index
  tile.launch blocks(%b) in (%n) {
    // CHECK: %[[S:.*]] = tile.alloc_shared
    %s = tile.alloc_shared : memref<8xf32, #tile.shared>
    // CHECK: tile.print "no values"
    tile.print "no values"
    // Twice the same is printed twice.
    // CHECK-COUNT-2: tile.print "values" %[[S]], %bx, %[[X]] : memref<8xf32, #tile.shared>, index, memref<?xf32>
    tile.print "values" %s, %b, %x : memref<8xf32, #tile.shared>, index, memref<?xf32>
    tile.print "values" %s, %b, %x : memref<8xf32, #tile.shared>, index, memref<?xf32>
    // CHECK: tile.assert %[[OK]], "it holds" {test.note}
    tile.assert %ok, "it holds" {test.note}
    // What surely holds goes away.
    // CHECK-NOT: tile.assert
    tile.assert %true, "always"
    // CHECK: tile.parallel
    tile.parallel (%i) in (8) {
      // CHECK: tile.print "a lane" %i : index
      tile.print "a lane" %i : index
    }
  }
  return
}
