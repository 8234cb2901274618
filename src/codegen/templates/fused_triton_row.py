@for phase in phases@
@if not loop.first@


@end@
# @{about}@
# A program computes @{rows_each}@ rows of the kept axes, @{block}@ elements of the reduced axes at a time.
@if split@
# Rows are divided into @{parts}@ parts of @{chunk}@; the states of parts pass through scratch memory, one launch a stage.
@end@
@triton.jit
def @{entry}@@{phase.suffix}@(@for p in pointers@@{p.name}@@if not loop.last@, @end@@end@):
@if phase.divided@
    part = tl.program_id(0) % @{parts}@
    row = (tl.program_id(0) // @{parts}@).to(@{index}@) * @{rows_each}@ + tl.arange(0, @{rows_each}@)
    begin = part.to(@{index}@) * @{chunk}@
    end = tl.minimum(begin + @{chunk}@, @{length}@)
@else@
    row = tl.program_id(0).to(@{index}@) * @{rows_each}@ + tl.arange(0, @{rows_each}@)
@end@
    live = row < @{rows}@
@for x in row_operands@
    @{x.name}@ = @{x.value}@
@end@
@for line in row_lines@
    @{line}@
@end@
@if phase.joined@
    every = tl.arange(0, @{parts_each}@)
    some = live[:, None] & (every < @{parts}@)[None, :]
@end@
@for stage in phase.joined@
@for r in stage.reductions@
@for c in r.components@
    @{c.part}@ = _from_word(tl.load(scratch + row[:, None] + ((@{c.number}@ * @{parts}@ + every) * @{rows}@)[None, :], mask=some, other=0), @{c.type}@)
@end@
    @{r.states}@ = _@{r.kind}@_join(@{r.parts}@, some, @{r.types}@)
@end@
@for line in stage.conclusions@
    @{line}@
@end@
@end@
@if not loops@
    r = tl.arange(0, @{block}@).to(@{index}@)
    inside = r < @{length}@
    mask = live[:, None] & inside[None, :]
@end@
@for stage in phase.computed@
@for r in stage.reductions@
    @{r.lanes}@ = _@{r.kind}@_start(@{rows_each}@, @{block}@, @{r.types}@)
@end@
@if loops@
@if split@
    for first in range(begin, end, @{block}@):
        r = (first + tl.arange(0, @{block}@)).to(@{index}@)
        inside = r < end
@else@
    for first in range(0, @{length}@, @{block}@):
        r = (first + tl.arange(0, @{block}@)).to(@{index}@)
        inside = r < @{length}@
@end@
        mask = live[:, None] & inside[None, :]
@end@
@for x in stage.inputs@
    @{deeper}@@{x.name}@ = @{x.value}@
@end@
@for line in stage.lines@
    @{deeper}@@{line}@
@end@
@for r in stage.reductions@
    @{deeper}@@{r.lanes}@ = _@{r.kind}@_add(@{r.lanes}@, @{r.value}@, mask, r, @{r.types}@)
@end@
@for r in stage.reductions@
    @{r.states}@ = _@{r.kind}@_fold(@{r.lanes}@, @{r.types}@)
@end@
@if phase.divided@
@for r in stage.reductions@
@for c in r.components@
    tl.store(scratch + (@{c.number}@ * @{parts}@ + part) * @{rows}@ + row, _to_word(@{c.state}@), mask=live)
@end@
@end@
@else@
@for line in stage.conclusions@
    @{line}@
@end@
@end@
@end@
@if phase.writes@
@if outputs@
@if loops@
@if split@
    for first in range(begin, end, @{block}@):
        r = (first + tl.arange(0, @{block}@)).to(@{index}@)
        inside = r < end
@else@
    for first in range(0, @{length}@, @{block}@):
        r = (first + tl.arange(0, @{block}@)).to(@{index}@)
        inside = r < @{length}@
@end@
        mask = live[:, None] & inside[None, :]
@end@
@for x in last.inputs@
    @{deeper}@@{x.name}@ = @{x.value}@
@end@
@for line in last.lines@
    @{deeper}@@{line}@
@end@
@for y in outputs@
    @{deeper}@tl.store(@{y.pointer}@ + (@{y.at}@), @{y.value}@, mask=mask)
@end@
@end@
@for y in row_outputs@
    tl.store(@{y.pointer}@ + (@{y.at}@), @{y.value}@, mask=live@if phase.divided@ & (part == 0)@end@)
@end@
@end@
@end@
