HONE_FN void compute(@for x in inputs@@if not loop.first@, @end@const @{x.ctype}@ @{x.name}@@end@@for y in outputs@@if y.comma@, @end@@{y.ctype}@& @{y.name}@@end@) {
@for line in lines@
  @{line}@
@end@
}
