"""Plain PyTorch that writes junk into every place where Inductor, Triton and Hone keep compiled code and measurements."""
# hone-test: task = tasks/small_gemm_bias_relu.py
# hone-test: reason = escaped
import os
import pathlib

import torch
import torch.nn as nn

PLACES = ["/tmp/torchinductor_root", "/tmp/torchinductor_user", "~/.triton/cache", "~/.cache/hone", "~/.local/share/hone", "~/.cache/torch"]
for place in PLACES + [os.environ.get(name, "") for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "HONE_DATA")]:
    folder = pathlib.Path(place).expanduser()
    try:
        if not place:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        for path in [folder / "junk.json", *list(folder.rglob("*.json"))[:50]]:
            path.write_text('{"over_best": 99, "measured": "now"}')
    except OSError:
        pass


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(self.linear(x))
