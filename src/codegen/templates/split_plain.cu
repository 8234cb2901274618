// Computes in plain float32 what split_product cannot compute accurately. If the guard's columns span too many powers of two, that is everything.
// Otherwise it is the rows of x and of w that are not finite. shares: the output of split_softmax if x is a softmax. A CTA computes one tile of 64 rows
// and 64 units after another. If there is nothing to compute, it returns at once.
extern "C" __global__ void __launch_bounds__(256)
split_plain(const Matrix x, const Matrix w, const float* x_unscale, const u32* odd_units, int x_padded, int w_step, const u32* wide, const u32* odd,
            const float* bias, float* out, const Shape shape, const float2* shares, float factor) {
    const bool all = wide && *wide != 0;
    if (!all && *odd == 0) return;
    __shared__ float xs[16][68], ws[16][68];
    const int across = (w.rows + 63) / 64, down = (x.rows + 63) / 64;
    const int row = threadIdx.x / 16 * 4, unit = threadIdx.x % 16 * 4;
    for (u64 tile = blockIdx.x; tile < (u64)across * down * shape.batches; tile += gridDim.x) {
        const u32 batch = tile / ((u64)across * down), in_batch = tile % ((u64)across * down);
        const int first_row = in_batch / across * 64, first_unit = in_batch % across * 64;
        const float* x_scales = x_unscale + (u64)batch * x_padded;
        auto odd_unit = [&](int n) { return odd_units && odd_units[(u64)batch * w_step + n] != 0; };
        auto unsound = [&](int m, int n) { return all || !(x_scales[m] > 0.f) || odd_unit(n); };
        const int seen = threadIdx.x % 64;
        bool needed = all;
        if (threadIdx.x < 64) needed = needed || (first_row + seen < x.rows && !(x_scales[first_row + seen] > 0.f));
        else if (threadIdx.x < 128) needed = needed || (first_unit + seen < w.rows && odd_unit(first_unit + seen));
        if (!__syncthreads_or(needed)) continue;
        const float* x_at = matrix_at(x, batch), *w_at = matrix_at(w, batch);
        // For a softmax x holds the scores.
        auto x_value = [&](int m, int k) {
            const float v = x_at[m * x.row_step + k * x.k_step];
            if (!shares) return v;
            const float2 share = shares[(u64)batch * x_padded + m];
            return share_of(v, factor, share.x) * share.y;
        };
        float sum[4][4] = {};
        for (int k = 0; k < x.width; k += 16) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                // Neighbouring threads read along the axis with stride 1.
                const int at = threadIdx.x + 256 * i;
                const int xr = x.k_step == 1 ? at / 16 : at % 64, xk = x.k_step == 1 ? at % 16 : at / 64;
                const int wr = w.k_step == 1 ? at / 16 : at % 64, wk = w.k_step == 1 ? at % 16 : at / 64;
                xs[xk][xr] = first_row + xr < x.rows && k + xk < x.width ? x_value(first_row + xr, k + xk) : 0.f;
                ws[wk][wr] = first_unit + wr < w.rows && k + wk < x.width ? w_at[(first_unit + wr) * w.row_step + (k + wk) * w.k_step] : 0.f;
            }
            __syncthreads();
            float part[4][4] = {};
#pragma unroll
            for (int at = 0; at < 16; ++at) {
                const float4 a = *(const float4*)&xs[at][row], b = *(const float4*)&ws[at][unit];
                const float as[4] = {a.x, a.y, a.z, a.w}, bs[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
                for (int i = 0; i < 4; ++i)
#pragma unroll
                    for (int j = 0; j < 4; ++j) part[i][j] = fmaf(as[i], bs[j], part[i][j]);
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) sum[i][j] += part[i][j];
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const int m = first_row + row + i, n = first_unit + unit + j;
                if (m < x.rows && n < w.rows && is_kept(n - m, shape.diagonal) && unsound(m, n))
                    out[shape.place(0, batch) + m * shape.row_step + n] = bias ? sum[i][j] + bias[n] : sum[i][j];
            }
    }
}
