"""Row by row in Python what one call can do: an honest reference that any vectorised candidate beats by far."""
import torch
import torch.nn as nn

rows = 240
columns = 24


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = []
        for i in range(x.shape[0]):
            shifted = x[i] - x[i].max()
            e = torch.exp(shifted)
            out.append(e / e.sum())
        return torch.stack(out)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
