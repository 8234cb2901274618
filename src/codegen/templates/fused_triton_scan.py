# @{about}@
# A program scans @{rows_each}@ rows, @{block}@ elements at a time. The sum so far is kept in a wider type.
@triton.jit
def @{entry}@(@for p in pointers@@{p.name}@@if not loop.last@, @end@@end@):
    row = tl.program_id(0).to(@{index}@) * @{rows_each}@ + tl.arange(0, @{rows_each}@)
    live = row < @{rows}@
@for x in row_operands@
    @{x.name}@ = @{x.value}@
@end@
@for line in row_lines@
    @{line}@
@end@
    nothing = tl.full((), @{scan.identity}@, @{scan.wide}@)
    carry = tl.full((@{rows_each}@,), @{scan.identity}@, @{scan.wide}@)
    for first in range(0, @{length}@, @{block}@):
        place = (first + tl.arange(0, @{block}@)).to(@{index}@)
@for part in parts@
        inside = (place >= @{part.late}@) & (place < @{length}@ + @{part.late}@)
@if reversed@
        r = @{length}@ - 1 - (place - @{part.late}@)
@else@
        r = place - @{part.late}@
@end@
        mask = live[:, None] & inside[None, :]
@for x in part.inputs@
        @{x.name}@ = @{x.value}@
@end@
@for line in part.lines@
        @{line}@
@end@
@if part.scans@
        given = tl.where(mask, (@{scan.value}@).to(@{scan.wide}@), nothing)
@if scan.sums@
        scanned = carry[:, None] + tl.cumsum(given, 1)
@else@
        scanned = carry[:, None] * tl.cumprod(given, 1)
@end@
        carry = tl.sum(tl.where((place == first + (@{block}@ - 1))[None, :], scanned, tl.full((), 0, @{scan.wide}@)), 1)
        @{scan.name}@ = scanned.to(@{scan.type}@)
@end@
@end@
@for y in outputs@
        tl.store(@{y.pointer}@ + (@{y.at}@), @{y.value}@, mask=mask)
@end@
