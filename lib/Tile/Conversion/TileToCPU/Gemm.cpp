//===- Gemm.cpp - Tile products on the CPU ----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The classical scheme (Goto and van de Geijn, "Anatomy of High-Performance
// Matrix Multiplication", 2008) at the size of one tile: B is packed into
// panels of `nr` columns in the type of the accumulator, A is converted where
// its type differs, and a kernel holds an mr x nr block of C in vector
// registers while it runs over K, one broadcast of A and one multiply-add per
// vector at a time. Narrow types are multiplied in f32 or i32, which is exact
// for each product.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

namespace {
class GemmLowering {
public:
  GemmLowering(RewriterBase &b, LaunchContext &context, GemmOp op)
      : b(b), context(context), op(op), loc(op.getLoc()), m(op.getM()),
        n(op.getN()), k(op.getK()), compute(getCompute()) {
    lanes = context.lanes(compute);
    // Two vectors wide and as high as the registers allow: accumulators, the
    // two vectors of B and one broadcast of A must fit in 16 registers, or 32
    // where registers have 64 bytes.
    mr = std::min<int64_t>(context.vectorBytes >= 64 ? 12 : 6, m);
    nr = std::min<int64_t>(2 * lanes, n);
  }

  void lower();

private:
  Type getCompute();
  void packB();
  void packStraight();
  void packTransposed();
  void prepareA();
  Value loadA(Value row, Value column);
  void kernel(Value panel, Value row, Value column, int64_t rows,
              int64_t columns);
  void rowsOfPanel(Value panel, Value column, int64_t columns);
  Value roundToTF32(Value value);
  Value convertOperand(Value value, bool isUnsigned);
  SmallVector<Value> transpose(SmallVector<Value> rows);

  RewriterBase &b;
  LaunchContext &context;
  GemmOp op;
  Location loc;
  int64_t m, n, k;
  Type compute;
  int64_t lanes, mr, nr;
  /// B in panels: [ceil(n / nr)][k][nr].
  Value panels;
  /// A as M x K or K x M in the type `compute`.
  Value a;
};
} // namespace

/// f16 accumulators are kept in f32 while one tile is added up.
Type GemmLowering::getCompute() {
  Type type = op.getCType().getElementType();
  return type.isF16() ? Float32Type::get(op.getContext()) : type;
}

/// Rounds f32 to the 10 bits of mantissa that tf32 has, ties to even.
/// Infinities and NaN pass: adding to their mantissa would change them.
Value GemmLowering::roundToTF32(Value value) {
  Type type = value.getType();
  auto vector = dyn_cast<VectorType>(type);
  Type integer = b.getI32Type();
  if (vector)
    integer = VectorType::get(vector.getShape(), integer);
  auto constant = [&](int32_t bits) -> Value {
    TypedAttr attr = b.getI32IntegerAttr(bits);
    if (vector)
      attr = DenseElementsAttr::get(cast<VectorType>(integer), Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  };
  Value bits = arith::BitcastOp::create(b, loc, integer, value);
  Value odd = arith::AndIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, bits, constant(13)), constant(1));
  Value sum = arith::AddIOp::create(b, loc, bits, constant(0xfff));
  sum = arith::AddIOp::create(b, loc, sum, odd);
  sum = arith::AndIOp::create(b, loc, sum, constant(~0x1fff));
  Value exponent = arith::AndIOp::create(b, loc, bits, constant(0x7f800000));
  Value isSpecial = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          exponent, constant(0x7f800000));
  sum = arith::SelectOp::create(b, loc, isSpecial, bits, sum);
  return arith::BitcastOp::create(b, loc, type, sum);
}

Value GemmLowering::convertOperand(Value value, bool isUnsigned) {
  ElementConversion how;
  how.isUnsigned = isUnsigned;
  value = convertElement(b, loc, value, compute, how);
  return op.getPrecision() == Precision::TF32 ? roundToTF32(value) : value;
}

/// Transposes a square of vectors by exchanging ever larger blocks.
SmallVector<Value> GemmLowering::transpose(SmallVector<Value> rows) {
  auto size = static_cast<int64_t>(rows.size());
  for (int64_t block = 1; block < size; block *= 2) {
    auto [low, high] = getExchangeMasks(size, block);
    for (int64_t i = 0; i < size; ++i) {
      if (i & block)
        continue;
      Value x = rows[i], y = rows[i + block];
      rows[i] = vector::ShuffleOp::create(b, loc, x, y, low);
      rows[i + block] = vector::ShuffleOp::create(b, loc, x, y, high);
    }
  }
  return rows;
}

/// B is K x N: the rows of a panel are pieces of B's rows.
void GemmLowering::packStraight() {
  Value buffer = op.getB();
  bool contiguous = isContiguous(op.getBType());
  int64_t count = (n + nr - 1) / nr;
  auto packPanel = [&](Value panel, Value column, int64_t width) {
    buildLoops(b, loc, ArrayRef<int64_t>{k}, [&](OpBuilder &, ValueRange row) {
      Value zero = constantIndex(b, loc, 0);
      if (contiguous) {
        auto type = VectorType::get({width}, op.getBType().getElementType());
        Value value = vector::LoadOp::create(b, loc, type, buffer,
                                             ValueRange{row[0], column});
        vector::StoreOp::create(b, loc,
                                convertOperand(value, op.getUnsignedB()),
                                panels, ValueRange{panel, row[0], zero});
        return;
      }
      buildLoops(
          b, loc, ArrayRef<int64_t>{width}, [&](OpBuilder &, ValueRange j) {
            Value value = memref::LoadOp::create(
                b, loc, buffer,
                ValueRange{row[0], addIndex(b, loc, column, j[0])});
            memref::StoreOp::create(b, loc,
                                    convertOperand(value, op.getUnsignedB()),
                                    panels, ValueRange{panel, row[0], j[0]});
          });
    });
  };
  buildLoops(
      b, loc, ArrayRef<int64_t>{n / nr}, [&](OpBuilder &, ValueRange panel) {
        Value column =
            arith::MulIOp::create(b, loc, panel[0], constantIndex(b, loc, nr));
        packPanel(panel[0], column, nr);
      });
  if (n % nr)
    packPanel(constantIndex(b, loc, count - 1),
              constantIndex(b, loc, n / nr * nr), n % nr);
}

/// B is N x K: squares of it are transposed in registers, the rest by element.
void GemmLowering::packTransposed() {
  Value buffer = op.getB();
  MemRefType type = op.getBType();
  // Squares must fit both ways and divide a panel.
  bool useSquares = isContiguous(type) && llvm::isPowerOf2_64(lanes) &&
                    lanes > 1 && nr % lanes == 0 && n >= lanes && k >= lanes;
  int64_t wholeRows = useSquares ? n / lanes * lanes : 0;
  int64_t wholeColumns = useSquares ? k / lanes * lanes : 0;
  Value width = constantIndex(b, loc, nr), step = constantIndex(b, loc, lanes);
  auto element = [&](Value row, Value column) {
    Value value =
        memref::LoadOp::create(b, loc, buffer, ValueRange{row, column});
    Value panel = arith::DivUIOp::create(b, loc, row, width);
    Value lane = arith::RemUIOp::create(b, loc, row, width);
    memref::StoreOp::create(b, loc, convertOperand(value, op.getUnsignedB()),
                            panels, ValueRange{panel, column, lane});
  };
  auto elements = [&](int64_t rowFrom, int64_t rowTo, int64_t columnFrom,
                      int64_t columnTo) {
    if (rowFrom >= rowTo || columnFrom >= columnTo)
      return;
    buildLoops(b, loc,
               ArrayRef<int64_t>{rowTo - rowFrom, columnTo - columnFrom},
               [&](OpBuilder &, ValueRange at) {
                 element(addIndex(b, loc, at[0], rowFrom),
                         addIndex(b, loc, at[1], columnFrom));
               });
  };
  if (useSquares)
    buildLoops(b, loc,
               ArrayRef<int64_t>{wholeRows / lanes, wholeColumns / lanes},
               [&](OpBuilder &, ValueRange square) {
                 Value row = arith::MulIOp::create(b, loc, square[0], step);
                 Value column = arith::MulIOp::create(b, loc, square[1], step);
                 SmallVector<Value> rows;
                 auto rowType = VectorType::get({lanes}, type.getElementType());
                 for (int64_t i = 0; i < lanes; ++i)
                   rows.push_back(convertOperand(
                       vector::LoadOp::create(
                           b, loc, rowType, buffer,
                           ValueRange{addIndex(b, loc, row, i), column}),
                       op.getUnsignedB()));
                 Value panel = arith::DivUIOp::create(b, loc, row, width);
                 Value lane = arith::RemUIOp::create(b, loc, row, width);
                 for (auto [i, value] : llvm::enumerate(transpose(rows)))
                   vector::StoreOp::create(
                       b, loc, value, panels,
                       ValueRange{panel, addIndex(b, loc, column, i), lane});
               });
  elements(0, wholeRows, wholeColumns, k);
  elements(wholeRows, n, 0, k);
}

void GemmLowering::packB() {
  panels = allocateScratch(b, loc, {(n + nr - 1) / nr, k, nr}, compute);
  if (op.getTransposeB())
    packTransposed();
  else
    packStraight();
}

/// The kernel reads A element by element, so only its type matters.
void GemmLowering::prepareA() {
  a = op.getA();
  MemRefType type = op.getAType();
  if (type.getElementType() == compute && op.getPrecision() != Precision::TF32)
    return;
  Value buffer = a;
  a = allocateScratch(b, loc, type.getShape(), compute);
  bool contiguous = isContiguous(type);
  buildLoops(
      b, loc, ArrayRef<int64_t>{type.getDimSize(0)},
      [&](OpBuilder &, ValueRange row) {
        buildVectorLoop(
            b, loc, type.getDimSize(1), contiguous ? 2 * lanes : 1,
            [&](OpBuilder &, Value column, int64_t count) {
              SmallVector<Value> at{row[0], column};
              if (!contiguous) {
                Value value = memref::LoadOp::create(b, loc, buffer, at);
                memref::StoreOp::create(
                    b, loc, convertOperand(value, op.getUnsignedA()), a, at);
                return;
              }
              auto vector = VectorType::get({count}, type.getElementType());
              Value value = vector::LoadOp::create(b, loc, vector, buffer, at);
              vector::StoreOp::create(
                  b, loc, convertOperand(value, op.getUnsignedA()), a, at);
            });
      });
}

Value GemmLowering::loadA(Value row, Value column) {
  SmallVector<Value> at{row, column};
  if (op.getTransposeA())
    std::swap(at[0], at[1]);
  return memref::LoadOp::create(b, loc, a, at);
}

/// One block of C: `rows` x `columns` from (row, column), against one panel.
void GemmLowering::kernel(Value panel, Value row, Value column, int64_t rows,
                          int64_t columns) {
  // The block's columns as vectors: full ones and a narrower last.
  SmallVector<std::pair<int64_t, int64_t>> pieces;
  for (int64_t at = 0; at < columns; at += lanes)
    pieces.emplace_back(at, std::min(lanes, columns - at));
  Type element = op.getCType().getElementType();
  bool contiguous = isContiguous(op.getCType());

  auto loadC = [&](int64_t i, int64_t at, int64_t width) -> Value {
    auto type = VectorType::get({width}, compute);
    if (op.getClear())
      return zeroOf(b, loc, type);
    Value r = addIndex(b, loc, row, i), c = addIndex(b, loc, column, at);
    if (contiguous)
      return convertElement(
          b, loc,
          vector::LoadOp::create(b, loc, VectorType::get({width}, element),
                                 op.getC(), ValueRange{r, c}),
          compute);
    Value result = zeroOf(b, loc, type);
    for (int64_t j = 0; j < width; ++j) {
      Value value = memref::LoadOp::create(
          b, loc, op.getC(), ValueRange{r, addIndex(b, loc, c, j)});
      result = vector::InsertOp::create(
          b, loc, convertElement(b, loc, value, compute), result, j);
    }
    return result;
  };
  auto storeC = [&](Value value, int64_t i, int64_t at, int64_t width) {
    Value r = addIndex(b, loc, row, i), c = addIndex(b, loc, column, at);
    value = convertElement(b, loc, value, element);
    if (contiguous) {
      vector::StoreOp::create(b, loc, value, op.getC(), ValueRange{r, c});
      return;
    }
    for (int64_t j = 0; j < width; ++j)
      memref::StoreOp::create(b, loc,
                              vector::ExtractOp::create(b, loc, value, j),
                              op.getC(), ValueRange{r, addIndex(b, loc, c, j)});
  };

  SmallVector<Value> accumulators;
  for (int64_t i = 0; i < rows; ++i)
    for (auto [at, width] : pieces)
      accumulators.push_back(loadC(i, at, width));
  auto loop = scf::ForOp::create(b, loc, constantIndex(b, loc, 0),
                                 constantIndex(b, loc, k),
                                 constantIndex(b, loc, 1), accumulators);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value depth = loop.getInductionVar();
    // Machines with registers of 32 bytes have the fused instruction; elsewhere
    // it would be a call.
    bool fuse = context.vectorBytes >= 32;
    SmallVector<Value> vectors, results;
    for (auto [at, width] : pieces)
      vectors.push_back(vector::LoadOp::create(
          b, loc, VectorType::get({width}, compute), panels,
          ValueRange{panel, depth, constantIndex(b, loc, at)}));
    for (int64_t i = 0; i < rows; ++i) {
      Value scalar = loadA(addIndex(b, loc, row, i), depth);
      for (auto [p, piece] : llvm::enumerate(pieces)) {
        Value factor = splat(b, loc, scalar, piece.second);
        Value sum = loop.getRegionIterArgs()[i * pieces.size() + p];
        if (isa<FloatType>(compute) && fuse) {
          results.push_back(
              vector::FMAOp::create(b, loc, factor, vectors[p], sum));
          continue;
        }
        if (isa<FloatType>(compute)) {
          Value product = arith::MulFOp::create(b, loc, factor, vectors[p]);
          results.push_back(arith::AddFOp::create(b, loc, sum, product));
          continue;
        }
        Value product = arith::MulIOp::create(b, loc, factor, vectors[p]);
        results.push_back(arith::AddIOp::create(b, loc, sum, product));
      }
    }
    scf::YieldOp::create(b, loc, results);
  }
  for (int64_t i = 0; i < rows; ++i)
    for (auto [p, piece] : llvm::enumerate(pieces))
      storeC(loop.getResult(i * pieces.size() + p), i, piece.first,
             piece.second);
}

void GemmLowering::rowsOfPanel(Value panel, Value column, int64_t columns) {
  int64_t whole = m / mr * mr;
  // Few rows are too few independent sums to hide the latency of an addition;
  // they share with the last block.
  SmallVector<int64_t, 2> rest;
  if (int64_t left = m - whole; left != 0) {
    if (2 * left < mr && whole != 0) {
      whole -= mr;
      rest.push_back((mr + left) / 2);
    }
    rest.push_back(m - whole - (rest.empty() ? 0 : rest.front()));
  }
  if (whole != 0) {
    OpBuilder::InsertionGuard guard(b);
    auto loop = scf::ForOp::create(b, loc, constantIndex(b, loc, 0),
                                   constantIndex(b, loc, whole),
                                   constantIndex(b, loc, mr));
    b.setInsertionPointToStart(loop.getBody());
    kernel(panel, loop.getInductionVar(), column, mr, columns);
  }
  int64_t row = whole;
  for (int64_t rows : rest) {
    kernel(panel, constantIndex(b, loc, row), column, rows, columns);
    row += rows;
  }
}

void GemmLowering::lower() {
  if (m == 0 || n == 0)
    return;
  if (k == 0) {
    // An empty sum: zero, or what C held.
    if (op.getClear())
      buildLoops(b, loc, ArrayRef<int64_t>{m, n},
                 [&](OpBuilder &, ValueRange at) {
                   Value zero = zeroOf(b, loc, op.getCType().getElementType());
                   memref::StoreOp::create(b, loc, zero, op.getC(), at);
                 });
    return;
  }
  packB();
  prepareA();
  int64_t whole = n / nr;
  buildLoops(
      b, loc, ArrayRef<int64_t>{whole}, [&](OpBuilder &, ValueRange panel) {
        Value column =
            arith::MulIOp::create(b, loc, panel[0], constantIndex(b, loc, nr));
        rowsOfPanel(panel[0], column, nr);
      });
  if (n % nr)
    rowsOfPanel(constantIndex(b, loc, whole), constantIndex(b, loc, whole * nr),
                n % nr);
}

LogicalResult cpu::lowerGemm(RewriterBase &rewriter, LaunchContext &context,
                             GemmOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  GemmLowering(rewriter, context, op).lower();
  rewriter.eraseOp(op);
  return success();
}
