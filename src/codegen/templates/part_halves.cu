// The power of two that scales a finite `largest` into [2^13, 2^14), the upper end of fp16.
__device__ __forceinline__ float upper_end_scale(u32 largest) {
    const int exponent = (int)(largest >> 23) - 127;
    return __uint_as_float((u32)(127 + min(126, 13 - exponent)) << 23);
}

#ifndef HONE_HOST
__device__ __forceinline__ u32 pack_halves(float first, float second) {
    u32 packed;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(second), "f"(first));
    return packed;
}

__device__ __forceinline__ float2 unpack_halves(u32 packed) {
    float2 v;
    asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %2;\ncvt.f32.f16 %0, low;\ncvt.f32.f16 %1, high;\n}" : "=f"(v.x), "=f"(v.y) : "r"(packed));
    return v;
}
#endif