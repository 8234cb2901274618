// A ModelNew derived from the file's own Model inherits its weights, and Model's code is the reference.
#include "analysis/inheritance.h"

#include <gtest/gtest.h>

#include "analysis/lint.h"

namespace hone {
namespace {

const std::string kTask = R"(
import torch
import torch.nn as nn

class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, size)

    def forward(self, x):
        return torch.relu(self.fc(x))

class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.block = Block(size)
        self.gru = nn.GRU(size, size, 2)
        self.scale = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return self.gru(self.block(x) * self.scale)[0]

def get_inputs():
    return [torch.rand(4, 2, 8)]

def get_init_inputs():
    return [8]
)";

std::vector<std::string> Findings(const std::string& candidate, const std::string& rule) {
  LintOptions options;
  options.task_text = kTask;
  std::vector<std::string> out;
  for (const Finding& finding : LintSource("candidate.py", candidate, options).findings)
    if (finding.rule == rule && finding.severity != Severity::kNote) out.push_back(finding.message);
  return out;
}

TEST(Inheritance, TheWeightsOfABaseClassAreThere) {
  for (const char* body : {"    pass\n", "    def __init__(self, *a):\n        super().__init__(*a)\n",
                           "    def __init__(self, *a):\n        Model.__init__(self, *a)\n"})
    EXPECT_EQ(Findings(kTask + "class ModelNew(Model):\n" + body, "weights-not-transferable"),
              std::vector<std::string>())
        << body;
}

TEST(Inheritance, AConstructorThatLeavesOutItsBaseHasNoneOfThem) {
  const std::string own = "class ModelNew(Model):\n    def __init__(self, size):\n        self.size = size\n";
  EXPECT_FALSE(Findings(kTask + own, "weights-not-transferable").empty());
}

TEST(Inheritance, AnAttributeOfItsOwnReplacesThatOfTheBase) {
  const std::string own =
      "class ModelNew(Model):\n    def __init__(self, size):\n        super().__init__(size)\n"
      "        self.scale = nn.Parameter(torch.ones(3))\n";
  const std::vector<std::string> said = Findings(kTask + own, "weights-not-transferable");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("scale has shape [3]"), std::string::npos) << said[0];
}

TEST(Inheritance, TheReferenceItCarriesIsNoLibraryFallback) {
  const std::string plain = "class ModelNew(Model):\n    pass\n";
  EXPECT_EQ(Findings(kTask + plain, "library-fallback"), std::vector<std::string>());
  const std::string own =
      "class ModelNew(Model):\n    def forward(self, x):\n        return torch.softmax(x, dim=-1)\n";
  EXPECT_EQ(Findings(kTask + own, "library-fallback"),
            std::vector<std::string>{
                "torch.softmax does part of the work; the candidate has no kernel of its own"});
  const std::string copied =
      "class ModelNew(nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n";
  EXPECT_FALSE(Findings(kTask + copied, "library-fallback").empty()) << "no base: its own work";
}

TEST(Inheritance, NamesLeadFromTheModelToItsHelpersAndNotToModelNew) {
  const auto candidate = ReadCandidate("candidate.py", kTask + "class ModelNew(Model):\n    pass\n", {});
  const Scopes& scopes = *candidate->python->scopes;
  const std::set<const PyNode*> reference = ReferenceCode(scopes);
  EXPECT_EQ(reference.count(scopes.ClassNamed("Model")), 1u);
  EXPECT_EQ(reference.count(scopes.ClassNamed("Block")), 1u);
  EXPECT_EQ(reference.count(scopes.ClassNamed("ModelNew")), 0u);
}

}  // namespace
}  // namespace hone
