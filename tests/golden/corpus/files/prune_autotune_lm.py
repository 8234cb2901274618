import torch, torch.nn as nn, triton
import triton.language as tl

def prune(configs, named_args, **kw):
    n = named_args["N"]
    return [c for c in configs if c.kwargs["BN"] <= max(32, triton.next_power_of_2(n))]

@triton.autotune(
    configs=[triton.Config({"BN": bn, "BM": bm}, num_warps=nw) for bn in (32, 64, 512) for bm in (1, 4) for nw in (2, 4)],
    key=["N"],
    prune_configs_by={"early_config_prune": prune},
)
@triton.jit
def l2n(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for s in range(0, N, BN):
        c = s + tl.arange(0, BN)
        v = tl.load(x + r[:, None] * N + c[None, :], mask=(r[:, None] < M) & (c[None, :] < N), other=0.0)
        acc += v * v
    nrm = tl.sqrt(tl.sum(acc, axis=1))[:, None]
    for s in range(0, N, BN):
        c = s + tl.arange(0, BN)
        msk = (r[:, None] < M) & (c[None, :] < N)
        v = tl.load(x + r[:, None] * N + c[None, :], mask=msk, other=0.0)
        tl.store(y + r[:, None] * N + c[None, :], v / nrm, mask=msk)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        M, N = x.shape
        l2n[lambda meta: (triton.cdiv(M, meta["BM"]),)](x, y, M, N)
        return y
