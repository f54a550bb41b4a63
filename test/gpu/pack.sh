#!/bin/sh
# pack.sh COMPILER ROOT DIR CHIPS: one artifact for each entry of the examples that
# the suite runs, and one for each file of benchmarks.
set -eu
compiler=$1 root=$2 dir=$3 chips=$4

entry() {
  "$compiler" "$root/examples/$1.mlir" --entry "$2" --emit=artifact --verbose -o "$dir/$2.tile" --chip "$chips"
}
for name in softmax layernorm rmsnorm vector_add transpose argmax prefix_sum gemv \
  batched_matmul matmul_bias_relu matmul_f32 depthwise_conv grouped_query_attention \
  rotary_embedding embedding stencil flash_attention_varlen; do
  entry $name $name
done
for name in matmul matmul_nt matmul_tn matmul_tt; do
  entry matmul $name
done
entry activations gelu
entry activations silu_mul
for name in flash_attention flash_attention_causal; do
  entry flash_attention $name
done
for name in gemm rows attention; do
  "$compiler" "$root/benchmarks/$name.mlir" --emit=artifact --verbose -o "$dir/$name.tile" --chip "$chips"
done
