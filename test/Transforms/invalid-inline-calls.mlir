// RUN: tile-opt %s -tile-inline-calls -split-input-file -verify-diagnostics

func.func @recursion(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @+1 {{'func.call' op cannot be inlined: 'even' calls itself, and tile programs have no call stack; write a loop instead}}
    func.call @even(%b) : (index) -> ()
  }
  return
}
func.func private @even(%n: index) {
  // expected-note @+1 {{'even' calls 'odd' here}}
  func.call @odd(%n) : (index) -> ()
  return
}
func.func private @odd(%n: index) {
  // expected-note @+1 {{'odd' calls 'even' here}}
  func.call @even(%n) : (index) -> ()
  return
}

// -----

func.func @self(%n: index) {
  // expected-error @+2 {{'self' calls itself}}
  // expected-note @+1 {{'self' calls 'self' here}}
  func.call @self(%n) : (index) -> ()
  tile.launch blocks(%b) in (%n) {
  }
  return
}

// -----

// expected-note @+1 {{the function is here}}
func.func private @elsewhere(index)
func.func @declaration(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @+1 {{cannot be inlined: 'elsewhere' has no body; a tile program must be whole}}
    func.call @elsewhere(%b) : (index) -> ()
  }
  return
}

// -----

// expected-note @+1 {{the function is here}}
func.func private @branches(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  return
^b:
  return
}
func.func @blocks(%n: index, %c: i1) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @+1 {{cannot be inlined: 'branches' has several blocks; write its control flow with scf ops}}
    func.call @branches(%c) : (i1) -> ()
  }
  return
}

// -----

// expected-note @+1 {{the function is here}}
func.func private @tuned() -> index {
  %t = tile.tunable "t" in [1, 2] default(1)
  return %t : index
}
func.func @tunables(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @+1 {{cannot be inlined: 'tuned' declares tunables but is called inside a launch; declare them in the function with the launch and pass them}}
    %t = func.call @tuned() : () -> index
  }
  return
}

// -----

// Helpers that call the next ten times would come to more than 10^4 calls.
func.func @growth(%n: index) {
  tile.launch blocks(%b) in (%n) {
    func.call @a() : () -> ()
  }
  return
}
func.func private @a() {
  func.call @b() : () -> ()
  func.call @b() : () -> ()
  func.call @b() : () -> ()
  func.call @b() : () -> ()
  func.call @b() : () -> ()
  func.call @b() : () -> ()
  func.call @b() : () -> ()
  func.call @b() : () -> ()
  func.call @b() : () -> ()
  func.call @b() : () -> ()
  return
}
func.func private @b() {
  func.call @c() : () -> ()
  func.call @c() : () -> ()
  func.call @c() : () -> ()
  func.call @c() : () -> ()
  func.call @c() : () -> ()
  func.call @c() : () -> ()
  func.call @c() : () -> ()
  func.call @c() : () -> ()
  func.call @c() : () -> ()
  // expected-error @+1 {{cannot be inlined: 'b' would come to more than 10000 inlined calls}}
  func.call @c() : () -> ()
  return
}
func.func private @c() {
  func.call @d() : () -> ()
  func.call @d() : () -> ()
  func.call @d() : () -> ()
  func.call @d() : () -> ()
  func.call @d() : () -> ()
  func.call @d() : () -> ()
  func.call @d() : () -> ()
  func.call @d() : () -> ()
  func.call @d() : () -> ()
  func.call @d() : () -> ()
  return
}
func.func private @d() {
  func.call @e() : () -> ()
  func.call @e() : () -> ()
  func.call @e() : () -> ()
  func.call @e() : () -> ()
  func.call @e() : () -> ()
  func.call @e() : () -> ()
  func.call @e() : () -> ()
  func.call @e() : () -> ()
  func.call @e() : () -> ()
  func.call @e() : () -> ()
  return
}
func.func private @e() {
  func.call @f() : () -> ()
  func.call @f() : () -> ()
  func.call @f() : () -> ()
  func.call @f() : () -> ()
  func.call @f() : () -> ()
  func.call @f() : () -> ()
  func.call @f() : () -> ()
  func.call @f() : () -> ()
  func.call @f() : () -> ()
  func.call @f() : () -> ()
  return
}
func.func private @f() {
  return
}
