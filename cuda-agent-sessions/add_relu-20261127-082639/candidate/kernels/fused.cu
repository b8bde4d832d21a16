extern "C" __global__ void __launch_bounds__(1) map0(
    const float *__restrict__ in0,
    const float *__restrict__ in1,
    float *__restrict__ out0,
    long long work,
    long long n) {
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= work)
        return;
    const long long part = thread;
    const int begin = (int)part * 4096;
    const int end = begin + 4096 < n ? begin + 4096 : (int)n;
    for (int i = begin; i < end; ++i) {
        const float in0_x = in0[i];
        const float in1_x = in1[i];
        const float add = in0_x + in1_x;
        const float relu = (add < 0 ? 0.0f : add);
        out0[i] = relu;
    }
}