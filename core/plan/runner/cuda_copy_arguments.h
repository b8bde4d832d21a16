// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// Argument of the strided copy kernels; host and device agree on it. Strides in elements.
struct CudaCopyArguments {
    static constexpr int maxRank = 8;
    unsigned long long to, from; ///< device addresses
    long long elements;
    long long shape[maxRank], toStrides[maxRank], fromStrides[maxRank];
    int rank;
};
