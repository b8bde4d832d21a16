// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Attention of new tokens, one or some of a row, over the keys and values that are kept of those
// before them and over each other, as decoding needs it: softmax(q k / sqrt(HEAD_SIZE)) v, in one
// pass with running maxima (Milakov and Gimelshein, arXiv 1805.02867). A block reads the keys and
// values of one head of one row once, for `blockQueries` of the queries that share them. `keyLanes`
// lanes hold a key; groups of so many go over the keys side by side, and what they found is put
// together in shared memory.

/// The largest divisor up to 4.
__device__ constexpr int partOf(int count) {
    for (int part = 4; part > 1; --part)
        if (count % part == 0)
            return part;
    return 1;
}
constexpr int sharing = HEADS / KV_HEADS; ///< queries of a key
constexpr int blockQueries = partOf(sharing);
constexpr int keyLanes = HEAD_SIZE / width < 32 ? HEAD_SIZE / width : 32;
constexpr int keyAccesses = HEAD_SIZE / width / keyLanes;
constexpr int keyGroups = threads / keyLanes;
/// That a group asks for before it uses any.
constexpr int keysAtOnce = blockQueries * keyAccesses > 2 ? 2 : 4;

/// queries [tokens, HEADS, HEAD_SIZE]; newKeys, newValues [tokens, KV_HEADS, HEAD_SIZE]: of the new
/// tokens, each behind `places` ones of row `rows` in keys and values [all rows, KV_HEADS, context,
/// HEAD_SIZE], where they are put, too. New tokens of the same row stand side by side in the order
/// of their places, which have no gaps. A negative row: no token, out is 0. Grid: tokens by HEADS /
/// blockQueries.
extern "C" __global__ void __launch_bounds__(256, blockQueries == 1 ? 4 : 2)
    attend_step(const Element *__restrict__ queries, const Element *__restrict__ newKeys,
                const Element *__restrict__ newValues, const i64 *__restrict__ rows,
                const i64 *__restrict__ places, Element *keys, Element *values,
                Element *__restrict__ out, i64 context, float scale) {
    __shared__ float partial[keyGroups][HEAD_SIZE];
    __shared__ float mosts[blockQueries][keyGroups], sums[blockQueries][keyGroups];
    const unsigned token = blockIdx.x, firstHead = blockIdx.y * blockQueries;
    const unsigned keyHead = firstHead / sharing;
    const int lane = threadIdx.x % keyLanes, group = threadIdx.x / keyLanes;
    const i64 row = rows[token], place = places[token];
    const i64 queryAt = (static_cast<i64>(token) * HEADS + firstHead) * HEAD_SIZE;
    if (row < 0) { // the same for all of the block
        for (int i = threadIdx.x; i < blockQueries * HEAD_SIZE; i += threads)
            setOne(out + queryAt + i, 0.0f);
        return;
    }
    unsigned before = 0; // new ones of the row
    while (before < token && rows[token - before - 1] == row)
        ++before;
    const i64 firstNew = place - before; // from here on places are only being written
    constexpr i64 apart = KV_HEADS * HEAD_SIZE;
    const i64 freshAt = static_cast<i64>(token) * apart + keyHead * HEAD_SIZE;
    const i64 keptAt = (row * KV_HEADS + keyHead) * context * HEAD_SIZE;
    if (firstHead % sharing == 0 && group == 0) {
#pragma unroll
        for (int a = 0; a < keyAccesses; ++a) {
            const int column = (lane + a * keyLanes) * width;
            const i64 to = keptAt + place * HEAD_SIZE + column;
            storeWords(keys + to, loadWords(newKeys + freshAt + column));
            storeWords(values + to, loadWords(newValues + freshAt + column));
        }
    }
    Values query[blockQueries][keyAccesses], sum[blockQueries][keyAccesses] = {};
    float most[blockQueries], total[blockQueries];
#pragma unroll
    for (int q = 0; q < blockQueries; ++q) {
        most[q] = -infinity();
        total[q] = 0;
#pragma unroll
        for (int a = 0; a < keyAccesses; ++a) {
            query[q][a] = load(queries + queryAt + q * HEAD_SIZE + (lane + a * keyLanes) * width);
#pragma unroll
            for (int i = 0; i < width; ++i)
                query[q][a].v[i] *= scale;
        }
    }
    for (i64 first = 0; first <= place; first += keysAtOnce * keyGroups) {
        uint4 key[keysAtOnce][keyAccesses], value[keysAtOnce][keyAccesses];
        bool there[keysAtOnce];
#pragma unroll
        for (int k = 0; k < keysAtOnce; ++k) {
            const i64 at = first + k * keyGroups + group;
            there[k] = at <= place;
            const bool kept = at < firstNew;
            const i64 from = kept       ? keptAt + at * HEAD_SIZE
                             : there[k] ? freshAt - (place - at) * apart
                                        : freshAt;
            const Element *keyFrom = (kept ? keys : newKeys) + from;
            const Element *valueFrom = (kept ? values : newValues) + from;
#pragma unroll
            for (int a = 0; a < keyAccesses; ++a) {
                const int column = (lane + a * keyLanes) * width;
                key[k][a] = loadWords(keyFrom + column);
                value[k][a] = loadWords(valueFrom + column);
            }
        }
#pragma unroll
        for (int q = 0; q < blockQueries; ++q) {
            float score[keysAtOnce], newMost = most[q];
#pragma unroll
            for (int k = 0; k < keysAtOnce; ++k) {
                float dot = 0;
#pragma unroll
                for (int a = 0; a < keyAccesses; ++a) {
                    const Values numbers = unpacked(key[k][a]);
#pragma unroll
                    for (int i = 0; i < width; ++i)
                        dot += numbers.v[i] * query[q][a].v[i];
                }
                dot = sumOver<keyLanes>(dot); // all lanes of a warp come here equally often
                score[k] = there[k] ? dot : -infinity();
                newMost = fmaxf(newMost, score[k]);
            }
            if (newMost == -infinity())
                continue; // no key of this group's so far
            const float old = exponential(most[q] - newMost);
            most[q] = newMost;
            total[q] *= old;
#pragma unroll
            for (int a = 0; a < keyAccesses; ++a)
#pragma unroll
                for (int i = 0; i < width; ++i)
                    sum[q][a].v[i] *= old;
#pragma unroll
            for (int k = 0; k < keysAtOnce; ++k) {
                const float share = exponential(score[k] - newMost);
                total[q] += share;
#pragma unroll
                for (int a = 0; a < keyAccesses; ++a) {
                    const Values numbers = unpacked(value[k][a]);
#pragma unroll
                    for (int i = 0; i < width; ++i)
                        sum[q][a].v[i] += share * numbers.v[i];
                }
            }
        }
    }
    if (lane == 0) {
#pragma unroll
        for (int q = 0; q < blockQueries; ++q) {
            mosts[q][group] = most[q];
            sums[q][group] = total[q];
        }
    }
#pragma unroll
    for (int q = 0; q < blockQueries; ++q) {
        __syncthreads();
#pragma unroll
        for (int a = 0; a < keyAccesses; ++a)
#pragma unroll
            for (int i = 0; i < width; ++i)
                partial[group][(lane + a * keyLanes) * width + i] = sum[q][a].v[i];
        __syncthreads();
        if (threadIdx.x < HEAD_SIZE) {
            float all = -infinity(), weight = 0, number = 0;
            for (int g = 0; g < keyGroups; ++g)
                all = fmaxf(all, mosts[q][g]);
            for (int g = 0; g < keyGroups; ++g) {
                const float share = exponential(mosts[q][g] - all);
                weight += share * sums[q][g];
                number += share * partial[g][threadIdx.x];
            }
            setOne(out + queryAt + q * HEAD_SIZE + threadIdx.x, number / weight);
        }
    }
}
