// Tests the mechanical repair of shapes and types in kernels: one row per fix, and a similar case without a
// single right answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/mend.h"
#include "base/text.h"

namespace hone {
namespace {

using testing::HasSubstr;

// The kernel has x [BM, BK], w [BK, BN], t [BN, BK] and v [BN], and stores r [BM, BN].
struct ShapeCase {
  const char* name;
  const char* body;   // sets r
  const char* tiles;  // BM, BN, BK
  const char* after;  // text that the repaired file must contain; "" if it must not change
  const char* grid = "(1, 1)";
};

std::string ShapeFile(const ShapeCase& one) {
  const std::string zeros = ", other=0.0)\n";
  return std::string("import torch\nimport triton\nimport triton.language as tl\n\n\n@triton.jit\n") +
         "def k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):\n"
         "    rm = tl.program_id(0) * BM + tl.arange(0, BM)\n"
         "    rn = tl.program_id(1) * BN + tl.arange(0, BN)\n"
         "    rk = tl.arange(0, BK)\n"
         "    inside = (rm[:, None] < M) & (rn[None, :] < N)\n"
         "    x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K)" +
         zeros +
         "    w = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N)" +
         zeros +
         "    t = tl.load(b + rn[:, None] * K + rk[None, :], mask=(rn[:, None] < N) & (rk[None, :] < K)" +
         zeros + "    v = tl.load(b + rn, mask=rn < N" + zeros + "    " + one.body +
         "\n    tl.store(c + rm[:, None] * N + rn[None, :], r, mask=inside)\n\n\n"
         "class ModelNew(torch.nn.Module):\n    def forward(self, a, b):\n        M, K = a.shape\n"
         "        N = b.shape[1]\n        c = torch.empty(M, N, device=a.device)\n        k[" +
         one.grid + "](a, b, c, M, N, K, " + one.tiles + ")\n        return c\n";
}

class ShapeFix : public testing::TestWithParam<ShapeCase> {};

TEST_P(ShapeFix, MendsTheOneAndLeavesTheOther) {
  const std::string before = ShapeFile(GetParam());
  const std::string after = GetParam().after;
  const MendedSource mended = MendSource("case.py", before);
  if (after.empty()) {
    EXPECT_EQ(mended.text, before);
    return;
  }
  EXPECT_THAT(before, testing::Not(HasSubstr(after)));
  EXPECT_THAT(mended.text, HasSubstr(after));
  EXPECT_FALSE(mended.report.has_errors()) << ToText(mended.report, mended.text, false);
  EXPECT_EQ(mended.fixes.size(), 1u) << DumpJson(Json(ToJson(mended.fixes)));
  EXPECT_EQ(MendSource("case.py", mended.text).text, mended.text);
  EXPECT_EQ(MendSource("case.py", ReplaceAll(before, "\n", "\r\n")).text,
            ReplaceAll(mended.text, "\n", "\r\n"));
}

constexpr const char* kTiles = "BM=32, BN=64, BK=16";
constexpr const char* kSquare = "BM=64, BN=64, BK=16";

constexpr ShapeCase kShapeCases[] = {
    {"number_that_becomes_a_float",
     "s = -1\n    for j in range(0, K, BK):\n        s = tl.maximum(s, tl.max(x))\n    r = tl.dot(x, w) + s",
     kTiles, "s = -1.0\n"},
    {"number_that_stays_whole",
     "s = 0\n    for j in range(0, K, BK):\n        s += 1\n    r = tl.dot(x, w) + s", kTiles, ""},
    {"number_that_is_set_twice",
     "s = 0\n    s = 1\n    for j in range(0, K, BK):\n        s = tl.maximum(s, tl.max(x))\n"
     "    r = tl.dot(x, w) + s",
     kTiles, ""},
    {"number_that_becomes_a_block",
     "s = 0\n    for j in range(0, K, BK):\n        s += tl.sum(x, axis=1)\n"
     "    r = tl.dot(x, w) + s[:, None]",
     kTiles, "s = tl.zeros((BM,), dtype=tl.float32)\n"},
    {"number_that_becomes_a_matrix",
     "s = float('-inf')\n    for j in range(0, K, BK):\n        s = tl.maximum(s, tl.dot(x, w))\n    r = s",
     kTiles, "s = tl.full((BM, BN), float('-inf'), dtype=tl.float32)\n"},
    {"block_whose_extent_has_two_names",
     "s = 0.0\n    for j in range(0, K, BK):\n        s += tl.sum(x, axis=1)\n"
     "    r = tl.dot(x, w) + s[:, None]",
     kSquare, ""},
    {"block_of_whole_numbers",
     "s = tl.zeros((BM,), dtype=tl.int32)\n    for j in range(0, K, BK):\n        s += tl.sum(x, axis=1)\n"
     "    r = tl.dot(x, w) + s[:, None]",
     kTiles, "s = tl.zeros((BM,), dtype=tl.float32)\n"},
    {"block_of_halves",
     "s = tl.zeros((BM, BN), dtype=tl.float16)\n    for j in range(0, K, BK):\n"
     "        s += tl.dot(x.to(tl.float32), w.to(tl.float32))\n    r = s",
     kTiles, "s = tl.zeros((BM, BN), dtype=tl.float32)\n"},
    {"block_that_loses_precision",
     "s = tl.zeros((BM, BN), dtype=tl.float32)\n    for j in range(0, K, BK):\n"
     "        s = tl.dot(x, w).to(tl.float16)\n    r = s",
     kTiles, ""},
    {"operand_not_transposed", "r = tl.dot(x, t)", kTiles, "r = tl.dot(x, tl.trans(t))"},
    {"operand_transposed", "r = tl.dot(x, tl.trans(w))", kTiles, "r = tl.dot(x, w)"},
    {"operand_transposed_by_attribute", "r = tl.dot(x, w.T)", kTiles, "r = tl.dot(x, w)"},
    {"first_operand_transposed", "r = tl.dot(x.T, w)", "BM=32, BN=64, BK=128", "r = tl.dot(x, w)"},
    {"either_operand_may_be_transposed", "r = tl.dot(x, t)", kSquare, ""},
    {"either_operand_and_no_use_tells",
     "q = tl.dot(x, t)\n    r = tl.dot(x, w) + tl.sum(tl.sum(q, axis=0), axis=0)", kSquare, ""},
    {"the_accumulator_says_which", "r = tl.dot(x, t, tl.zeros((BM, BN), dtype=tl.float32))", kSquare,
     "r = tl.dot(x, tl.trans(t), tl.zeros("},
    {"neither_operand_fits", "r = tl.dot(x, tl.zeros((128, 128), dtype=tl.float32))", kTiles, ""},
    {"operands_swapped", "r = tl.zeros((BM, BN), dtype=tl.float32)\n    r += tl.dot(w, x)",
     "BM=32, BN=32, BK=16", "r += tl.dot(x, w)"},
    {"shape_of_the_sum_swapped", "r = tl.zeros((BN, BM), dtype=tl.float32)\n    r += tl.dot(x, w)", kTiles,
     "r = tl.zeros((BM, BN), dtype=tl.float32)\n"},
    {"row_as_a_column", "r = tl.dot(x, w) + v[:, None]", kTiles, "r = tl.dot(x, w) + v[None, :]"},
    {"row_as_a_column_in_place", "r = tl.dot(x, w)\n    r *= v[:, None]", kTiles, "r *= v[None, :]"},
    {"vector_that_fits_neither_way",
     "q = tl.load(b + rk, mask=rk < K, other=0.0)\n    r = tl.dot(x, w) + q[:, None]", kTiles, ""},
    {"mask_of_two_edges",
     "m = (rm < M) & (rn < N)\n    r = tl.dot(x, w)\n"
     "    tl.store(c + rm[:, None] * N + rn[None, :], r, mask=m)",
     kTiles, "m = (rm < M)[:, None] & (rn < N)[None, :]\n"},
    {"mask_of_two_edges_the_other_way_round",
     "m = (rn < N) & (rm < M)\n    r = tl.dot(x, w)\n"
     "    tl.store(c + rm[:, None] * N + rn[None, :], r, mask=m)",
     kTiles, ""},
    {"stored_transposed", "r = tl.dot(tl.trans(w), tl.trans(x))", kTiles, ", tl.trans(r), mask=inside)"},
    {"stored_in_another_shape", "r = tl.dot(tl.trans(w), w)", kTiles, ""},
    {"vector_times_matrix",
     "p = tl.load(a + rk, mask=rk < K, other=0.0)\n    r = tl.dot(x, w) + tl.dot(p, w)[None, :]", kTiles,
     "tl.sum(p.to(tl.float32)[:, None] * w.to(tl.float32), axis=0)[None, :]"},
    {"matrix_times_vector",
     "p = tl.load(a + rk, mask=rk < K, other=0.0)\n    r = tl.dot(x, w) + tl.dot(x, p)[:, None]", kTiles,
     "tl.sum(x.to(tl.float32) * p.to(tl.float32)[None, :], axis=1)[:, None]"},
    {"vector_of_another_length", "r = tl.dot(x, w) + tl.dot(v, w)[None, :]", kTiles, ""},
    {"vector_of_whole_numbers", "r = tl.dot(x, w) + tl.dot(rk, w)[None, :]", kTiles, ""},
    {"small_k", "r = tl.dot(x, w)", "BM=32, BN=64, BK=8", "BM=32, BN=64, BK=16)"},
    {"small_k_that_a_mask_does_not_cover",
     "q = tl.load(b + rk[:, None] * N + rn[None, :], mask=rn[None, :] < N, other=0.0)\n    r = tl.dot(x, q)",
     "BM=32, BN=64, BK=8", ""},
    {"small_k_without_zeros_past_the_end",
     "q = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N))\n"
     "    r = tl.dot(x, q)",
     "BM=32, BN=64, BK=8", ""},
    {"small_k_that_is_written_twice", "r = tl.dot(x, w) / 8", "BM=32, BN=64, BK=8", ""},
    {"tile_of_96", "r = tl.dot(x, w)", "BM=32, BN=96, BK=16", "BM=32, BN=128, BK=16)"},
    {"tile_of_96_that_is_compared", "r = tl.dot(x, w)\n    if BN > 64:\n        r = r + 1.0",
     "BM=32, BN=96, BK=16", ""},
    {"tile_of_96_that_the_grid_counts", "r = tl.dot(x, w)", "BM=32, BN=96, BK=16", "BM=32, BN=128, BK=16)",
     "(1, triton.cdiv(N, 96))"},
    {"tile_of_96_that_a_mask_does_not_cover",
     "q = tl.load(b + rk[:, None] * N + rn[None, :], mask=rk[:, None] < K, other=0.0)\n    r = tl.dot(x, q)",
     "BM=32, BN=96, BK=16", ""},
    {"halves_of_two_kinds", "r = tl.dot(x.to(tl.float16), w.to(tl.bfloat16))", kTiles,
     "tl.dot(x.to(tl.float16).to(tl.float32), w.to(tl.bfloat16).to(tl.float32))"},
};

INSTANTIATE_TEST_SUITE_P(Mend, ShapeFix, testing::ValuesIn(kShapeCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hone
