// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// RMSNorm over rows of HIDDEN elements, y = x * rsqrt(mean(x^2) + epsilon) * weight (Zhang and
// Sennrich, arXiv 1910.07467). `rowLanes` adjacent lanes hold a row in registers, so that every
// number is read once.

/// As many lanes as share the row's accesses evenly.
__device__ constexpr int lanesFor(int accesses) {
    for (int lanes = 32; lanes > 4; lanes /= 2)
        if (accesses % lanes == 0)
            return lanes;
    int lanes = 1;
    while (lanes < 32 && 2 * lanes <= accesses)
        lanes *= 2;
    return lanes;
}
constexpr int rowAccesses = HIDDEN / width;
constexpr int rowLanes = lanesFor(rowAccesses);
constexpr int laneAccesses = (rowAccesses + rowLanes - 1) / rowLanes;
constexpr int blockRows = threads / rowLanes;

/// The lane's share of a row. All of it is asked for before any is used; lanes of a row that is not
/// there read another.
struct Share {
    uint4 words[laneAccesses];
};

__device__ __forceinline__ int columnOf(int lane, int access) {
    return (lane + access * rowLanes) * width;
}

__device__ __forceinline__ bool isColumn(int column) {
    return rowAccesses % rowLanes == 0 || column < HIDDEN;
}

__device__ __forceinline__ Share shareOf(const Element *row, int lane) {
    Share share;
#pragma unroll
    for (int i = 0; i < laneAccesses; ++i) {
        const int column = columnOf(lane, i);
        share.words[i] = isColumn(column) ? loadWords(row + column) : make_uint4(0, 0, 0, 0);
    }
    return share;
}

/// Grid: rows / blockRows, rounded up. With a `residual` the row is x + residual, rounded to an
/// element, and goes to `sum`; else both are null.
extern "C" __global__ void __launch_bounds__(256)
    rms_norm(const Element *__restrict__ x, const Element *__restrict__ residual,
             const Element *__restrict__ weight, Element *__restrict__ sum, Element *__restrict__ y,
             i64 rows, float epsilon) {
    const int lane = threadIdx.x % rowLanes;
    const i64 row = blockIdx.x * static_cast<i64>(blockRows) + threadIdx.x / rowLanes;
    const i64 at = (row < rows ? row : rows - 1) * HIDDEN;
    const Share weights = shareOf(weight, lane);
    Share share = shareOf(x + at, lane);
    if (residual) {
        const Share more = shareOf(residual + at, lane);
#pragma unroll
        for (int i = 0; i < laneAccesses; ++i) {
            Values values = unpacked(share.words[i]);
            const Values added = unpacked(more.words[i]);
#pragma unroll
            for (int j = 0; j < width; ++j)
                values.v[j] += added.v[j];
            share.words[i] = packed(values);
            const int column = columnOf(lane, i);
            if (row < rows && isColumn(column))
                storeWords(sum + at + column, share.words[i]);
        }
    }
    float squares = 0;
#pragma unroll
    for (int i = 0; i < laneAccesses; ++i) {
        const Values values = unpacked(share.words[i]);
#pragma unroll
        for (int j = 0; j < width; ++j)
            squares += values.v[j] * values.v[j];
    }
    const float scale = rsqrtf(sumOver<rowLanes>(squares) / HIDDEN + epsilon);
#pragma unroll
    for (int i = 0; i < laneAccesses; ++i) {
        const int column = columnOf(lane, i);
        Values values = unpacked(share.words[i]);
        const Values scales = unpacked(weights.words[i]);
#pragma unroll
        for (int j = 0; j < width; ++j)
            values.v[j] *= scale * scales.v[j];
        if (row < rows && isColumn(column))
            store(y + at + column, values);
    }
}

/// Any grid; each block leaves its share of the weight's gradient in `partial` [blocks, HIDDEN].
/// `x` is what was normed, `more` a gradient that came to it besides, or null.
/// With s = rsqrt(...) and g = dy * weight: dx = s * g - x * s^3 * mean(g * x).
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_backward(const Element *dy, const Element *more, const Element *x,
                      const Element *weight, Element *dx, float *partial, i64 rows, float epsilon) {
    __shared__ float shares[warps][HIDDEN];
    const int lane = threadIdx.x % rowLanes;
    Values sums[laneAccesses];
#pragma unroll
    for (int i = 0; i < laneAccesses; ++i)
        sums[i] = Values{};
    const i64 stride = gridDim.x * static_cast<i64>(blockRows);
    for (i64 first = blockIdx.x * static_cast<i64>(blockRows); first < rows; first += stride) {
        const i64 row = first + threadIdx.x / rowLanes;
        Values gradients[laneAccesses], values[laneAccesses];
        float squares = 0, products = 0;
#pragma unroll
        for (int i = 0; i < laneAccesses; ++i) {
            const int column = (lane + i * rowLanes) * width;
            gradients[i] = values[i] = Values{};
            if (row < rows && column < HIDDEN) {
                gradients[i] = load(dy + row * HIDDEN + column);
                values[i] = load(x + row * HIDDEN + column);
                const Values weights = load(weight + column);
#pragma unroll
                for (int j = 0; j < width; ++j) {
                    squares += values[i].v[j] * values[i].v[j];
                    products += values[i].v[j] * gradients[i].v[j] * weights.v[j];
                }
            }
        }
        const float scale = rsqrtf(sumOver<rowLanes>(squares) / HIDDEN + epsilon);
        const float along = sumOver<rowLanes>(products) * scale * scale * scale / HIDDEN;
#pragma unroll
        for (int i = 0; i < laneAccesses; ++i) {
            const int column = (lane + i * rowLanes) * width;
            if (row < rows && column < HIDDEN) {
                const Values weights = load(weight + column);
                Values to = more ? load(more + row * HIDDEN + column) : Values{};
#pragma unroll
                for (int j = 0; j < width; ++j) {
                    const float value = values[i].v[j], gradient = gradients[i].v[j];
                    to.v[j] += scale * gradient * weights.v[j] - value * along;
                    sums[i].v[j] += gradient * value * scale;
                }
                store(dx + row * HIDDEN + column, to);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < laneAccesses; ++i)
#pragma unroll
        for (int j = 0; j < width; ++j) {
            const float sum = sumAcross<rowLanes>(sums[i].v[j]);
            const int column = (lane + i * rowLanes) * width + j;
            if (threadIdx.x % 32 < rowLanes && column < HIDDEN)
                shares[threadIdx.x / 32][column] = sum;
        }
    __syncthreads();
    for (int column = threadIdx.x; column < HIDDEN; column += threads) {
        float sum = 0;
        for (int warp = 0; warp < warps; ++warp)
            sum += shares[warp][column];
        partial[blockIdx.x * static_cast<i64>(HIDDEN) + column] = sum;
    }
}

/// The second stage: `partial` [sets, blocks, columns] -> `to` [sets, columns], in an order that
/// depends on `blocks` alone. Grid: columns / 32, rounded up, by sets; blocks of 32 x 32 threads.
extern "C" __global__ void __launch_bounds__(1024)
    column_sums(const float *partial, Element *to, int blocks, int columns) {
    __shared__ float shares[32][33];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int column = blockIdx.x * 32 + lane;
    const float *set = partial + blockIdx.y * static_cast<i64>(blocks) * columns;
    float sum = 0;
    if (column < columns)
        for (int block = warp; block < blocks; block += 32)
            sum += set[block * static_cast<i64>(columns) + column];
    shares[warp][lane] = sum;
    __syncthreads();
    // A warp sums a column.
    const float whole = sumOver<32>(shares[lane][warp]);
    if (lane == 0 && blockIdx.x * 32 + warp < columns)
        setOne(to + blockIdx.y * static_cast<i64>(columns) + blockIdx.x * 32 + warp, whole);
}
