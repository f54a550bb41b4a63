// Eight explicit steps of the heat equation on a rod, without going back to
// memory in between.
//
// All lanes take a step together: lockstep means that each statement is done
// by all lanes before the next begins, so a lane reads its neighbours' old
// temperatures before anyone stores a new one. No second buffer, no barrier.
//
// A block computes 240 cells from 256: with each step the wrong values at the
// ends of its piece creep one cell inwards, so it carries 8 cells more on each
// side. The copy starts at a negative offset in the first block; outside the
// rod it reads zero, which is the temperature there, and stays.

func.func @stencil(
    %u: memref<?xf32> {tile.name = "U", tile.default = "randn:100000xf32"},
    %rate: f32 {tile.name = "rate", tile.default = "0.25"},
    %v: memref<?xf32> {tile.name = "V", tile.default = "empty:U[0]xf32"})
    attributes {tile.reference = @stencil_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-6>,
                tile.flops = "8 * 5 * U[0]",
                tile.bytes = "8 * U[0]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c240 = arith.constant 240 : index
  %two = arith.constant 2.0 : f32
  %n = memref.dim %u, %c0 : memref<?xf32>
  %grid = arith.ceildivsi %n, %c240 : index

  tile.launch blocks(%b) in (%grid) threads(128) {
    %begin = arith.muli %b, %c240 : index
    %first = arith.subi %begin, %c8 : index
    %cells = tile.alloc_shared : memref<256xf32, #tile.shared>
    tile.copy %u[%first] to %cells : memref<?xf32> to memref<256xf32, #tile.shared>
    // The outermost cells have no neighbour and are never written.
    tile.parallel (%lane) in (254) {
      %right = arith.addi %lane, %c2 : index
      %at = arith.addi %lane, %c1 : index
      %cell = arith.addi %first, %at : index
      %inRod = arith.cmpi ult, %cell, %n : index // negative ones are huge
      scf.for %step = %c0 to %c8 step %c1 {
        %l = memref.load %cells[%lane] : memref<256xf32, #tile.shared>
        %m = memref.load %cells[%at] : memref<256xf32, #tile.shared>
        %r = memref.load %cells[%right] : memref<256xf32, #tile.shared>
        %sides = arith.addf %l, %r : f32
        %twice = arith.mulf %m, %two : f32
        %bend = arith.subf %sides, %twice : f32
        %change = arith.mulf %bend, %rate : f32
        %new = arith.addf %m, %change : f32
        scf.if %inRod {
          memref.store %new, %cells[%at] : memref<256xf32, #tile.shared>
        }
      }
    }
    tile.copy %cells[8] sizes [240] to %v[%begin]
      : memref<256xf32, #tile.shared> to memref<?xf32>
  }
  return
}

func.func @stencil_reference(%u: memref<?xf64>, %rate: f32, %v: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f64
  %zero = arith.constant 0.0 : f64
  %wide = arith.extf %rate : f32 to f64
  %n = memref.dim %u, %c0 : memref<?xf64>
  memref.copy %u, %v : memref<?xf64> to memref<?xf64>
  // One cell of zero on each side.
  %c2 = arith.constant 2 : index
  %padded = arith.addi %n, %c2 : index
  %old = memref.alloc(%padded) : memref<?xf64>
  %end = arith.addi %n, %c1 : index
  memref.store %zero, %old[%c0] : memref<?xf64>
  memref.store %zero, %old[%end] : memref<?xf64>
  affine.for %step = 0 to 8 {
    affine.for %i = 0 to %n {
      %m = affine.load %v[%i] : memref<?xf64>
      affine.store %m, %old[%i + 1] : memref<?xf64>
    }
    affine.for %i = 0 to %n {
      %l = affine.load %old[%i] : memref<?xf64>
      %m = affine.load %old[%i + 1] : memref<?xf64>
      %r = affine.load %old[%i + 2] : memref<?xf64>
      %sides = arith.addf %l, %r : f64
      %twice = arith.mulf %m, %two : f64
      %bend = arith.subf %sides, %twice : f64
      %change = arith.mulf %bend, %wide : f64
      %new = arith.addf %m, %change : f64
      affine.store %new, %v[%i] : memref<?xf64>
    }
  }
  memref.dealloc %old : memref<?xf64>
  return
}
