// A candidate may recognise weights by their address, but not look up answers by an input's address.
#include "analysis/input_flow.h"

#include <gtest/gtest.h>

#include "analysis/lint.h"

namespace hone {
namespace {

size_t Caches(const std::string& code) {
  size_t count = 0;
  for (const Finding& finding : LintSource("candidate.py", "import torch\n" + code).findings)
    count += finding.rule == "caches-by-identity" ? 1 : 0;
  return count;
}

TEST(InputFlow, WeightsMayBeWatchedByAddressAndVersion) {
  EXPECT_EQ(Caches(R"(
def watch(model):
    return [(t, t.data_ptr(), t._version) for t in model.parameters()]

def unchanged(watched):
    for tensor, address, version in watched:
        if tensor.data_ptr() != address or tensor._version != version:
            return False
    return True

class ModelNew(torch.nn.Module):
    def forward(self, x):
        if self.watched is None or not unchanged(self.watched):
            self.watched = watch(self)
        return x * 2
)"),
            0u);
}

TEST(InputFlow, InputsAreFollowedThroughNamesAttributesAndCalls) {
  struct Row {
    const char* what;
    const char* code;
  };
  for (const Row& row : std::vector<Row>{
           {"directly",
            "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n"
            "        if x.data_ptr() in self.kept:\n            return self.kept\n        return x\n"},
           {"through a name",
            "class ModelNew(torch.nn.Module):\n    def forward(self, *xs):\n        y = xs[0]\n"
            "        return self.kept[y.data_ptr()]\n"},
           {"through a function",
            "def find(kept, tensor):\n    return kept.get(tensor._version)\n"
            "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return find(self.kept, "
            "x)\n"},
           {"through an attribute",
            "class ModelNew(torch.nn.Module):\n    def same(self):\n        return self.last.data_ptr() == "
            "self.address\n"
            "    def forward(self, x):\n        if self.same():\n            return self.kept\n        "
            "self.last = x\n"
            "        return x\n"},
           {"in a loop",
            "class ModelNew(torch.nn.Module):\n    def forward(self, *xs):\n        for x in xs:\n"
            "            if id(x) in self.kept:\n                return self.kept\n        return xs\n"}})
    EXPECT_EQ(Caches(row.code), 1u) << row.what;
}

}  // namespace
}  // namespace hone
