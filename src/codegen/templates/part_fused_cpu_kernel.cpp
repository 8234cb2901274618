struct Arguments : Imagined {
@for p in pointers@
  @{p.type}@* @{p.name}@;
@end@
};
static const long long kOutputBytes = @{output_bytes}@;
struct Where {  // the row's offset in every operand
@for o in places@
  long long @{o.name}@;
@end@
  char none;
};
