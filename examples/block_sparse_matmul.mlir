// C = A * B, where whole blocks of 64 x 32 elements of A are zero and a mask
// says which: products of those are left out.
//
// The mask is read once a step; the condition is the same for the whole block,
// so a tile of zeros costs neither copies nor a product.

func.func @block_sparse_matmul(
    %A: memref<?x?xf16> {tile.name = "A", tile.default = "randn:300x500xf16"},
    %mask: memref<?x?xi8> {tile.name = "mask", tile.default = "randint(0,2):(ceildiv(A[0],64))x(ceildiv(A[1],32))xi8"},
    %B: memref<?x?xf16> {tile.name = "B", tile.default = "randn:A[1]x200xf16"},
    %C: memref<?x?xf32> {tile.name = "C", tile.default = "empty:A[0]xB[1]xf32"})
    attributes {tile.reference = @block_sparse_matmul_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, products = 4.0>,
                tile.flops = "A[0] * A[1] * B[1]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  %gy = arith.ceildivsi %M, %c64 : index
  %gx = arith.ceildivsi %N, %c64 : index
  %steps = arith.ceildivsi %K, %c32 : index

  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %c64 : index
    %column = arith.muli %bx, %c64 : index
    %zero = arith.constant 0.0 : f32
    %empty = arith.constant 0 : i8
    %As = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %Bs = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %acc = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.fill %acc, %zero : memref<64x64xf32, #tile.fragment>
    tile.pipelined %step = %c0 to %steps stages(2) {
      %m = memref.load %mask[%by, %step] : memref<?x?xi8>
      %counts = arith.cmpi ne, %m, %empty : i8
      scf.if %counts {
        %k = arith.muli %step, %c32 : index
        tile.copy %A[%row, %k] to %As
          : memref<?x?xf16> to memref<64x32xf16, #tile.shared>
        tile.copy %B[%k, %column] to %Bs
          : memref<?x?xf16> to memref<32x64xf16, #tile.shared>
        tile.gemm %As, %Bs, %acc
          : memref<64x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>,
            memref<64x64xf32, #tile.fragment>
      }
    }
    tile.copy %acc to %C[%row, %column]
      : memref<64x64xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}

func.func @block_sparse_matmul_reference(
    %A: memref<?x?xf64>, %mask: memref<?x?xi8>, %B: memref<?x?xf64>,
    %C: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %empty = arith.constant 0 : i8
  %M = memref.dim %A, %c0 : memref<?x?xf64>
  %K = memref.dim %A, %c1 : memref<?x?xf64>
  affine.for %i = 0 to %M {
    affine.for %k = 0 to %K {
      %m = affine.load %mask[%i floordiv 64, %k floordiv 32] : memref<?x?xi8>
      %counts = arith.cmpi ne, %m, %empty : i8
      %v = affine.load %A[%i, %k] : memref<?x?xf64>
      %kept = arith.select %counts, %v, %zero : f64
      affine.store %kept, %A[%i, %k] : memref<?x?xf64>
    }
  }
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64>)
  linalg.matmul ins(%A, %B : memref<?x?xf64>, memref<?x?xf64>)
                outs(%C : memref<?x?xf64>)
  return
}
