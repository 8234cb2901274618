# @{about}@
@triton.jit
def @{entry}@(@for p in pointers@@{p.name}@@if not loop.last@, @end@@end@):
    i = tl.program_id(0).to(@{index}@) * @{block}@ + tl.arange(0, @{block}@)
    live = i < @{total}@
@for x in inputs@
@if x.mask@
    @{x.name}@ = tl.load(@{x.pointer}@ + (@{x.at}@), mask=@{x.mask}@, other=0)@{x.widen}@
@else@
    @{x.name}@ = tl.load(@{x.pointer}@)@{x.widen}@
@end@
@end@
@for line in lines@
    @{line}@
@end@
@for y in outputs@
    tl.store(@{y.pointer}@ + (@{y.at}@), @{y.value}@, mask=live)
@end@
