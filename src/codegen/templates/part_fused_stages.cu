typedef @{index}@ Index;      // along the reduced axes
typedef @{row_index}@ Row;    // along the kept ones
static const Index kLength = @{length}@;
static const Row kRows = @{rows}@;

struct Arguments : Imagined {
@for p in pointers@
  @{p.type}@* @{p.name}@;
@end@
};
struct Scalars {  // of one row
@for s in scalars@
  @{s.ctype}@ @{s.name}@;
@end@
  char none;
};
struct Where {  // the row's offset in every operand that is accessed element by element
@for o in places@
  long long @{o.name}@;
@end@
  char none;
};
HONE_FN void locate(const Row row, Where& w) {
@for o in places@
  w.@{o.name}@ = @{o.at}@;
@end@
}
HONE_FN void prepare(const Arguments& a, const Row row, Scalars& s) {
@for o in row_operands@
  s.@{o.name}@ = widen<@{o.ctype}@, @{o.type}@>(a.@{o.pointer}@[@{o.at}@]);
@end@
@for line in row_lines@
  @{line}@
@end@
}
@for stage in stages@

struct State@{stage.number}@ {
@for r in stage.reductions@
  @{r.type}@ @{r.name}@;
@end@
  HONE_FN void start() {@for r in stage.reductions@ @{r.name}@.start();@end@ }
  template <int WIDTH> HONE_FN void level() {@for r in stage.reductions@ @{r.name}@.template level<WIDTH>();@end@ }
  HONE_FN void merge(const State@{stage.number}@& o) {@for r in stage.reductions@ @{r.name}@.merge(o.@{r.name}@);@end@ }
};
HONE_FN void element@{stage.number}@(const Scalars& s@for x in stage.inputs@, const @{x.ctype}@ @{x.name}@@end@@for r in stage.reductions@, @{r.ctype}@& e_@{r.name}@@end@) {
@for line in stage.lines@
  @{line}@
@end@
}
// Computes the row's values after the stage.
HONE_FN void conclude@{stage.number}@(const Arguments& a, const Row row, const State@{stage.number}@& state, Scalars& s) {
@for line in stage.conclusions@
  @{line}@
@end@
}
@end@

@if writes_elements@
HONE_FN void element_out(const Scalars& s@for x in last.inputs@, const @{x.ctype}@ @{x.name}@@end@@for y in outputs@, @{y.ctype}@& @{y.name}@@end@) {
@for line in last.lines@
  @{line}@
@end@
}
@end@
HONE_FN void write_row(const Arguments& a, const Row row, const Scalars& s) {
@for y in row_outputs@
  a.@{y.pointer}@[@{y.at}@] = narrow<@{y.type}@, @{y.ctype}@>(@{y.value}@);
@end@
}
