// C = A * B and C = A * B^T in f16, accumulated in f32: 128 x 256 tiles on eight
// warps, three stages of 64 along K.

func.func @gemm(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %bm = arith.constant 128 : index
  %bn = arith.constant 256 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  %gx = arith.ceildivsi %N, %bn : index
  %gy = arith.ceildivsi %M, %bm : index
  tile.launch blocks(%by, %bx) in (%gy, %gx) threads(256) {
    %row = arith.muli %by, %bm : index
    %column = arith.muli %bx, %bn : index
    %As = tile.alloc_shared : memref<128x64xf16, #tile.shared>
    %Bs = tile.alloc_shared : memref<64x256xf16, #tile.shared>
    %acc = tile.alloc_fragment : memref<128x256xf32, #tile.fragment>
    %zero = arith.constant 0.0 : f32
    tile.fill %acc, %zero : memref<128x256xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %K step %c64 stages(3) {
      tile.copy %A[%row, %k] to %As : memref<?x?xf16> to memref<128x64xf16, #tile.shared>
      tile.copy %B[%k, %column] to %Bs : memref<?x?xf16> to memref<64x256xf16, #tile.shared>
      tile.gemm %As, %Bs, %acc
        : memref<128x64xf16, #tile.shared>, memref<64x256xf16, #tile.shared>,
          memref<128x256xf32, #tile.fragment>
    }
    tile.copy %acc to %C[%row, %column] : memref<128x256xf32, #tile.fragment> to memref<?x?xf16>
  }
  return
}

func.func @gemm_nt(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %bm = arith.constant 128 : index
  %bn = arith.constant 256 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c0 : memref<?x?xf16>
  %gx = arith.ceildivsi %N, %bn : index
  %gy = arith.ceildivsi %M, %bm : index
  tile.launch blocks(%by, %bx) in (%gy, %gx) threads(256) {
    %row = arith.muli %by, %bm : index
    %column = arith.muli %bx, %bn : index
    %As = tile.alloc_shared : memref<128x64xf16, #tile.shared>
    %Bs = tile.alloc_shared : memref<256x64xf16, #tile.shared>
    %acc = tile.alloc_fragment : memref<128x256xf32, #tile.fragment>
    %zero = arith.constant 0.0 : f32
    tile.fill %acc, %zero : memref<128x256xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %K step %c64 stages(3) {
      tile.copy %A[%row, %k] to %As : memref<?x?xf16> to memref<128x64xf16, #tile.shared>
      tile.copy %B[%column, %k] to %Bs : memref<?x?xf16> to memref<256x64xf16, #tile.shared>
      tile.gemm %As, %Bs, %acc transpose_b
        : memref<128x64xf16, #tile.shared>, memref<256x64xf16, #tile.shared>,
          memref<128x256xf32, #tile.fragment>
    }
    tile.copy %acc to %C[%row, %column] : memref<128x256xf32, #tile.fragment> to memref<?x?xf16>
  }
  return
}
