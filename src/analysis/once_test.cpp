// Waits and allocations in a lazy initialisation do not count for every call.
#include "analysis/once.h"

#include <gtest/gtest.h>

#include "analysis/lint.h"

namespace hone {
namespace {

size_t Waits(const std::string& body) {
  const std::string code = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n" +
                           body + "        return x\n";
  size_t count = 0;
  for (const Finding& finding : LintSource("candidate.py", code).findings)
    count += finding.rule == "host-sync-in-forward" ? 1 : 0;
  return count;
}

TEST(Once, LazyInitialisationMayWait) {
  EXPECT_EQ(Waits("        if self.kept is None:\n            self.kept = x * 2\n"
                  "            torch.cuda.synchronize()\n"),
            0u);
  EXPECT_EQ(Waits("        if x.shape not in self.plans:\n            self.plans[x.shape] = x * 2\n"
                  "            torch.cuda.synchronize()\n"),
            0u);
}

TEST(Once, EverythingElseRunsInEveryCall) {
  struct Row {
    const char* what;
    const char* body;
  };
  for (const Row& row : std::vector<Row>{
           {"no condition", "        torch.cuda.synchronize()\n"},
           {"another condition", "        if x.shape[0] > 4:\n            torch.cuda.synchronize()\n"},
           {"nothing is kept", "        if self.kept is None:\n            torch.cuda.synchronize()\n"},
           {"something else is kept",
            "        if self.kept is None:\n            self.other = x\n            "
            "torch.cuda.synchronize()\n"},
           {"a local name does not last",
            "        kept = None\n        if kept is None:\n            kept = x\n            "
            "torch.cuda.synchronize()\n"},
           {"the other branch",
            "        if self.kept is None:\n            self.kept = x\n        else:\n            "
            "torch.cuda.synchronize()\n"}})
    EXPECT_EQ(Waits(row.body), 1u) << row.what;
}

}  // namespace
}  // namespace hone
