// Checks the range of fp16. Word n is the largest magnitude of tensor n, as the bits of a float. It is infinity if any element is beyond the range or
// not finite. Otherwise it is the largest magnitude in a sample: every THREADS-th thread of about every BLOCKS-th block. The sample is irregular, so
// that it does not follow a pattern in the tensor.
extern "C" {
__device__ unsigned hone_guard[1024];
}
#ifdef HONE_HOST
HONE_FN void raise_guard(unsigned* word, float size, bool asked) {
  const unsigned bits = !(size <= 65504.f) ? 0x7f800000u : asked ? (unsigned)__float_as_int(size) : 0u;
  if (bits > *word) *word = bits;
}
#else
HONE_FN void raise_guard(unsigned* word, float size, bool asked) {  // no branch
  asm volatile(
      "{ .reg .pred beyond, some; setp.gtu.f32 beyond, %1, 0f477FE000; setp.ne.u32 some, %2, 0;\n"
      "@beyond red.global.max.u32 [%0], 0x7f800000;\n"
      "@some red.global.max.u32 [%0], %3; }" ::"l"(word), "f"(size), "r"((int)asked), "r"(__float_as_int(size)));
}
#endif
template <int WORD, int THREADS, int BLOCKS> HONE_FN float Guarded(float v) {
  const unsigned mixed = blockIdx.x * 2654435761u;  // 0 for block 0, which is always sampled
  raise_guard(hone_guard + WORD, Abs(v), threadIdx.x % THREADS == 0 && (mixed >> 8) % BLOCKS == 0);
  return v;
}
