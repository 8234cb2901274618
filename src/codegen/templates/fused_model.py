@{runtime}@

@if in_python@
@{kernels_text}@

@else@
_SOURCES["fused"] = _FUSED_PRELUDE + r"""
@{kernels_text}@
"""
@end@

@for k in kernels@
# @{k.about}@
_kernel@{k.number}@ = _FusedKernel(
    inputs=[@{k.inputs}@],
    outputs=[@{k.outputs}@],
    scratch=[@{k.scratch}@],
    order=[@{k.order}@],
    launches=[@{k.launches}@],
)
@end@
@for o in operators@
_aten@{o.number}@ = @{o.function}@
@end@
@for p in products@
# @{p.about}@
_product@{p.number}@ = _SplitProduct(x=@{p.x}@, w=@{p.w}@, sizes=@{p.sizes}@, batch=@{p.batch}@, shape=@{p.shape}@, of=@{p.of}@@{p.around}@)
@end@
@for c in convolutions@
# @{c.about}@
@if c.chain@
_chain@{c.number}@ = r"""
@{c.chain}@
"""
_conv@{c.number}@ = @{c.kind}@(@{c.sizes}@, chain=_chain@{c.number}@)
@else@
_conv@{c.number}@ = @{c.kind}@(@{c.sizes}@)
@end@
@end@
@for c in constants@
_constant@{c.number}@ = _Constant(@{c.shape}@, torch.@{c.dtype}@, @{c.data}@)
@end@
@for w in weights@
_weight@{w.number}@ = operator.attrgetter("@{w.name}@")
@end@


@if fixed@
def _make_fixed(device, @{fixed.reads}@):
@for line in fixed.lines@
    @{line}@
@end@
    return @{fixed.makes}@


@end@
def _run_graph(model, inputs):
@for line in opening@
    @{line}@
@end@
    device = _check_call((@{checked}@))
@if fixed@
    @{fixed.makes}@ = _fixed_values(model, device, _make_fixed, (@{fixed.reads}@))
@end@
    return _run_on(device, _run_steps, @{names}@)


def _run_steps(device, @{names}@):
    stream = _enter(device)
@for line in steps@
    @{line}@
@end@
    return @{result}@
