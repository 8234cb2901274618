HONE_MKL = torch.backends.mkl.is_available() and hasattr(torch.ops.mkl, "_mkl_linear")


class HonePackedLinear(torch.nn.Linear):
    """A Linear over the same weight, with a copy of it in the library's own order. MKL adds in the same order as the
    plain product. oneDNN adds in another order."""

    def pack(self, rows):
        reorder = torch.ops.mkl._mkl_reorder_linear_weight if HONE_MKL else torch.ops.mkldnn._reorder_linear_weight
        try:
            packed = reorder(self.weight.detach(), rows)
        except RuntimeError:  # torch 2.0 wants a tensor of oneDNN's own kind
            packed = reorder(self.weight.detach().to_mkldnn(), rows)
        self.__dict__["packed"] = packed
        self.__dict__["rows"] = rows

    def forward(self, x):
        if x.dtype != self.weight.dtype or x.numel() == 0:
            return super().forward(x)
        if "packed" not in self.__dict__:
            self.pack(x.numel() // x.shape[-1])
        if HONE_MKL:
            return torch.ops.mkl._mkl_linear(x, self.packed, self.weight, self.bias, self.rows)
        return torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "none", [], "")


def hone_packed(module):
    if type(module) is not torch.nn.Linear or module._forward_hooks or module._forward_pre_hooks:
        return None
    made = HonePackedLinear.__new__(HonePackedLinear)
    made.__dict__ = dict(vars(module))
    return made


def hone_prepare(model, inputs):
    if not HONE_MKL and not (torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")):
        raise RuntimeError("this PyTorch has no products with packed weights")
    packed = hone_shadow(model, hone_packed)
    packed(*[value.clone() if isinstance(value, torch.Tensor) else value for value in inputs])
    return packed
