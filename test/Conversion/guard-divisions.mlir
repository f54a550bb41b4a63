// RUN: tile-opt %s --tile-guard-divisions --split-input-file | FileCheck %s

// A signed quotient by zero is zero and by minus one the negated dividend: the
// product of both, while the machine divides by one.
// CHECK-LABEL: func.func @signed
// CHECK-SAME: (%[[X:.*]]: i32, %[[Y:.*]]: i32)
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[A:.*]] = arith.cmpi eq, %[[Y]], %[[ZERO]]
// CHECK: %[[MINUS:.*]] = arith.constant -1 : i32
// CHECK: %[[B:.*]] = arith.cmpi eq, %[[Y]], %[[MINUS]]
// CHECK: %[[SPECIAL:.*]] = arith.ori %[[A]], %[[B]]
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[SAFE:.*]] = arith.select %[[SPECIAL]], %[[ONE]], %[[Y]]
// CHECK: %[[Q:.*]] = arith.divsi %[[X]], %[[SAFE]]
// CHECK: %[[P:.*]] = arith.muli %[[X]], %[[Y]]
// CHECK: %[[R:.*]] = arith.select %[[SPECIAL]], %[[P]], %[[Q]]
// CHECK: return %[[R]]
func.func @signed(%x: i32, %y: i32) -> i32 {
  %q = arith.divsi %x, %y : i32
  return %q : i32
}

// -----

// A remainder by zero is the dividend, also in vectors.
// CHECK-LABEL: func.func @remainder
// CHECK-SAME: (%[[X:.*]]: vector<4xi16>, %[[Y:.*]]: vector<4xi16>)
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[Y]], %{{.*}} : vector<4xi16>
// CHECK: %[[SAFE:.*]] = arith.select %[[ZERO]], %{{.*}}, %[[Y]]
// CHECK: %[[R:.*]] = arith.remui %[[X]], %[[SAFE]]
// CHECK: arith.select %[[ZERO]], %[[X]], %[[R]]
func.func @remainder(%x: vector<4xi16>, %y: vector<4xi16>) -> vector<4xi16> {
  %q = arith.remui %x, %y : vector<4xi16>
  return %q : vector<4xi16>
}

// -----

// Constants that do no harm need no guard.
// CHECK-LABEL: func.func @constants
// CHECK-NOT: arith.select
func.func @constants(%x: index, %v: vector<2xi32>) -> (index, index, vector<2xi32>) {
  %c7 = arith.constant 7 : index
  %c-1 = arith.constant -1 : index
  %d = arith.constant dense<[3, -2]> : vector<2xi32>
  %q = arith.ceildivsi %x, %c7 : index
  // Unsigned, this is a large number.
  %r = arith.remui %q, %c-1 : index
  %s = arith.floordivsi %v, %d : vector<2xi32>
  return %q, %r, %s : index, index, vector<2xi32>
}

// -----

// CHECK-LABEL: func.func @index
// CHECK: arith.select
// CHECK: index.ceildivs
// CHECK: arith.select
func.func @index(%x: index, %y: index) -> index {
  %q = index.ceildivs %x, %y
  return %q : index
}
