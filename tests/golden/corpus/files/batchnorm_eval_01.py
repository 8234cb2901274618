import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bn_inference_kernel(
    x_ptr, mean_ptr, var_ptr, gamma_ptr, beta_ptr, y_ptr,
    C, HW, eps,
    BLOCK_HW: tl.constexpr = 128,
):
    nc = tl.program_id(0)
    tile = tl.program_id(1)
    c = nc % C
    mean = tl.load(mean_ptr + c)
    var = tl.load(var_ptr + c)
    g = tl.load(gamma_ptr + c)
    b = tl.load(beta_ptr + c)
    scale = g * tl.math.rsqrt(var + eps)
    shift = b - mean * scale
    offs = tile * BLOCK_HW + tl.arange(0, BLOCK_HW)
    m = offs < HW
    x = tl.load(x_ptr + nc * HW + offs, mask=m)
    tl.store(y_ptr + nc * HW + offs, tl.fma(x, scale, shift), mask=m)


class ModelNew(nn.Module):
    def __init__(self, num_features):
        super().__init__()
        self.bn = nn.BatchNorm2d(num_features).eval()

    def forward(self, x):
        x = x.contiguous()
        N, C, H, W = x.shape
        y = torch.empty_like(x)
        grid = (N * C, triton.cdiv(H * W, 128))
        bn_inference_kernel[grid](
            x, self.bn.running_mean, self.bn.running_var, self.bn.weight, self.bn.bias, y, C, H * W, self.bn.eps
        )
        return y
