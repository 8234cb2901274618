// @{about}@, after a convolution: v is element i of the convolution's result. HONE_READ_pN is v if operand N is that result.
typedef @{index}@ Index;

struct Chain : Imagined {
@for p in pointers@
  @{p.type}@* @{p.name}@;
@end@
};

@{compute_text}@
HONE_FN float chained(const Chain& a, const Index i, const float v) {
  float y;
  compute(@for x in inputs@@if x.whole@HONE_READ_@{x.pointer}@((widen<@{x.ctype}@, @{x.type}@>(a.@{x.pointer}@[i])))@else@widen<@{x.ctype}@, @{x.type}@>(*(a.@{x.pointer}@ + (@{x.at}@)))@end@, @end@y);
  return y;
}
