// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Usage: channels of [outer, channels, inner] to the last place, and back from there.
// Version 1: a thread an element; what is read or written with stride is left to the caches.

extern "C" __global__ void channels_last(const float *from, float *to, int channels, int inner,
                                         int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const int channel = i % channels, place = i / channels % inner, outer = i / channels / inner;
    to[i] = from[(outer * channels + channel) * inner + place];
}

extern "C" __global__ void channels_second(const float *from, float *to, int channels, int inner,
                                           int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const int place = i % inner, channel = i / inner % channels, outer = i / inner / channels;
    to[i] = from[(outer * inner + place) * channels + channel];
}
