// Tests the mechanical repair of accesses without a mask, one row per kernel: the mask that the kernel
// computes and does not use, the count that its grid is made of, a range that is no power of two. Beside each
// stands a kernel for which the answer is not certain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/mend.h"
#include "base/text.h"

namespace hone {
namespace {

using testing::HasSubstr;

struct MaskCase {
  const char* name;
  const char* params;  // after x, y
  const char* body;
  const char* launch;              // the grid and what comes after x, y
  std::vector<const char*> after;  // lines that the repaired file has; none if it must not change
};

std::string MaskFile(const MaskCase& one) {
  return std::string(
             "import torch\nimport triton\nimport triton.language as tl\n\n\n@triton.jit\ndef k(x, y, ") +
         one.params + "):\n    pid = tl.program_id(0)\n    " + ReplaceAll(one.body, "\n", "\n    ") +
         "\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        y = "
         "torch.empty_like(x)\n"
         "        n = x.numel()\n        rows = x.shape[0]\n        BLOCK = 256\n        k" +
         one.launch + "\n        return y\n";
}

class MaskFix : public testing::TestWithParam<MaskCase> {};

TEST_P(MaskFix, MendsTheOneAndLeavesTheOther) {
  const MaskCase& one = GetParam();
  const std::string before = MaskFile(one);
  const MendedSource mended = MendSource("case.py", before);
  if (one.after.empty()) {
    EXPECT_EQ(mended.text, before);
    return;
  }
  for (const char* line : one.after) {
    EXPECT_THAT(before, testing::Not(HasSubstr(line)));
    EXPECT_THAT(mended.text, HasSubstr(line));
  }
  EXPECT_FALSE(mended.report.has_errors()) << ToText(mended.report, mended.text, false);
  EXPECT_EQ(MendSource("case.py", mended.text).text, mended.text);
  EXPECT_EQ(MendSource("case.py", ReplaceAll(before, "\n", "\r\n")).text,
            ReplaceAll(mended.text, "\n", "\r\n"));
}

#define TILE "offs = pid * BLOCK + tl.arange(0, BLOCK)\n"
#define ROW "cols = tl.arange(0, BLOCK)\nmask = cols < n\nv = tl.load(x + pid * n + cols)\n"
#define COPY "v = tl.load(x + offs)\ntl.store(y + offs, v * 2)"
constexpr char kParams[] = "n, BLOCK: tl.constexpr";
constexpr char kCover[] = "[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK)";
constexpr char kRows[] = "[(rows,)](x, y, n, BLOCK=BLOCK)";
constexpr char kDivides[] = "[(n // BLOCK,)](x, y, n, BLOCK=BLOCK)";

const MaskCase kMaskCases[] = {
    // A mask that is there.
    {"defined_mask",
     kParams,
     TILE "mask = offs < n\n" COPY,
     kDivides,
     {"tl.load(x + offs, mask=mask)\n", "tl.store(y + offs, v * 2, mask=mask)"}},
    {"defined_mask_the_other_way_round",
     kParams,
     TILE "inside = n > offs\n" COPY,
     kDivides,
     {"tl.load(x + offs, mask=inside)\n"}},
    {"defined_in_the_same_branch",
     kParams,
     TILE "if BLOCK > 8:\n    mask = offs < n\n    v = tl.load(x + offs)\n    tl.store(y + offs, v)",
     kDivides,
     {"tl.load(x + offs, mask=mask)\n"}},
    {"defined_in_another_branch", kParams, TILE "if BLOCK > 8:\n    mask = offs < n\n" COPY, kDivides, {}},
    {"another_condition_on_the_offsets",
     kParams,
     TILE
     "mask = offs < n\nlate = offs >= 3\nv = tl.load(x + offs)\ntl.store(y + offs, tl.where(late, v, 0.0))",
     kDivides,
     {}},
    {"another_condition_in_place",
     kParams,
     TILE "mask = offs < n\nv = tl.load(x + offs)\ntl.store(y + offs, tl.where(offs > 3, v, 0.0))",
     kDivides,
     {}},
    {"condition_that_is_no_bound", kParams, TILE "mask = offs % 2 == 0\n" COPY, kDivides, {}},
    {"two_masks", kParams, TILE "mask = offs < n\nother = offs < n\n" COPY, kDivides, {}},
    {"mask_that_changes", kParams, TILE "mask = offs < n\nmask = mask & (n > 3)\n" COPY, kDivides, {}},
    {"offsets_that_change", kParams, TILE "mask = offs < n\noffs += 1\n" COPY, kDivides, {}},
    {"neighbours",
     kParams,
     TILE "mask = offs < n\ntl.store(y + offs + 1, tl.load(x + offs + 1))",
     kDivides,
     {}},
    {"pairs", kParams, TILE "mask = offs < n\ntl.store(y + offs * 2, tl.load(x + offs * 2))", kDivides, {}},
    {"tiles_of_a_row",
     kParams,
     "cols = tl.arange(0, BLOCK)\nmask = cols < n\nfor s in range(0, n, BLOCK):\n"
     "    tl.store(y + s + cols, tl.load(x + s + cols))",
     kRows,
     {}},
    {"tiles_of_a_row_by_number",
     kParams,
     "cols = tl.arange(0, BLOCK)\nmask = cols < n\nfor s in range(0, 4):\n"
     "    tl.store(y + s * BLOCK + cols, tl.load(x + s * BLOCK + cols))",
     kRows,
     {}},
    {"two_axes",
     "M, n, s, BLOCK: tl.constexpr",
     "r = pid * BLOCK + tl.arange(0, BLOCK)\nc = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)\n"
     "mask = (r < M)[:, None] & (c[None, :] < n)\np = x + r[:, None] * s + c[None, :]\nv = tl.load(p)\n"
     "tl.store(y + r[:, None] * s + c[None, :], v)",
     "[(rows, rows)](x, y, rows, n, n, BLOCK=16)",
     {"tl.load(p, mask=mask)", "c[None, :], v, mask=mask)"}},
    {"two_axes_transposed",
     "M, n, s, BLOCK: tl.constexpr",
     "r = pid * BLOCK + tl.arange(0, BLOCK)\nc = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)\n"
     "mask = (r[:, None] < M) & (c[None, :] < n)\n"
     "tl.store(y + c[:, None] * s + r[None, :], tl.load(x + c[:, None] * s + r[None, :]))",
     "[(rows, rows)](x, y, rows, n, n, BLOCK=16)",
     {}},
    // What the switched-off lanes have to be.
    {"sum_of_squares",
     kParams,
     ROW "tl.store(y + pid * n + cols, v * tl.rsqrt(tl.sum(v * v, axis=0)))",
     kRows,
     {"+ cols, mask=mask, other=0.0)", "axis=0)), mask=mask)"}},
    {"softmax",
     kParams,
     ROW "e = tl.exp(v - tl.max(v, axis=0))\ntl.store(y + pid * n + cols, e / tl.sum(e, axis=0))",
     kRows,
     {"+ cols, mask=mask, other=-float(\"inf\"))", "axis=0), mask=mask)"}},
    {"deviation_needs_more_than_a_fallback",
     kParams,
     ROW "d = v - tl.sum(v, axis=0) / n\ntl.store(y + pid, tl.sum(d * d, axis=0))",
     kRows,
     {}},
    {"gather",
     kParams,
     TILE "mask = offs < n\nj = tl.load(x + offs)\nr = tl.load(y + j)\ntl.store(y + pid, r)",
     kDivides,
     {}},
    // The count that the grid covers.
    {"count",
     kParams,
     TILE COPY,
     kCover,
     {"tl.load(x + offs, mask=offs < n)\n", "tl.store(y + offs, v * 2, mask=offs < n)"}},
    {"count_from_a_lambda",
     kParams,
     TILE COPY,
     "[lambda meta: (triton.cdiv(n, meta[\"BLOCK\"]),)](x, y, x.numel(), BLOCK=128)",
     {"tl.load(x + offs, mask=offs < n)\n"}},
    {"count_rounded_by_hand",
     kParams,
     TILE COPY,
     "[((n + 255) // 256,)](x, y, n, BLOCK=256)",
     {"tl.load(x + offs, mask=offs < n)\n"}},
    {"grid_that_rounds_down", kParams, TILE COPY, kDivides, {}},
    {"grid_of_something_else", kParams, TILE COPY, "[(triton.cdiv(rows, BLOCK),)](x, y, n, BLOCK=BLOCK)", {}},
    {"grid_of_other_blocks", kParams, TILE COPY, "[(triton.cdiv(n, 128),)](x, y, n, BLOCK=256)", {}},
    {"two_counts",
     "n, m, BLOCK: tl.constexpr",
     TILE COPY,
     "[(triton.cdiv(n, BLOCK),)](x, y, n, n, BLOCK=BLOCK)",
     {}},
    {"two_launches_that_differ",
     "n, m, BLOCK: tl.constexpr",
     TILE COPY,
     "[(triton.cdiv(n, BLOCK),)](x, y, n, rows, BLOCK=BLOCK)\n"
     "        k[(triton.cdiv(n, BLOCK),)](x, y, rows, n, BLOCK=BLOCK)",
     {}},
    {"count_that_the_kernel_changes", kParams, "n = n // 2\n" TILE COPY, kCover, {}},
    {"a_bound_of_its_own",
     kParams,
     TILE "v = tl.load(x + offs)\ntl.store(y + offs, tl.where(offs < n // 2, v, 0.0))",
     kCover,
     {}},
    // Ranges that are no power of two.
    {"block_of_a_thousand_with_its_mask",
     kParams,
     TILE "mask = offs < n\n" COPY,
     "[(triton.cdiv(n, 1000),)](x, y, n, BLOCK=1000)",
     {"tl.load(x + offs, mask=mask)", "BLOCK=1024)"}},
    {"block_of_a_thousand_with_a_count",
     kParams,
     TILE COPY,
     "[(triton.cdiv(n, 1000),)](x, y, n, BLOCK=1000)",
     {"tl.load(x + offs, mask=offs < n)", "BLOCK=1024)"}},
    {"block_of_a_thousand_alone", "BLOCK: tl.constexpr", TILE COPY, "[(n // 1000,)](x, y, BLOCK=1000)", {}},
    {"range_of_a_thousand",
     "n",
     "offs = pid * 1000 + tl.arange(0, 1000)\n" COPY,
     "[(n // 1000,)](x, y, n)",
     {"tl.arange(0, 1024)", "tl.load(x + offs, mask=offs < pid * 1000 + 1000)\n",
      "v * 2, mask=offs < pid * 1000 + 1000)"}},
    {"row_of_a_thousand",
     "n",
     "c = tl.arange(0, 1000)\nv = tl.load(x + pid * 1000 + c)\n"
     "tl.store(y + pid * 1000 + c, v / tl.sum(v, axis=0))",
     "[(rows,)](x, y, n)",
     {"tl.arange(0, 1024)", "+ c, mask=c < 1000, other=0.0)", "axis=0), mask=c < 1000)"}},
    {"masked_row_of_a_thousand",
     "n",
     "c = tl.arange(0, 1000)\nm = c < 1000\nv = tl.load(x + c, mask=m, other=0.0)\n"
     "tl.store(y + c, v / tl.sum(v, axis=0), mask=m)",
     "[(1,)](x, y, n)",
     {"c = tl.arange(0, 1024)"}},
    {"range_that_is_summed_up",
     "n",
     "c = tl.arange(0, 1000)\nv = tl.load(x + c)\ntl.store(y + c, v + tl.sum(c, axis=0))",
     "[(1,)](x, y, n)",
     {}},
    {"range_in_two_dimensions",
     "n",
     "c = tl.arange(0, 1000)\nv = tl.load(x + c[None, :])\ntl.store(y + c[None, :], v)",
     "[(1,)](x, y, n)",
     {}},
    {"two_ranges",
     "n",
     "c = tl.arange(0, 1000)\nd = tl.arange(0, 1000)\nv = tl.load(x + c)\ntl.store(y + d, v)",
     "[(1,)](x, y, n)",
     {}},
};
#undef TILE
#undef ROW
#undef COPY

INSTANTIATE_TEST_SUITE_P(Mend, MaskFix, testing::ValuesIn(kMaskCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hone
