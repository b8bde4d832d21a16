// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Cross-entropy of rows of VOCABULARY logits: log(sum(e^l)) - l[target]. A warp a row, which is
// read once: the sum is kept relative to the largest logit so far (Milakov and Gimelshein, arXiv
// 1805.02867). Rows that are not whole accesses are read element by element.
// Grid of both: rows / warps, rounded up.

constexpr bool wholeAccesses = VOCABULARY % width == 0;
constexpr int logitAccesses = (VOCABULARY + width - 1) / width;

__device__ __forceinline__ float notANumber() {
    return __uint_as_float(0x7fffffffu);
}

/// Elements from `column` of a row; those past its end are `beyond`.
__device__ __forceinline__ Values logitsAt(const Element *row, int column, float beyond) {
    if constexpr (wholeAccesses) {
        return load(row + column);
    } else {
        Values values;
#pragma unroll
        for (int j = 0; j < width; ++j)
            values.v[j] = column + j < VOCABULARY ? one(row + column + j) : beyond;
        return values;
    }
}

/// `loss` and `logSums` [rows]: the cross-entropy and log(sum(e^l)). A negative target is none: its
/// loss is 0. One past the vocabulary makes the loss not a number.
extern "C" __global__ void __launch_bounds__(256)
    cross_entropy(const Element *logits, const i64 *targets, float *loss, float *logSums,
                  i64 rows) {
    const i64 row = blockIdx.x * static_cast<i64>(warps) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows)
        return; // all of the warp
    const Element *mine = logits + row * VOCABULARY;
    constexpr int batch = 4; // accesses in flight
    float top = -infinity(), sum = 0;
    for (int first = lane; first < logitAccesses; first += 32 * batch) {
        Values values[batch];
        float largest = top;
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            const int access = first + 32 * i;
            if (access < logitAccesses) {
                values[i] = logitsAt(mine, access * width, -infinity());
            } else {
#pragma unroll
                for (int j = 0; j < width; ++j)
                    values[i].v[j] = -infinity();
            }
        }
#pragma unroll
        for (int i = 0; i < batch; ++i)
#pragma unroll
            for (int j = 0; j < width; ++j)
                largest = fmaxf(largest, values[i].v[j]);
        const float base = largest == -infinity() ? 0.0f : largest; // nothing but -inf so far
        sum *= exponential(top - base);
#pragma unroll
        for (int i = 0; i < batch; ++i)
#pragma unroll
            for (int j = 0; j < width; ++j)
                sum += exponential(values[i].v[j] - base);
        top = largest;
    }
    float largest = top;
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
    sum = sumOver<32>(sum * exponential(top - (largest == -infinity() ? 0.0f : largest)));
    if (lane == 0) {
        const float logSum = largest + logf(sum);
        const i64 target = targets[row];
        logSums[row] = logSum;
        loss[row] = target < 0             ? 0.0f
                    : target >= VOCABULARY ? notANumber()
                                           : logSum - one(mine + target);
    }
}

/// Turns the logits into their gradients: (e^(l - logSum) - [is the target]) * weights[row].
extern "C" __global__ void __launch_bounds__(256)
    cross_entropy_backward(Element *logits, const i64 *targets, const float *logSums,
                           const float *weights, i64 rows) {
    const i64 row = blockIdx.x * static_cast<i64>(warps) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    Element *mine = logits + row * VOCABULARY;
    const i64 target = targets[row];
    const float logSum = logSums[row], weight = target < 0 ? 0.0f : weights[row];
#pragma unroll 4
    for (int access = lane; access < logitAccesses; access += 32) {
        const int column = access * width;
        Values values = logitsAt(mine, column, 0.0f);
#pragma unroll
        for (int j = 0; j < width; ++j)
            values.v[j] =
                (exponential(values.v[j] - logSum) - (column + j == target ? 1.0f : 0.0f)) * weight;
        if constexpr (wholeAccesses) {
            store(mine + column, values);
        } else {
#pragma unroll
            for (int j = 0; j < width; ++j)
                if (column + j < VOCABULARY)
                    setOne(mine + column + j, values.v[j]);
        }
    }
}
