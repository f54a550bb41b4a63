// Matrix times vector, written one lane a row: what a first CUDA kernel looks
// like, here as one elementwise loop with serial loops inside.
//
// Each lane owns a row of A and an accumulator of its own (`alloc_local`).
// Before each piece of the sum, every lane stages the whole piece of x in
// shared memory. They all write the same values, which is allowed, and thanks
// to lockstep the reads that follow see them without any barrier in sight.

func.func @gemv(
    %A: memref<?x?xf16> {tile.name = "A", tile.default = "randn:1000x700xf16"},
    %x: memref<?xf16> {tile.name = "x", tile.default = "randn:A[1]xf16"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:A[0]xf32"})
    attributes {tile.reference = @gemv_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, products = 16.0>,
                tile.flops = "2 * A[0] * A[1]",
                tile.bytes = "2 * A[0] * A[1] + 2 * A[1] + 4 * A[0]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %rows = memref.dim %A, %c0 : memref<?x?xf16>
  %columns = memref.dim %A, %c1 : memref<?x?xf16>
  %grid = arith.ceildivsi %rows, %c128 : index

  tile.launch blocks(%b) in (%grid) threads(128) {
    %first = arith.muli %b, %c128 : index
    %zero = arith.constant 0.0 : f32
    %xs = tile.alloc_shared : memref<32xf16, #tile.shared>
    %As = tile.alloc_shared : memref<128x32xf16, #tile.shared>
    tile.parallel (%lane) in (128) {
      %row = arith.addi %first, %lane : index
      %sum = tile.alloc_local : memref<1xf32, #tile.local>
      memref.store %zero, %sum[%c0] : memref<1xf32, #tile.local>
      scf.for %k = %c0 to %columns step %c32 {
        scf.for %t = %c0 to %c32 step %c1 {
          %column = arith.addi %k, %t : index
          %xv = memref.load %x[%column] : memref<?xf16>
          memref.store %xv, %xs[%t] : memref<32xf16, #tile.shared>
          %av = memref.load %A[%row, %column] : memref<?x?xf16>
          memref.store %av, %As[%lane, %t] : memref<128x32xf16, #tile.shared>
        }
        scf.for %t = %c0 to %c32 step %c1 {
          %xv = memref.load %xs[%t] : memref<32xf16, #tile.shared>
          %av = memref.load %As[%lane, %t] : memref<128x32xf16, #tile.shared>
          %xf = arith.extf %xv : f16 to f32
          %af = arith.extf %av : f16 to f32
          %product = arith.mulf %xf, %af : f32
          %old = memref.load %sum[%c0] : memref<1xf32, #tile.local>
          %new = arith.addf %old, %product : f32
          memref.store %new, %sum[%c0] : memref<1xf32, #tile.local>
        }
      }
      %result = memref.load %sum[%c0] : memref<1xf32, #tile.local>
      memref.store %result, %y[%row] : memref<?xf32>
    }
  }
  return
}

func.func @gemv_reference(%A: memref<?x?xf64>, %x: memref<?xf64>,
                          %y: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%y : memref<?xf64>)
  linalg.matvec ins(%A, %x : memref<?x?xf64>, memref<?xf64>)
                outs(%y : memref<?xf64>)
  return
}
