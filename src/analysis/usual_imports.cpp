#include "analysis/usual_imports.h"

namespace hone {

namespace {

struct ImportOfName {
  std::string_view name;
  std::string_view line;
};
constexpr ImportOfName kImports[] = {{"tl", "import triton.language as tl"},
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

}  // namespace

std::string_view UsualImport(std::string_view name) {
  for (const ImportOfName& row : kImports)
    if (row.name == name) return row.line;
  return {};
}

}  // namespace hone
