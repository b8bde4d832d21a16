// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The packed projection [tokens, HEADS + 2 * KV_HEADS, HEAD_SIZE] becomes queries, keys and values,
// each [tokens, its heads, HEAD_SIZE]: queries and keys by RMSNorm over a head and a rotation of
// its two halves by the token's position (rotary embedding, Su et al., arXiv 2104.09864, with the
// halves of Qwen3); values as they are. blockIdx.y says which: 0, 1, 2. `headLanes` lanes hold a
// head: each an access of the lower half and the one of the upper half that it is rotated with.

constexpr int half = HEAD_SIZE / 2;
constexpr int headLanes = half / width; // a power of two, up to 32
constexpr int blockHeads = threads / headLanes;
constexpr int projected = HEADS + 2 * KV_HEADS;

/// What a head's lane works on.
struct Place {
    unsigned token, head; ///< of its own kind
    bool inside;
};

__device__ __forceinline__ unsigned headsOf(int kind) {
    return kind == 0 ? HEADS : KV_HEADS;
}

__device__ __forceinline__ Place placeOf(unsigned item, int kind, unsigned tokens) {
    const unsigned heads = headsOf(kind);
    return {item / heads, item % heads, item < tokens * heads};
}

__device__ __forceinline__ i64 projectedAt(const Place &place, int kind, int lane) {
    const unsigned before = kind == 0 ? 0 : kind == 1 ? HEADS : HEADS + KV_HEADS;
    return (static_cast<i64>(place.token) * projected + before + place.head) * HEAD_SIZE +
           lane * width;
}

/// Where the tables [positions, half] begin for a token.
__device__ __forceinline__ i64 angleAt(const i64 *positions, unsigned token, unsigned length,
                                       int lane) {
    return (positions ? positions[token] : token % length) * half + lane * width;
}

/// `positions` [tokens] or null: a token's place among `length`. Grid: tokens * HEADS / blockHeads,
/// rounded up, by 3. tokens * HEADS is less than 2^31.
extern "C" __global__ void __launch_bounds__(256)
    qkv_rope(const Element *__restrict__ qkv, const i64 *__restrict__ positions,
             const Element *__restrict__ cosines, const Element *__restrict__ sines,
             const Element *__restrict__ queryWeight, const Element *__restrict__ keyWeight,
             Element *__restrict__ queries, Element *__restrict__ keys,
             Element *__restrict__ valuesOut, unsigned tokens, unsigned length, float epsilon) {
    const int kind = blockIdx.y, lane = threadIdx.x % headLanes;
    const unsigned item = blockIdx.x * blockHeads + threadIdx.x / headLanes;
    const Place place = placeOf(item, kind, tokens);
    Values low = {}, high = {}, cosine = {}, sine = {};
    if (place.inside) {
        const Element *from = qkv + projectedAt(place, kind, lane);
        low = load(from);
        high = load(from + half);
        if (kind < 2) {
            const i64 angle = angleAt(positions, place.token, length, lane);
            cosine = load(cosines + angle);
            sine = load(sines + angle);
        }
    }
    if (kind < 2) { // the same for all of a block
        float squares = 0;
#pragma unroll
        for (int j = 0; j < width; ++j)
            squares += low.v[j] * low.v[j] + high.v[j] * high.v[j];
        const float scale = rsqrtf(sumOver<headLanes>(squares) / HEAD_SIZE + epsilon);
        if (place.inside) {
            const Element *weight = (kind == 0 ? queryWeight : keyWeight) + lane * width;
            const Values lowWeight = load(weight), highWeight = load(weight + half);
#pragma unroll
            for (int j = 0; j < width; ++j) {
                const float a = low.v[j] * scale * lowWeight.v[j];
                const float b = high.v[j] * scale * highWeight.v[j];
                low.v[j] = a * cosine.v[j] - b * sine.v[j];
                high.v[j] = b * cosine.v[j] + a * sine.v[j];
            }
        }
    }
    if (place.inside) {
        Element *to = kind == 0 ? queries : kind == 1 ? keys : valuesOut;
        to += static_cast<i64>(item) * HEAD_SIZE + lane * width;
        store(to, low);
        store(to + half, high);
    }
}

/// A gradient [batch, heads, length, HEAD_SIZE] by its strides; elements of a head lie together.
struct Gradient {
    const Element *data;
    i64 batch, head, token;
};

/// Writes all of `dqkv`. `partial` [2, gridDim.x, HEAD_SIZE]: each block's share of the gradients
/// of both weights. Grid: any by 3.
extern "C" __global__ void __launch_bounds__(256)
    qkv_rope_backward(Gradient dq, Gradient dk, Gradient dv, const Element *__restrict__ qkv,
                      const i64 *__restrict__ positions, const Element *__restrict__ cosines,
                      const Element *__restrict__ sines, const Element *__restrict__ queryWeight,
                      const Element *__restrict__ keyWeight, Element *__restrict__ dqkv,
                      float *__restrict__ partial, unsigned tokens, unsigned length,
                      float epsilon) {
    __shared__ float shares[warps][HEAD_SIZE];
    const int kind = blockIdx.y, lane = threadIdx.x % headLanes;
    const unsigned items = tokens * headsOf(kind);
    const Gradient from = kind == 0 ? dq : kind == 1 ? dk : dv;
    Values lowWeight = {}, highWeight = {}, lowSums = {}, highSums = {};
    if (kind < 2) {
        const Element *weight = (kind == 0 ? queryWeight : keyWeight) + lane * width;
        lowWeight = load(weight);
        highWeight = load(weight + half);
    }
    for (unsigned first = blockIdx.x * blockHeads; first < items; first += gridDim.x * blockHeads) {
        const Place place = placeOf(first + threadIdx.x / headLanes, kind, tokens);
        const i64 at = projectedAt(place, kind, lane);
        Values low = {}, high = {};
        if (place.inside) {
            const Element *gradient = from.data + place.token / length * from.batch +
                                      place.head * from.head + place.token % length * from.token +
                                      lane * width;
            low = load(gradient);
            high = load(gradient + half);
        }
        if (kind < 2) {
            Values lowX = {}, highX = {};
            float squares = 0, products = 0;
            if (place.inside) {
                lowX = load(qkv + at);
                highX = load(qkv + at + half);
                const i64 angle = angleAt(positions, place.token, length, lane);
                const Values cosine = load(cosines + angle), sine = load(sines + angle);
#pragma unroll
                for (int j = 0; j < width; ++j) {
                    const float a = low.v[j], b = high.v[j];
                    low.v[j] = a * cosine.v[j] + b * sine.v[j]; // rotated back
                    high.v[j] = b * cosine.v[j] - a * sine.v[j];
                    squares += lowX.v[j] * lowX.v[j] + highX.v[j] * highX.v[j];
                    products += low.v[j] * lowWeight.v[j] * lowX.v[j] +
                                high.v[j] * highWeight.v[j] * highX.v[j];
                }
            }
            const float scale = rsqrtf(sumOver<headLanes>(squares) / HEAD_SIZE + epsilon);
            const float along = sumOver<headLanes>(products) * scale * scale * scale / HEAD_SIZE;
#pragma unroll
            for (int j = 0; j < width; ++j) {
                lowSums.v[j] += low.v[j] * lowX.v[j] * scale;
                highSums.v[j] += high.v[j] * highX.v[j] * scale;
                low.v[j] = scale * low.v[j] * lowWeight.v[j] - lowX.v[j] * along;
                high.v[j] = scale * high.v[j] * highWeight.v[j] - highX.v[j] * along;
            }
        }
        if (place.inside) {
            store(dqkv + at, low);
            store(dqkv + at + half, high);
        }
    }
    if (kind == 2)
        return; // all of the block
#pragma unroll
    for (int j = 0; j < width; ++j) {
        const float low = sumAcross<headLanes>(lowSums.v[j]);
        const float high = sumAcross<headLanes>(highSums.v[j]);
        if (threadIdx.x % 32 < headLanes) {
            shares[threadIdx.x / 32][lane * width + j] = low;
            shares[threadIdx.x / 32][half + lane * width + j] = high;
        }
    }
    __syncthreads();
    for (int column = threadIdx.x; column < HEAD_SIZE; column += threads) {
        float sum = 0;
        for (int warp = 0; warp < warps; ++warp)
            sum += shares[warp][column];
        partial[(static_cast<i64>(kind) * gridDim.x + blockIdx.x) * HEAD_SIZE + column] = sum;
    }
}
