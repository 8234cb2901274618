# @{about}@
@triton.jit
def @{entry}@(@for p in pointers@@{p.name}@@if not loop.last@, @end@@end@):
    i = tl.program_id(0).to(@{index}@) * @{block}@ + tl.arange(0, @{block}@)
    live = i < @{total}@
@for x in inputs@
    @{x.name}@ = @{x.value}@
@end@
@for line in lines@
    @{line}@
@end@
@for y in outputs@
    tl.store(@{y.pointer}@ + (@{y.at}@), @{y.value}@, mask=live)
@end@
