# @{about}@
@triton.jit
def @{entry}@(@for p in pointers@@{p.name}@@if not loop.last@, @end@@end@):
    i = tl.program_id(0).to(@{index}@) * @{block}@ + tl.arange(0, @{block}@)
    live = i < @{total}@
    left = i % @{size.w}@ * @{stride.w}@ - @{padding.w}@
    top = i // @{size.w}@ % @{size.h}@ * @{stride.h}@ - @{padding.h}@
    front = i // (@{size.w}@ * @{size.h}@) % @{size.d}@ * @{stride.d}@ - @{padding.d}@
    plane = i // (@{size.w}@ * @{size.h}@ * @{size.d}@)
    pooled = tl.full((@{block}@,), @{identity}@, @{type}@)
@if counts@
    taps = tl.zeros((@{block}@,), tl.int32)
@end@
    for tap in range(0, @{kernel.d}@ * @{kernel.h}@ * @{kernel.w}@):
        w = left + tap % @{kernel.w}@ * @{dilation.w}@
        h = top + tap // @{kernel.w}@ % @{kernel.h}@ * @{dilation.h}@
        d = front + tap // (@{kernel.w}@ * @{kernel.h}@) * @{dilation.d}@
        inside = live & (w >= 0) & (w < @{in.w}@) & (h >= 0) & (h < @{in.h}@) & (d >= 0) & (d < @{in.d}@)
        e = ((plane * @{in.d}@ + d) * @{in.h}@ + h) * @{in.w}@ + w
@for x in raw@
        @{x.name}@ = @{x.value}@
@end@
@for line in before@
        @{line}@
@end@
@if maximum@
        pooled = tl.where(inside, _max(pooled, @{value}@), pooled)
@else@
        pooled = tl.where(inside, pooled + @{value}@, pooled)
@end@
@if counts@
        taps += inside.to(tl.int32)
@end@
@if counts@
    pooled = _div(pooled, taps.to(@{type}@))
@elif not maximum@
    pooled = _div(pooled, tl.full((), @{divisor}@, @{type}@))
@end@
    @{pooled}@ = pooled
@for x in inputs@
    @{x.name}@ = @{x.value}@
@end@
@for line in lines@
    @{line}@
@end@
@for y in outputs@
    tl.store(@{y.pointer}@ + (@{y.at}@), @{y.value}@, mask=live)
@end@
