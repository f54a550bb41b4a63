// RUN: tile-opt %s --tile-widen-narrow-floats | FileCheck %s --implicit-check-not=contract
// RUN: tile-opt %s --tile-widen-narrow-floats --canonicalize | FileCheck %s --check-prefix=FOLDED

// Each result is rounded, and canonicalisation leaves it so.
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-2: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// FOLDED-LABEL: func.func @chain
// FOLDED: arith.addf
// FOLDED: arith.truncf
// FOLDED: arith.subf
// FOLDED: arith.truncf
func.func @chain(%x: bf16, %y: bf16) -> bf16 {
  %s = arith.addf %x, %y : bf16
  %d = arith.subf %s, %y : bf16
  return %d : bf16
}

// Functions of f16, too; its arithmetic stays.
// CHECK-LABEL: func.func @half
// CHECK: arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// CHECK: math.exp %{{.*}} : vector<8xf32>
// CHECK: arith.truncf
// CHECK: arith.mulf %{{.*}} : vector<8xf16>
func.func @half(%x: vector<8xf16>) -> vector<8xf16> {
  %e = math.exp %x : vector<8xf16>
  %s = arith.mulf %e, %x : vector<8xf16>
  return %s : vector<8xf16>
}

// Moves and comparisons.
// CHECK-LABEL: func.func @other
// CHECK: arith.cmpf olt, %{{.*}} : f32
// CHECK: arith.select %{{.*}} : bf16
func.func @other(%x: bf16, %y: bf16) -> bf16 {
  %c = arith.cmpf olt, %x, %y : bf16
  %s = arith.select %c, %x, %y : bf16
  return %s : bf16
}
