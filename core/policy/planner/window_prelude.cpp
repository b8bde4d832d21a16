// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/kernel_writer.h"

// Convolutions as products: operands whose rows are windows of an image.

namespace cuda_agent::policy {

namespace {

constexpr const char *windows =
    R"cuda(// Whether any tap of the first or the last window lies outside; taps may go backwards.
__host__ __device__ constexpr bool leaves(int in, int out, int taps, int step, int pad, int gap) {
    return -pad + (gap < 0 ? (taps - 1) * gap : 0) < 0 ||
           (out - 1) * step - pad + (gap > 0 ? (taps - 1) * gap : 0) >= in;
}

// The windows of a convolution. `inner` channels lie innermost, or all of them outermost (1). Three
// dimensions of space, outermost first: sizes of the input and of the output, taps of a window, steps
// from one window to the next, elements that the first one lies before the input, and steps from one
// tap to the next.
template <int inner, int inD, int inH, int inW, int outD, int outH, int outW, int tapsD, int tapsH, int tapsW,
          int stepD, int stepH, int stepW, int padD, int padH, int padW, int gapD, int gapH, int gapW>
struct Windows {
    static constexpr int taps = tapsD * tapsH * tapsW, area = inH * inW, volume = inD * area;
    static constexpr bool bordered = leaves(inD, outD, tapsD, stepD, padD, gapD) ||
                                     leaves(inH, outH, tapsH, stepH, padH, gapH) ||
                                     leaves(inW, outW, tapsW, stepW, padW, gapW);

    // A step of k: a channel and a tap of it, and how far it lies behind the first one of all.
    struct Tap {
        int d, h, w, channel, offset;
        explicit __device__ __forceinline__ Tap(int k) {
            const int tap = k / inner % taps;
            w = tap % tapsW, h = tap / tapsW % tapsH, d = tap / (tapsW * tapsH);
            channel = k % inner;
            offset = (d * (gapD * area) + h * (gapH * inW) + w * gapW) * inner +
                     (inner > 1 ? channel : k / taps * volume);
        }
        __device__ __forceinline__ void next() {
            ++w, offset += gapW * inner;
            if (w < tapsW)
                return;
            w = 0, ++h, offset += (gapH * inW - tapsW * gapW) * inner;
            if (h < tapsH)
                return;
            h = 0, ++d, offset += (gapD * area - tapsH * (gapH * inW)) * inner;
            if (d < tapsD)
                return;
            d = 0, offset += volume - tapsD * (gapD * area);
        }
        // So many channels on, of those that lie innermost.
        __device__ __forceinline__ void advance(int steps) {
            channel += steps, offset += steps;
            while (channel >= inner) {
                channel -= inner, offset -= inner;
                next();
            }
        }
    };

    int first;         // where the window of a place begins, maybe outside
    unsigned inside; // its taps that lie inside, as bits, the innermost dimension lowest
    explicit __device__ __forceinline__ Windows(int place) {
        const int w = place % outW * stepW - padW, rest = place / outW;
        const int h = rest % outH * stepH - padH, d = rest / outH * stepD - padD;
        first = (d * area + h * inW + w) * inner;
        inside = (bits<tapsD>(d, gapD, inD) << tapsH | bits<tapsH>(h, gapH, inH)) << tapsW |
                 bits<tapsW>(w, gapW, inW);
    }
    __device__ __forceinline__ bool holds(const Tap &tap) const {
        return !bordered || holds(inside, tap);
    }
    static __device__ __forceinline__ bool holds(unsigned inside, const Tap &tap) {
        return (inside >> (tapsH + tapsW + tap.d) & inside >> (tapsW + tap.h) & inside >> tap.w & 1u) != 0;
    }
//IF product split padded
    template <class T>
    static __device__ __forceinline__ float element(const T *image, int place, int k) {
        const Windows window(place);
        const Tap tap(k);
        return window.holds(tap) ? widen(image[window.first + tap.offset]) : 0.0f;
    }
//END

  private:
    template <int count>
    static __device__ __forceinline__ unsigned bits(int at, int gap, int size) {
        unsigned result = 0;
#pragma unroll
        for (int t = 0; t < count; ++t)
            result |= (unsigned)(at + t * gap) < (unsigned)size ? 1u << t : 0u;
        return result;
    }
};

)cuda";

constexpr const char *neighbours =
    R"cuda(// Filters of a transposed convolution, for all neighbours of its output that meet the same places of
// the input: `step` of them along each dimension of space, of which each has taps from `first` on.
// `inner` as of the windows.
template <int channels, int stepD, int stepH, int stepW, int tapsD, int tapsH, int tapsW, int sizeD,
          int sizeH, int sizeW, int firstD, int firstH, int firstW, int inner>
struct Neighbours {
    static __device__ __forceinline__ bool counts(int row, int k) {
        const int w = row % stepW, rest = row / stepW / channels, h = rest % stepH, d = rest / stepH;
        const int tap = k / inner % (tapsD * tapsH * tapsW);
        return within(firstW + w + stepW * (tap % tapsW), sizeW) &&
               within(firstH + h + stepH * (tap / tapsW % tapsH), sizeH) &&
               within(firstD + d + stepD * (tap / (tapsW * tapsH)), sizeD);
    }

  private:
    static __device__ __forceinline__ bool within(int tap, int size) {
        return (unsigned)tap < (unsigned)size;
    }
};
// An operand, or a slice of one, of which only those elements count.
template <class Base, class N> struct Padded : Base {
    static constexpr bool padded = true;
    using Base::Base;
    static __device__ __forceinline__ bool counts(int row, int k) { return N::counts(row, k); }
};

)cuda";

constexpr const char *windowSlice =
    R"cuda(// A slice of windows on its way to shared memory.
template <class T, int rows, int depth, int threads, class W>
struct WindowSlice : Slice<T, rows, depth, threads, false, 1, 1> {
    using Base = Slice<T, rows, depth, threads, false, 1, 1>;
    __device__ __forceinline__ void fetch(const T *image, int first, int size, int at, int end) {
#pragma unroll
        for (int c = 0; c < Base::count; ++c) {
            const int i = (int)threadIdx.x + c * threads;
            const int place = first + i % rows, k = at + i / rows;
            const bool there = i < rows * depth && place < size && k < end;
            this->held[c][0] = there ? W::element(image, place, k) : 0.0f;
        }
    }
//IF split padded
    static __device__ __forceinline__ float element(const T *image, int place, int k) {
        return W::element(image, place, k);
    }
//END
};

)cuda";

constexpr const char *channelSlice =
    R"cuda(// A slice of windows whose channels lie innermost on its way to shared memory.
template <class T, int rows, int depth, int threads, int vector, class W>
struct ChannelSlice : Slice<T, rows, depth, threads, true, vector, 1> {
    using Base = Slice<T, rows, depth, threads, true, vector, 1>;
    __device__ __forceinline__ void fetch(const T *image, int first, int size, int at, int end) {
#pragma unroll
        for (int c = 0; c < Base::count; ++c) {
            const int i = (int)threadIdx.x + c * threads;
            const int place = first + i / Base::run, k = at + i % Base::run * vector;
            const bool there = i < Base::run * Base::lines && place < size && k < end;
            const W window(there ? place : 0);
            const typename W::Tap tap(k);
            if (there && window.holds(tap)) {
                loadVector(this->held[c], image + window.first + tap.offset);
            } else {
#pragma unroll
                for (int e = 0; e < vector; ++e)
                    this->held[c][e] = 0.0f;
            }
        }
    }
//IF split padded
    static __device__ __forceinline__ float element(const T *image, int place, int k) {
        return W::element(image, place, k);
    }
//END
};

)cuda";

constexpr const char *channelOperand =
    R"cuda(// Windows that a block multiplies, whose channels lie innermost: a thread copies some channels of one
// tap after the other, of `count` windows.
template <class T, int rows, int depth, int threads, int vector, class W>
struct ChannelOperand : Operand<T, rows, depth, threads, true, vector, 0> {
    using Base = Operand<T, rows, depth, threads, true, vector, 0>;
    const T *image;
    int first[Base::count];
    unsigned inside[Base::count];
    typename W::Tap tap;

    __device__ __forceinline__ ChannelOperand(const T *base, int begin, int total, int at)
        : Base(base, begin, total, at), image(base), tap(at + this->along) {
#pragma unroll
        for (int c = 0; c < Base::count; ++c) {
            const W window(begin + this->mine + c * Base::each);
            first[c] = window.first;
            inside[c] = c * Base::each < this->left ? window.inside : 0u;
        }
    }
    __device__ __forceinline__ void copy(T *tile, int at, int end, int part, int parts) {
#pragma unroll
        for (int c = 0; c < Base::count; ++c) {
            if (c * parts / Base::count != part ||
                (rows % Base::each != 0 && this->mine + c * Base::each >= rows))
                continue;
            const bool there = at + this->along < end && W::holds(inside[c], tap);
            copyAsync<vector * (int)sizeof(T)>(
                tile + (this->mine + c * Base::each) * Base::line + this->along,
                image + (there ? first[c] + tap.offset : 0), there);
        }
        if (part == parts - 1)
            tap.advance(depth);
    }
//IF split padded
    static __device__ __forceinline__ float element(const T *base, int place, int k) {
        return W::element(base, place, k);
    }
//END
};

)cuda";

constexpr const char *windowOperand =
    R"cuda(// Windows that a block multiplies: a thread goes through the taps of one place, or of one of `each`
// shares of them, so that neighbouring threads read what lies next to each other.
template <class T, int rows, int depth, int threads, class W>
struct WindowOperand : Operand<T, rows, depth, threads, false, 1, 1> {
    using Base = Operand<T, rows, depth, threads, false, 1, 1>;
    static_assert(depth % Base::each == 0, "");
    const T *image;
    W window;
    typename W::Tap tap;

    __device__ __forceinline__ WindowOperand(const T *base, int first, int total, int at)
        : Base(base, first, total, at), image(base), window(first + this->along),
          tap(at + this->mine) {}
    __device__ __forceinline__ void copy(T *tile, int at, int end, int part, int parts) {
#pragma unroll
        for (int c = 0; c < Base::count; ++c) {
            if (c * parts / Base::count != part)
                continue;
            const bool there =
                this->left > 0 && at + this->mine + c * Base::each < end && window.holds(tap);
            copyAsync<(int)sizeof(T)>(tile + (this->mine + c * Base::each) * Base::line + this->along,
                                      image + (there ? window.first + tap.offset : 0), there);
#pragma unroll
            for (int i = 0; i < Base::each; ++i)
                tap.next();
        }
    }
//IF split padded
    static __device__ __forceinline__ float element(const T *base, int place, int k) {
        return W::element(base, place, k);
    }
//END
};

)cuda";

} // namespace

std::string windowPrelude(const std::set<std::string> &helpers) {
    if (!helpers.contains("windows"))
        return {};
    std::string text = std::string(windows) + (helpers.contains("neighbours") ? neighbours : "");
    const bool inner = helpers.contains("channelWindows");
    if (helpers.contains("product"))
        text += inner ? std::string(windowSlice) + channelSlice : windowSlice;
    if (helpers.contains("tensor"))
        text += inner ? std::string(windowOperand) + channelOperand : windowOperand;
    return text;
}

} // namespace cuda_agent::policy
