// Names that are always imported the same way: tl, math, F, Optional, load_inline.
#include "analysis/fixes/fix.h"
#include "base/text.h"

namespace hone {

namespace {

struct UsualImport {
  std::string_view name;
  std::string_view line;
};
constexpr UsualImport kImports[] = {{"tl", "import triton.language as tl"},
                                    {"triton", "import triton"},
                                    {"torch", "import torch"},
                                    {"nn", "import torch.nn as nn"},
                                    {"math", "import math"},
                                    {"F", "import torch.nn.functional as F"},
                                    {"np", "import numpy as np"},
                                    {"os", "import os"},
                                    {"time", "import time"},
                                    {"functools", "import functools"},
                                    {"itertools", "import itertools"},
                                    {"sys", "import sys"},
                                    {"warnings", "import warnings"},
                                    {"Optional", "from typing import Optional"},
                                    {"Tuple", "from typing import Tuple"},
                                    {"List", "from typing import List"},
                                    {"Dict", "from typing import Dict"},
                                    {"Any", "from typing import Any"},
                                    {"Union", "from typing import Union"},
                                    {"Callable", "from typing import Callable"},
                                    {"load_inline", "from torch.utils.cpp_extension import load_inline"},
                                    {"libdevice", "from triton.language.extra import libdevice"},
                                    {"lru_cache", "from functools import lru_cache"},
                                    {"partial", "from functools import partial"},
                                    {"dataclass", "from dataclasses import dataclass"},
                                    {"Tensor", "from torch import Tensor"},
                                    {"Parameter", "from torch.nn import Parameter"}};

// Functions that are reached through a module: next_power_of_2(n) is triton.next_power_of_2(n).
constexpr UsualImport kMembers[] = {{"next_power_of_2", "triton"}, {"cdiv", "triton"}};

}  // namespace

FixEdits FixMissingImport(const FixRequest& request) {
  const PyNode* node = request.node;
  if (node == nullptr || !node->Is(PyKind::kName)) return {};
  const Candidate& candidate = request.candidate;
  const Scopes& scopes = *candidate.python->scopes;
  if (scopes.Find(node->name, node) != nullptr) return {};
  FixEdits edits;
  for (const UsualImport& row : kImports)
    if (row.name == node->name) {
      AddImport(candidate, row.line, &edits);
      return edits;
    }
  const bool called =
      node->parent != nullptr && node->parent->Is(PyKind::kCall) && node->parent->value == node;
  for (const UsualImport& row : kMembers) {
    if (row.name != node->name || !called) continue;
    const bool in_kernel = KernelAround(candidate, node) != nullptr;
    if (in_kernel && row.name != "cdiv") return {};
    const std::string module =
        in_kernel ? EnsureLanguage(candidate, &edits) : EnsureTriton(candidate, &edits);
    if (module.empty()) return {};
    edits.push_back({node->start, node->end, module + "." + std::string(node->name)});
    return edits;
  }
  return {};
}

}  // namespace hone
