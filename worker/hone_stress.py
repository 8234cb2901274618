"""Stress regimes and mutants, which test whether the task can distinguish right results from wrong ones.

The outputs of a network with default weights hardly depend on its inputs, and some parameters start at zero. A stress regime changes weights
and inputs so that they matter while float32 stays accurate. A mutant is a known wrong way to compute the task. This file only changes models
and inputs; the parent compares.
"""

import contextlib
import math

import torch
import torch.nn as nn

import hone_nature
from hone_wire import map_tensors, tensors_of, with_tensors

# The parent tries these in order until PyTorch itself is accurate. If the task refuses all of them, the parent tries them again with "-kept",
# which leaves constant buffers, masks and integers unchanged.
_STRENGTH = {"stress": 1.0, "stress-mild": 0.5, "stress-small": 0.25}
_KEPT = "-kept"
_TINY = 1e-3  # a parameter with a smaller root mean square has hardly any effect

_MIXED = {"mixed": 1000.0, "mixed-mild": 16.0}  # scale of a large row

CHANGES = {
    "shift": hone_nature.shift,
    "scale": hone_nature.scale,
    "shrink": hone_nature.shrink,
    "strides": hone_nature.permute_memory,
    "enlarge": hone_nature.enlarge,
    "zeros": hone_nature.with_zeros,
    "nan": hone_nature.with_nan,
    "infinity": hone_nature.with_infinity,
}

# A task defines a result for such inputs if all its answers stay finite. If not, candidates are not checked on them.
RARE = ("enlarge", "zeros", "nan", "infinity")


def stays_finite(model, inputs):
    """Whether every answer to these inputs is finite. Indices and masks do not count, because no task promises which of two equal numbers is
    the larger."""
    with torch.no_grad():
        outputs = tensors_of([model(*inputs)])
    return all(one.is_floating_point() and bool(torch.isfinite(one).all()) for one in outputs)


def change_inputs(inputs, generator, how="wide", regime="stress", more=(), fixed=()):
    """Draws other inputs of the same kind. Python floats change slightly; integers are sizes and stay. `more`: further draws of get_inputs;
    `fixed`: which tensors are equal in all of them."""

    def number(value):
        if not isinstance(value, float) or how not in ("wide", "positive") or not math.isfinite(value):
            return value
        if value == round(value) and regime.endswith(_KEPT):
            return value
        return value * 0.75 if value else 0.125

    draws = [tensors_of(list(draw)) for draw in [inputs, *more]]
    draws = [draw for draw in draws if [tensor.shape for tensor in draw] == [tensor.shape for tensor in draws[0]]]

    def drawn():
        for index, seen in enumerate(zip(*draws)):
            kind = hone_nature.common_nature(seen)
            yield hone_nature.draw(seen[0], generator, how, not regime.endswith(_KEPT), kind, index in fixed)

    return [number(value) for value in with_tensors(list(inputs), drawn())]


def transform_inputs(change, inputs, output_shapes, model=None):
    """The inputs shifted, scaled, with rows of several regimes, in another memory order or with a smaller batch. None if that changes
    nothing."""
    if change in ("fewer", "more"):
        outputs = [torch.empty(shape, device="meta") for shape in output_shapes]
        return hone_nature.resize_batch(inputs, outputs, change == "more")
    if change in _MIXED:
        rows = 1 if any(isinstance(one, nn.RNNBase) and not one.batch_first for one in model.modules()) else 0
        changed = map_tensors(inputs, lambda tensor: hone_nature.mixed(tensor, _MIXED[change], rows))
    else:
        changed = map_tensors(inputs, CHANGES[change])
    same = all(a is b for a, b in zip(tensors_of(list(inputs)), tensors_of(list(changed))))
    return None if same else changed


# Weights


def change_model(regime, model, generator, other=None):
    """Moves a model's weights. `other` is an instance built under another seed; values that are equal in both were not drawn."""
    kept = regime.endswith(_KEPT)
    regime = regime[:-len(_KEPT)] if kept else regime
    if regime not in _STRENGTH:
        return
    strength = _STRENGTH[regime]
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)):
                _norm(module, strength, generator)
        _move_special([value for value in model.parameters() if value.is_floating_point()], strength, generator, _undrawn(model, other))
        if not kept:
            _move_constant_buffers(model, strength, generator)
        if regime == "stress-small":
            return
        for module in model.modules():
            if isinstance(module, (nn.RNNBase, nn.RNNCellBase)):
                _recurrent(module, strength)
            elif isinstance(module, (nn.Linear, nn.modules.conv._ConvNd)):
                _feed_forward(module, strength)


def _gates(module):
    name = type(module).__name__ + getattr(module, "mode", "")
    return "LSTM" if "LSTM" in name else "GRU" if "GRU" in name else "RNN"


def _recurrent(module, strength):
    """Increases the input weights and makes gates remember: GRU's update and LSTM's forget gate are biased open.

    Measured on six layers of 256 over 512 steps: with 2.0 for LSTM the first half of time still moves the last
    step by 2e-2 while float32 errs by 1e-6; with 2.5 errors grow to 2e-6 and more, with 1.5 the past is gone.
    """
    hidden, kind = module.hidden_size, _gates(module)
    remember = 2.0 if kind == "LSTM" else 2.5
    for name, parameter in module.named_parameters():
        if "weight_ih" in name:
            parameter.mul_(1.0 + strength)
        elif "weight_hh" in name and kind == "RNN":
            parameter.mul_(1.0 + 0.6 * strength)
        elif "bias_ih" in name and kind in ("GRU", "LSTM"):
            parameter[hidden: 2 * hidden].add_(remember * strength)


def _norm(module, strength, generator):
    def draw(like):
        return torch.rand(like.shape, generator=generator).to(like)

    if getattr(module, "running_mean", None) is not None:
        module.running_mean.copy_((draw(module.running_mean) - 0.5) * strength)
        module.running_var.copy_(1.0 + (draw(module.running_var) - 0.3) * strength)
    if getattr(module, "weight", None) is not None:
        module.weight.copy_(1.0 + (draw(module.weight) - 0.5) * strength)
        if getattr(module, "bias", None) is not None:
            module.bias.copy_((draw(module.bias) - 0.5) * strength)


def constant_buffers(model):
    """Buffers in the state dict whose elements are all equal: class weights of one, a mask that masks nothing, a scale. Normalisation
    statistics are not included."""
    given = model.state_dict()
    return {
        name: value for name, value in model.named_buffers()
        if name in given and not name.endswith(("running_mean", "running_var", "num_batches_tracked"))
        and not value.is_complex() and hone_nature.is_constant(value)
    }


def _move_constant_buffers(model, strength, generator):
    buffers = list(constant_buffers(model).values())
    _move_special([value for value in buffers if value.is_floating_point()], strength, generator)
    for value in buffers:
        if not value.is_floating_point():
            value.copy_(hone_nature.move_whole_constant(value, generator))


def _undrawn(model, other):
    """Ids of parameters that have the same initial values in every instance: an identity, fixed frequencies, weights under their own seed."""
    theirs = dict(other.named_parameters()) if other is not None else {}
    return {
        id(value) for name, value in model.named_parameters()
        if name in theirs and theirs[name].shape == value.shape and torch.equal(theirs[name], value)
    }


def _move_special(parameters, strength, generator, undrawn=()):
    """Changes parameters that are zero, tiny or constant: LoRA's second factor, layer scales, learned temperatures, zero biases. Also those
    that were not drawn (`undrawn`), because otherwise their structure would never be tested."""
    for parameter in parameters:
        if parameter.numel() == 0:
            continue
        values = parameter.detach().double()
        size = float(values.pow(2).mean().sqrt())
        constant = bool((values == values.flatten()[0]).all())
        if not constant and size >= _TINY:
            if id(parameter) in undrawn:
                noise = torch.rand(parameter.shape, generator=generator) - 0.5
                parameter.copy_((values.cpu() + strength * math.sqrt(3.0) * size * noise).to(parameter))
            continue
        fan = max(1, parameter.numel() // max(1, parameter.shape[0])) if parameter.dim() > 1 else 1
        noise = torch.rand(parameter.shape, generator=generator) - 0.5
        if size < _TINY:
            made = strength * (noise * math.sqrt(12.0 / fan) if parameter.dim() > 1 else noise)
            if size > 0 and constant and parameter.dim() < 2:
                made = strength * (0.5 + noise)  # a layer scale has a sign
        elif parameter.numel() == 1:
            made = values.cpu() * (1.0 + 0.5 * strength * (1.0 + noise))
        else:
            made = values.cpu() * (1.0 + strength * noise)
        parameter.copy_(made.to(parameter))


def _feed_forward(module, strength):
    """Sets the gain to about 1. With PyTorch's default gain of 1/sqrt(3), signals fade and biases dominate."""
    module.weight.mul_(1.0 + strength * (math.sqrt(3.0) - 1.0))


# Mutants


def mutants(model, inputs, defaults=None):
    """Names of the mutants that make sense for this task, the most informative first. `defaults`: the parameters of the task's own instance
    by name. A mutant of a parameter computes with those, as a candidate with fixed weights would."""
    ignored, others = [], []
    for index, value in enumerate(inputs):
        if isinstance(value, torch.Tensor) and value.numel() > 0:
            ignored.append("input-%d-ignored" % index)
            if value.dim() >= 3 and value.numel() > 1:
                for dim in _time_dims(model, index, value):
                    others.append("input-%d-dim-%d-shuffled" % (index, dim))
                    others.append("input-%d-dim-%d-early-half-ignored" % (index, dim))
        elif isinstance(value, float) and math.isfinite(value):
            ignored.append("input-%d-ignored" % index)
    return ignored + others + ["parameter:" + name for name in (defaults or ())]


def tunable(model):
    """Parameters and statistics by name, which training would change."""
    found = {name: value for name, value in model.named_parameters() if value.is_floating_point() and value.numel() > 0}
    for name, value in model.named_buffers():
        if name.endswith(("running_mean", "running_var")) and value.is_floating_point():
            found[name] = value
    return found


def defaults_of(model):
    """The values for mutants of parameters: `tunable` and constant buffers of the task's own instance."""
    return {**tunable(model), **constant_buffers(model)}


def sensitivities(model, inputs, defaults, generator):
    """The first-order effect of each parameter's default value on the output, relative to the output. Uses one backward pass for all; empty
    if PyTorch cannot differentiate."""
    parameters = {name: value for name, value in model.named_parameters() if name in defaults and value.requires_grad}
    if not parameters:
        return {}
    try:
        with torch.enable_grad(), _differentiable(model):
            inputs = map_tensors(inputs, lambda t: t.detach())
            outputs = [t for t in tensors_of([model(*inputs)]) if t.is_floating_point() and t.requires_grad]
            norm = math.sqrt(sum(float(t.detach().double().pow(2).sum()) for t in outputs))
            total = sum((t * torch.randn(t.shape, generator=generator).to(t)).sum() for t in outputs)
            gradients = torch.autograd.grad(total, list(parameters.values()), allow_unused=True)
    except Exception:
        return {}
    found = {}
    for (name, value), gradient in zip(parameters.items(), gradients):
        if gradient is not None and norm > 0:
            step = (defaults[name].to(value) - value).detach()
            moved = abs(float((gradient.double() * step.double()).sum())) / norm
            if math.isfinite(moved):
                found[name] = moved
    return found


@contextlib.contextmanager
def _differentiable(model):
    """cuDNN differentiates recurrent layers only in training mode. While entered, such layers are in that mode without dropout; all others
    stay."""
    layers = [(one, one.training, one.dropout) for one in model.modules() if isinstance(one, nn.RNNBase)]
    try:
        for one, _, _ in layers:
            one.training, one.dropout = True, 0.0
        yield
    finally:
        for one, training, dropout in layers:
            one.training, one.dropout = training, dropout


@contextlib.contextmanager
def mutated_parameter(name, model, defaults, another=False):
    """While entered, one parameter has the value of the task's own instance. A constant that no regime changed keeps its value, because
    ignoring it has no effect either; `another` gives it another value."""
    parameter = model.get_parameter(name) if name in dict(model.named_parameters()) else model.get_buffer(name)
    saved = parameter.detach().clone()
    value = defaults[name].to(saved)
    if torch.equal(value, saved) and (another or not hone_nature.is_constant(value)):
        value = _replaced(saved)
    try:
        with torch.no_grad():
            parameter.copy_(value)
        yield
    finally:
        with torch.no_grad():
            parameter.copy_(saved)


def _time_dims(model, index, value):
    recurrent = [module for module in model.modules() if isinstance(module, nn.RNNBase)]
    if recurrent:
        return [1 if recurrent[0].batch_first else 0] if index == 0 else []
    return [dim for dim in (0, 1) if value.shape[dim] > 1]


def mutate(name, inputs, generator, defaults=None, fixed=()):
    """The inputs of a mutant. `defaults`: the task's own inputs. If an input is constant there, or equal under every seed (`fixed`), the
    mutant that ignores it uses that value. Otherwise it uses a substitute."""
    words = name.split("-")
    index = int(words[1])
    changed = list(inputs)
    value = inputs[index]
    if words[2] == "ignored":
        own = defaults[index] if defaults is not None and index < len(defaults) else None
        if isinstance(value, float) and isinstance(own, float) and own != value:
            changed[index] = own
        elif index in fixed and isinstance(own, torch.Tensor) and own.shape == value.shape:
            changed[index] = own.detach().clone()
        elif isinstance(own, torch.Tensor) and isinstance(value, torch.Tensor) and not own.is_complex() and hone_nature.is_constant(own):
            changed[index] = own.detach().flatten()[:1].to(value).expand(value.numel()).reshape(value.shape).clone()
        else:
            changed[index] = _replaced(value)
        return changed
    if words[2] == "replaced":
        changed[index] = _replaced(value)
        return changed
    dim = int(words[3])
    if words[4] == "shuffled":
        order = torch.randperm(value.shape[dim], generator=generator).to(value.device)
        changed[index] = value.index_select(dim, order)
    else:
        changed[index] = value.clone()
        early = changed[index].narrow(dim, 0, value.shape[dim] // 2)
        early.copy_(early.flip(dim))
        if value.is_floating_point():
            early.zero_()
    return changed


def _replaced(value):
    """A substitute for a value: its mean, a full or an empty mask, its first index."""
    if not isinstance(value, torch.Tensor):
        return value * 0.5 if value else 0.5
    if value.is_floating_point() or value.is_complex():
        mean = value.detach().to(torch.complex128 if value.is_complex() else torch.float64).mean().item()
        made = torch.full_like(value, mean)
        return made if value.numel() > 1 and not torch.equal(made, value) else made + 0.5 * max(abs(mean), 1.0)
    if value.dtype == torch.bool:
        return torch.ones_like(value) if not bool(value.all()) else torch.zeros_like(value)
    if hone_nature.is_constant(value):
        return hone_nature.move_whole_constant(value, torch.Generator().manual_seed(0))
    return value.flatten()[:1].expand(value.numel()).reshape(value.shape).clone()
