#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
struct Reduce0Pass0 {
    float max0;
    double sumExp0;
    static __device__ __forceinline__ Reduce0Pass0 identity() { return {-INFINITY, 0.0f}; }
    __device__ __forceinline__ void combine(const Reduce0Pass0 &other) {
        {
            const float top = max0 > other.max0 || max0 != max0 ? max0 : other.max0;
            sumExp0 = (max0 == top ? sumExp0 : sumExp0 * expf(max0 - top)) + (other.max0 == top ? other.sumExp0 : other.sumExp0 * expf(other.max0 - top));
            max0 = top;
        }
    }
};
extern "C" __global__ void __launch_bounds__(1) reduce0(
    const float *__restrict__ in0,
    float *__restrict__ tmp0,
    float *__restrict__ tmp1,
    long long work) {
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= work)
        return;
    const long long row = thread;
    const float *in0_row = in0 + row * 1000;
    float *tmp0_row = tmp0 + row;
    float *tmp1_row = tmp1 + row;
    Reduce0Pass0 state0 = Reduce0Pass0::identity();
    {
        float max0[32];
        float sumExp0[32];
        for (int lane = 0; lane < 32; ++lane) {
            max0[lane] = -INFINITY;
            sumExp0[lane] = 0.0f;
        }
        {
            int iStrip = 0;
            for (; iStrip + 32 <= 1000; iStrip += 32) {
                for (int lane = 0; lane < 32; ++lane) {
                    const int i = iStrip + lane;
                    const float in0_x = in0_row[i];
                    const float div = in0_x / 1.5f;
                    max0[lane] = max0[lane] > div || max0[lane] != max0[lane] ? max0[lane] : div;
                }
            }
            for (int lane = 0; iStrip + lane < 1000; ++lane) {
                const int i = iStrip + lane;
                const float in0_x = in0_row[i];
                const float div = in0_x / 1.5f;
                max0[lane] = max0[lane] > div || max0[lane] != max0[lane] ? max0[lane] : div;
            }
        }
        for (int half = 16; half > 0; half /= 2) {
            for (int lane = 0; lane < half; ++lane) {
                max0[lane] = max0[lane] > max0[lane + half] || max0[lane] != max0[lane] ? max0[lane] : max0[lane + half];
            }
        }
        {
            int iStrip = 0;
            for (; iStrip + 32 <= 1000; iStrip += 32) {
                for (int lane = 0; lane < 32; ++lane) {
                    const int i = iStrip + lane;
                    const float in0_x = in0_row[i];
                    const float div = in0_x / 1.5f;
                    sumExp0[lane] += expf(div - (max0[0] == -INFINITY ? 0.0f : max0[0]));
                }
            }
            for (int lane = 0; iStrip + lane < 1000; ++lane) {
                const int i = iStrip + lane;
                const float in0_x = in0_row[i];
                const float div = in0_x / 1.5f;
                sumExp0[lane] += expf(div - (max0[0] == -INFINITY ? 0.0f : max0[0]));
            }
        }
        for (int half = 16; half > 0; half /= 2) {
            for (int lane = 0; lane < half; ++lane) {
                sumExp0[lane] += sumExp0[lane + half];
            }
        }
        state0 = Reduce0Pass0{max0[0], sumExp0[0]};
    }
    tmp0_row[0] = (float)(state0.max0);
    tmp1_row[0] = (float)(state0.sumExp0);
}
extern "C" __global__ void __launch_bounds__(1) map1(
    const float *__restrict__ in0,
    const float *__restrict__ tmp0,
    const float *__restrict__ tmp1,
    float *__restrict__ out0,
    long long work) {
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= work)
        return;
    const long long part = thread % 1;
    const int begin = (int)part * 4096;
    const int end = begin + 4096 < 1000 ? begin + 4096 : (int)1000;
    const long long row = thread / 1;
    const float *in0_row = in0 + row * 1000;
    const float *tmp0_row = tmp0 + row;
    const float *tmp1_row = tmp1 + row;
    float *out0_row = out0 + row * 1000;
    const float tmp0_x = tmp0_row[0];
    const float tmp1_x = tmp1_row[0];
    for (int i = begin; i < end; ++i) {
        const float in0_x = in0_row[i];
        const float div = in0_x / 1.5f;
        const float t0 = div - tmp0_x;
        const float t1 = expf(t0);
        const float _softmax = t1 / tmp1_x;
        out0_row[i] = _softmax;
    }
}