import torch, torch.nn as nn, torch.nn.functional as F
import triton, triton.language as tl

@triton.jit
def conv_kernel(x, w, y, N, C, H, W, OC, OH, OW, KH: tl.constexpr, KW: tl.constexpr, PAD: tl.constexpr, BLOCK: tl.constexpr):
    n = tl.program_id(0)
    oc = tl.program_id(1)
    blk = tl.program_id(2)
    offs = blk * BLOCK + tl.arange(0, BLOCK)
    oh = offs // OW
    ow = offs % OW
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for c in range(C):
        for kh in range(KH):
            ih = oh + kh - PAD
            for kw in range(KW):
                if kh == 1 and kw == 1:
                    continue
                iw = ow + kw - PAD
                m = (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W) & (offs < OH * OW)
                xv = tl.load(x + ((n * C + c) * H + ih) * W + iw, mask=m, other=0.0)
                wv = tl.load(w + ((oc * C + c) * KH + kh) * KW + kw)
                acc += xv * wv
    tl.store(y + (n * OC + oc) * OH * OW + offs, acc, mask=offs < OH * OW)

class ModelNew(nn.Module):
    def __init__(self, cin, cout, k):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, k, padding=1)
        self.k = k
    def forward(self, x):
        N, C, H, W = x.shape
        OC = self.conv.out_channels
        y = torch.empty(N, OC, H, W, device=x.device, dtype=x.dtype)
        BLOCK = 128
        conv_kernel[(N, OC, triton.cdiv(H * W, BLOCK))](x, self.conv.weight, y, N, C, H, W, OC, H, W, self.k, self.k, 1, BLOCK=BLOCK)
        return y
