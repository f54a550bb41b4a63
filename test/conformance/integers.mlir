// Integer arithmetic at its edges: divisions that machines trap on, and loops
// that count in unsigned numbers.

// A quotient by zero is 0 and a remainder by zero is the dividend; the least
// integer divided by minus one is itself.
func.func @quotients(
    %x: memref<?xi32> {tile.name = "x", tile.default = "values(7,-7,-2147483648,0,-2147483648,12,-1,5):8xi32"},
    %d: memref<?xi32> {tile.name = "d", tile.default = "values(0,0,-1,0,0,-5,-1,3):8xi32"},
    %o: memref<7x?xi32> {tile.name = "o", tile.default = "empty:7x8xi32"})
    attributes {tile.reference = @quotients_reference} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  // The lanes that hang over the edge divide zero by zero.
  tile.launch blocks(%b) in (%c2) {
    %base = arith.muli %b, %c5 : index
    tile.parallel (%i) in (5) {
      %at = arith.addi %base, %i : index
      %a = memref.load %x[%at] : memref<?xi32>
      %e = memref.load %d[%at] : memref<?xi32>
      %q0 = arith.divsi %a, %e : i32
      memref.store %q0, %o[%c0, %at] : memref<7x?xi32>
      %q1 = arith.divui %a, %e : i32
      memref.store %q1, %o[%c1, %at] : memref<7x?xi32>
      %q2 = arith.floordivsi %a, %e : i32
      memref.store %q2, %o[%c2, %at] : memref<7x?xi32>
      %q3 = arith.ceildivsi %a, %e : i32
      memref.store %q3, %o[%c3, %at] : memref<7x?xi32>
      %q4 = arith.ceildivui %a, %e : i32
      memref.store %q4, %o[%c4, %at] : memref<7x?xi32>
      %r0 = arith.remsi %a, %e : i32
      memref.store %r0, %o[%c5, %at] : memref<7x?xi32>
      %r1 = arith.remui %a, %e : i32
      memref.store %r1, %o[%c6, %at] : memref<7x?xi32>
    }
  }
  return
}
// By way of i64, with zero as a case of its own.
func.func @quotients_reference(%x: memref<?xi32>, %d: memref<?xi32>, %o: memref<7x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xi32>
    %e = memref.load %d[%i] : memref<?xi32>
    %as = arith.extsi %a : i32 to i64
    %es = arith.extsi %e : i32 to i64
    %au = arith.extui %a : i32 to i64
    %eu = arith.extui %e : i32 to i64
    %isZero = arith.cmpi eq, %es, %zero : i64
    %ds = arith.select %isZero, %one, %es : i64
    %du = arith.select %isZero, %one, %eu : i64
    %q0 = arith.divsi %as, %ds : i64
    %s0 = arith.select %isZero, %zero, %q0 : i64
    %t0 = arith.trunci %s0 : i64 to i32
    memref.store %t0, %o[%c0, %i] : memref<7x?xi32>
    %q1 = arith.divui %au, %du : i64
    %s1 = arith.select %isZero, %zero, %q1 : i64
    %t1 = arith.trunci %s1 : i64 to i32
    memref.store %t1, %o[%c1, %i] : memref<7x?xi32>
    %q2 = arith.floordivsi %as, %ds : i64
    %s2 = arith.select %isZero, %zero, %q2 : i64
    %t2 = arith.trunci %s2 : i64 to i32
    memref.store %t2, %o[%c2, %i] : memref<7x?xi32>
    %q3 = arith.ceildivsi %as, %ds : i64
    %s3 = arith.select %isZero, %zero, %q3 : i64
    %t3 = arith.trunci %s3 : i64 to i32
    memref.store %t3, %o[%c3, %i] : memref<7x?xi32>
    %q4 = arith.ceildivui %au, %du : i64
    %s4 = arith.select %isZero, %zero, %q4 : i64
    %t4 = arith.trunci %s4 : i64 to i32
    memref.store %t4, %o[%c4, %i] : memref<7x?xi32>
    %r0 = arith.remsi %as, %ds : i64
    %u0 = arith.select %isZero, %as, %r0 : i64
    %t5 = arith.trunci %u0 : i64 to i32
    memref.store %t5, %o[%c5, %i] : memref<7x?xi32>
    %r1 = arith.remui %au, %du : i64
    %u1 = arith.select %isZero, %au, %r1 : i64
    %t6 = arith.trunci %u1 : i64 to i32
    memref.store %t6, %o[%c6, %i] : memref<7x?xi32>
  }
  return
}

// Beside the launch, too: a grid for tiles of no rows is empty.
func.func @no_rows(
    %rows: index {tile.name = "rows", tile.default = "0"},
    %o: memref<4xf32> {tile.name = "o", tile.default = "ones:4xf32"})
    attributes {tile.reference = @no_rows_reference} {
  %c4 = arith.constant 4 : index
  %grid = arith.ceildivsi %c4, %rows : index
  tile.launch blocks(%b) in (%grid) {
    %zero = arith.constant 0.0 : f32
    tile.parallel (%i) in (4) {
      memref.store %zero, %o[%i] : memref<4xf32>
    }
  }
  return
}
func.func @no_rows_reference(%rows: index, %o: memref<4xf64>) {
  %one = arith.constant 1.0 : f64
  linalg.fill ins(%one : f64) outs(%o : memref<4xf64>)
  return
}

// 1, 1000000001, 2000000001 and 3000000001 are below 3294967296, which is
// -1000000000 as a signed number: four iterations.
func.func @unsigned(
    %o: memref<2x4xi32> {tile.name = "o", tile.default = "empty:2x4xi32"})
    attributes {tile.reference = @unsigned_reference} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.launch blocks(%b) in (%c1) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %upper = arith.constant -1000000000 : i32
    %step = arith.constant 1000000000 : i32
    tile.parallel (%i) in (4) {
      %s = scf.for unsigned %k = %one to %upper step %step iter_args(%count = %zero) -> (i32) : i32 {
        %r = arith.addi %count, %one : i32
        scf.yield %r : i32
      }
      memref.store %s, %o[%c0, %i] : memref<2x4xi32>
    }
    scf.for %i = %c0 to %c4 step %c1 {
      %s = scf.for unsigned %k = %one to %upper step %step iter_args(%count = %zero) -> (i32) : i32 {
        %r = arith.addi %count, %one : i32
        scf.yield %r : i32
      }
      memref.store %s, %o[%c1, %i] : memref<2x4xi32>
    }
  }
  return
}
func.func @unsigned_reference(%o: memref<2x4xi32>) {
  %four = arith.constant 4 : i32
  linalg.fill ins(%four : i32) outs(%o : memref<2x4xi32>)
  return
}
