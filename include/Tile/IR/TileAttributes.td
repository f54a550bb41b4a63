//===- TileAttributes.td - Memory spaces and choices --------*- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory spaces, the enumerations that ops name their choices by, and the
// classes of buffers that ops accept.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_TILEATTRIBUTES_TD
#define TILE_IR_TILEATTRIBUTES_TD

include "Tile/IR/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"

//===----------------------------------------------------------------------===//
// Memory spaces
//===----------------------------------------------------------------------===//

class Tile_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Tile_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Tile_SharedAttr : Tile_Attr<"Shared", "shared"> {
  let summary = "memory that all threads of a block share";
  let description = [{
    Once layouts are inferred, `strides` says how many elements apart neighbours
    along each dimension lie; without it a buffer is dense. `swizzle = [bits,
    base, shift]` then spreads columns over the banks: an element that the
    strides put at offset `o` lies at `o` with `bits` bits from bit `base` on
    flipped where the bits `shift` further up are set (docs/Layouts.md). It
    counts from the start of the allocation, so a view of the buffer keeps it.

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) {
        %A = tile.alloc_shared : memref<128x64xf16, #tile.shared<strides = [64, 1], swizzle = [3, 3, 3]>>
        %B = tile.alloc_shared : memref<128x48xf16, #tile.shared<strides = [56, 1]>>
      }
      return
    }
    ```
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"int64_t">:$strides,
    OptionalArrayRefParameter<"int64_t">:$swizzle);
  let builders = [
    AttrBuilder<(ins), [{
      return $_get($_ctxt, ::llvm::ArrayRef<int64_t>(),
                   ::llvm::ArrayRef<int64_t>());
    }]>,
    AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$strides), [{
      return $_get($_ctxt, strides, ::llvm::ArrayRef<int64_t>());
    }]>
  ];
  let assemblyFormat = [{
    (`<` `strides` `=` `[` $strides^ `]`
      (`,` `swizzle` `=` `[` $swizzle^ `]`)? `>`)?
  }];
  let genVerifyDecl = 1;
}

def Tile_FragmentAttr : Tile_Attr<"Fragment", "fragment"> {
  let summary = "a tile spread over the registers of a block's threads";
  let description = [{
    Once layouts are inferred, `layout` says which register of which thread
    holds what, in the text form of `FragmentLayout` (docs/Layouts.md).

    ```mlir
    func.func @f(%n: index) {
      tile.launch blocks(%b) in (%n) threads(32) {
        %C = tile.alloc_fragment
          : memref<16x8xf32, #tile.fragment<"16x8 threads 32 (4,8):(2@1,1@0) registers (2,2):(1@1,8@0)">>
      }
      return
    }
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::StringAttr">:$layout);
  let builders = [AttrBuilder<(ins), [{
    return $_get($_ctxt, ::mlir::StringAttr());
  }]>];
  let assemblyFormat = "(`<` $layout^ `>`)?";
  let genVerifyDecl = 1;
}

def Tile_LocalAttr : Tile_Attr<"Local", "local"> {
  let summary = "memory private to one lane";
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

// An enumeration whose attribute is `#tile.bounds<guard>` by itself. Ops print
// the bare keyword through `custom<Choice>`.
class Tile_Enum<string name, string description, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, description, cases> {
  let cppNamespace = "::tile";
  let genSpecializedAttr = 0;
}
class Tile_EnumAttr<EnumInfo info, string mnemonic>
    : EnumAttr<Tile_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def Tile_Bounds : Tile_Enum<"Bounds", "what an access outside a global buffer does", [
  I32EnumAttrCase<"Guard", 0, "guard">,
  I32EnumAttrCase<"Trap", 1, "trap">,
  I32EnumAttrCase<"Assume", 2, "assume">
]>;
def Tile_BoundsAttr : Tile_EnumAttr<Tile_Bounds, "bounds">;

def Tile_GemmPolicy : Tile_Enum<"GemmPolicy", "how warps divide the result of a gemm", [
  I32EnumAttrCase<"Square", 0, "square">,
  I32EnumAttrCase<"FullRow", 1, "full_row">,
  I32EnumAttrCase<"FullCol", 2, "full_col">
]>;
def Tile_GemmPolicyAttr : Tile_EnumAttr<Tile_GemmPolicy, "gemm_policy">;

def Tile_Precision : Tile_Enum<"Precision", "how f32 operands of a gemm are read", [
  I32EnumAttrCase<"IEEE", 0, "ieee">,
  I32EnumAttrCase<"TF32", 1, "tf32">
]>;
def Tile_PrecisionAttr : Tile_EnumAttr<Tile_Precision, "precision">;

def Tile_CachePolicy : Tile_Enum<"CachePolicy", "how long a copy's data are to stay in the cache", [
  I32EnumAttrCase<"EvictNormal", 0, "evict_normal">,
  I32EnumAttrCase<"EvictFirst", 1, "evict_first">,
  I32EnumAttrCase<"EvictLast", 2, "evict_last">,
  I32EnumAttrCase<"NoAllocate", 3, "no_allocate">
]>;
def Tile_CachePolicyAttr : Tile_EnumAttr<Tile_CachePolicy, "cache_policy">;

def Tile_CopyEngine : Tile_Enum<"CopyEngine", "what moves the data of a copy", [
  I32EnumAttrCase<"Auto", 0, "auto">,
  I32EnumAttrCase<"Vector", 1, "vector">,
  I32EnumAttrCase<"CpAsync", 2, "cp_async">,
  I32EnumAttrCase<"TMA", 3, "tma">
]>;
def Tile_CopyEngineAttr : Tile_EnumAttr<Tile_CopyEngine, "copy_engine">;

def Tile_Role : Tile_Enum<"Role", "which warps of a block run a part of the program", [
  I32EnumAttrCase<"Producer", 0, "producer">,
  I32EnumAttrCase<"Consumer", 1, "consumer">
]>;
def Tile_RoleAttr : Tile_EnumAttr<Tile_Role, "role">;

def Tile_RasterOrder : Tile_Enum<"RasterOrder", "along what tiles are numbered", [
  I32EnumAttrCase<"Row", 0, "row">,
  I32EnumAttrCase<"Column", 1, "column">
]>;
def Tile_RasterAttr : Tile_Attr<"Raster", "raster"> {
  let summary = "the order in which the tiles of a plane are numbered";
  let description = [{
    `row` numbers the tiles of a plane row by row, `column` column by column.
    With a group of more than one, `row` numbers bands of that many rows from top
    to bottom, inside a band column by column; `column` numbers bands of that
    many columns from left to right, inside a band row by row. Tiles whose
    numbers are close then share rows and columns of the operands, which stay in
    the cache.

    ```mlir
    module attributes {test.raster = #tile.raster<row, 8>} {}
    ```
  }];
  let parameters = (ins EnumParameter<Tile_RasterOrder>:$order,
                        DefaultValuedParameter<"int64_t", "1">:$group);
  let assemblyFormat = "`<` $order (`,` $group^)? `>`";
  let genVerifyDecl = 1;
}

def Tile_ReduceKind : Tile_Enum<"ReduceKind", "how a reduction combines two elements", [
  I32EnumAttrCase<"Sum", 0, "sum">,
  I32EnumAttrCase<"Product", 1, "product">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"AbsSum", 4, "abs_sum">,
  I32EnumAttrCase<"AbsMax", 5, "abs_max">,
  I32EnumAttrCase<"And", 6, "and">,
  I32EnumAttrCase<"Or", 7, "or">,
  I32EnumAttrCase<"Xor", 8, "xor">
]>;
def Tile_ReduceKindAttr : Tile_EnumAttr<Tile_ReduceKind, "reduce_kind">;

//===----------------------------------------------------------------------===//
// What a function says about its own check
//===----------------------------------------------------------------------===//

def Tile_ToleranceAttr : Tile_Attr<"Tolerance", "tolerance"> {
  let summary = "how far results may lie from the reference";
  let description = [{
    `norm` bounds the relative Frobenius error of each output. Each element is
    bounded by `atol + rtol * |reference|`, plus `products * eps * magnitude`,
    where eps is the rounding unit of the output's type and the magnitude is the
    reference applied to the absolute values of the inputs: the bound of an
    inner product, whatever order its sum takes. A part that is left out is zero,
    except `norm`, which is then not checked.

    ```mlir
    module attributes {test.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-6, rtol = 1.0e-5>} {}
    ```
  }];
  let parameters = (ins APFloatParameter<"">:$normValue, APFloatParameter<"">:$atolValue,
                        APFloatParameter<"">:$rtolValue, APFloatParameter<"">:$productsValue);
  let extraClassDeclaration = [{
    /// Negative where the norm is not checked.
    double getNorm() const { return getNormValue().convertToDouble(); }
    double getAtol() const { return getAtolValue().convertToDouble(); }
    double getRtol() const { return getRtolValue().convertToDouble(); }
    double getProducts() const { return getProductsValue().convertToDouble(); }
  }];
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

// Element types that a buffer of a tile program may have.
def Tile_Element : AnyTypeOf<[F64, F32, F16, BF16, F8E4M3FN, F8E5M2, I64, I32, I16, I8, I<4>, I1, Index],
  "an element type of tile buffers (f64 f32 f16 bf16 f8E4M3FN f8E5M2 i64 i32 i16 i8 i4 i1 index)">;

def Tile_Buffer : MemRefOf<[Tile_Element]>;

class Tile_BufferIn<string predicate, string space>
    : ConfinedType<Tile_Buffer, [CPred<"::tile::" # predicate # "($_self)">],
                   "memref in " # space # " memory", "::mlir::MemRefType">;
def Tile_SharedBuffer : Tile_BufferIn<"isShared", "shared">;
def Tile_FragmentBuffer : Tile_BufferIn<"isFragment", "fragment">;
def Tile_LocalBuffer : Tile_BufferIn<"isLocal", "local">;
def Tile_GlobalBuffer : Tile_BufferIn<"isGlobal", "global">;
def Tile_OnChipBuffer : Tile_BufferIn<"isOnChip", "shared, fragment or local">;

#endif // TILE_IR_TILEATTRIBUTES_TD
