// C = A B with cp.async, ldmatrix and mma.sync, double-buffered; gemm.ptx is
// this file through nvcc -arch=sm_80 -ptx -lineinfo. One block makes a 64x64
// tile with four warps; extents are multiples of 64 (m, n) and 32 (k).
#include <cuda_fp16.h>
#include <cstdint>

static constexpr int BM = 64, BN = 64, BK = 32, PAD = 8;

__device__ uint32_t shared(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ void copy16(void *to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(to)),
               "l"(from));
}

template <bool SYNC>
__device__ void gemm(const half *a, const half *b, float *c, int m, int n,
                     int k) {
  __shared__ __align__(16) half as[2][BM][BK + PAD];
  __shared__ __align__(16) half bs[2][BK][BN + PAD];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int row0 = blockIdx.y * BM, column0 = blockIdx.x * BN;
  float sums[8][4] = {};
  auto load = [&](int stage, int k0) {
    for (int i = t; i < BM * BK / 8; i += 128)
      copy16(&as[stage][i / 4][i % 4 * 8],
             a + (row0 + i / 4) * k + k0 + i % 4 * 8);
    for (int i = t; i < BK * BN / 8; i += 128)
      copy16(&bs[stage][i / 8][i % 8 * 8],
             b + (k0 + i / 8) * n + column0 + i % 8 * 8);
    asm volatile("cp.async.commit_group;");
  };
  load(0, 0);
  for (int k0 = 0, stage = 0; k0 < k; k0 += BK, stage ^= 1) {
    if (k0 + BK < k) {
      load(stage ^ 1, k0 + BK);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    for (int kk = 0; kk < BK; kk += 16) {
      uint32_t x[4];
      asm volatile(
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
          : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
          : "r"(shared(&as[stage][warp * 16 + lane % 16][kk + lane / 16 * 8])));
      for (int j = 0; j < 8; ++j) {
        uint32_t y[2];
        asm volatile(
            "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
            : "=r"(y[0]), "=r"(y[1])
            : "r"(shared(&bs[stage][kk + lane % 16][j * 8])));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(sums[j][0]), "+f"(sums[j][1]), "+f"(sums[j][2]),
                       "+f"(sums[j][3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]),
                       "r"(y[1]));
      }
    }
    if (SYNC)
      __syncthreads();
  }
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 4; ++i)
      c[(row0 + warp * 16 + lane / 4 + i / 2 * 8) * n + column0 + j * 8 +
        lane % 4 * 2 + i % 2] = sums[j][i];
}

extern "C" __global__ void __launch_bounds__(128)
    gemm_f16(const half *a, const half *b, float *c, int m, int n, int k) {
  gemm<true>(a, b, c, m, n, k);
}

// Without the barrier that keeps a stage until its readers are done.
extern "C" __global__ void __launch_bounds__(128)
    gemm_f16_reused(const half *a, const half *b, float *c, int m, int n,
                    int k) {
  gemm<false>(a, b, c, m, n, k);
}
