# HoneGRU, HoneLSTM and HoneRNN are nn.GRU, nn.LSTM and nn.RNN (same parameters, same state_dict) whose forward runs the kernel
# below; whatever it does not cover runs in PyTorch as before, with one warning that says why.
_KERNEL_NAME = "recurrent kernel"
_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}


def _bias_rows(cell, hidden, b_ih, b_hh, device):
    """[gates, or r, z, input n, hidden n of a GRU][hidden]: biases summed where the cell sums them, zeros where there are none."""
    gates = _GATES[cell]
    i, h = (torch.zeros(gates, hidden, device=device) if b is None else b.float().reshape(gates, hidden) for b in (b_ih, b_hh))
    return torch.stack([i[0] + h[0], i[1] + h[1], i[2], h[2]]) if cell == "GRU" else i + h


class _Hone:
    hone_outputs = None  # a tuple out of "sequence", "last", "h_n", "c_n"; None for all. "last" keeps one step of the sequence.
    hone_cell = False  # stands for an nn.*Cell, which multiplies at the precision of nn.Linear

    def forward(self, input, hx=None):
        try:
            answer = _forward(self, input, hx)
            if answer is not NotImplemented:
                return answer
        except _REFUSALS as e:
            _warn_once(e)
        return super().forward(input, hx)


class HoneRNN(_Hone, nn.RNN):
    pass


class HoneGRU(_Hone, nn.GRU):
    pass


class HoneLSTM(_Hone, nn.LSTM):
    pass


_ADOPTED = {nn.RNN: HoneRNN, nn.GRU: HoneGRU, nn.LSTM: HoneLSTM}


def adopt(model, outputs=None):
    """Switches the recurrent sub-modules of `model` to the kernel in place. `outputs` maps module names to the outputs in use."""
    for name, module in model.named_modules():
        if type(module) in _ADOPTED:
            module.__class__ = _ADOPTED[type(module)]
        if isinstance(module, _Hone) and outputs and name in outputs:
            module.hone_outputs = tuple(outputs[name])
    return model


def elman(x_seq, h0, w_x, w_h, b_x=None, b_h=None, activation="tanh", head_weight=None, head_bias=None):
    """h[t] = act(x[t] w_x' + b_x + h[t-1] w_h' + b_h) over [steps, batch, features]; returns (h, or h head_weight' + head_bias, at
    every step; the last h). Linear(cat(x, h)) has w_x = W[:, :inputs] and w_h = W[:, inputs:]."""
    try:
        return _elman(x_seq, h0, w_x, w_h, b_x, b_h, activation, head_weight, head_bias)
    except _REFUSALS as e:
        _warn_once(e)
    act = torch.tanh if activation == "tanh" else torch.relu
    hidden = x_seq.new_zeros(x_seq.size(1), w_h.size(0)) if h0 is None else h0
    outputs = []
    for x in x_seq:
        hidden = act(nn.functional.linear(x, w_x, b_x) + nn.functional.linear(hidden, w_h, b_h))  # hone: allow library-fallback
        outputs.append(hidden if head_weight is None else nn.functional.linear(hidden, head_weight, head_bias))
    return torch.stack(outputs), hidden
