// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The one thing the runner wants of oneDNN, in a shared library of its own
 * (libcuda-agent-onednn.so), so that the runner starts where oneDNN is missing. float32 only. */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CudaAgentConvolution {
    int spatial; /* 1 to 3 */
    int transposed;
    int64_t groups;
    int64_t input[5], weight[5], output[5]; /* shapes as in torch */
    int channels_last; /* in memory the second dimension is the innermost; else contiguous */
    int has_bias;
    int64_t stride[3], padding[3], dilation[3], output_padding[3];
} CudaAgentConvolution;

/* NULL and a message when oneDNN refuses. */
void *cuda_agent_onednn_make(const CudaAgentConvolution *convolution, char *message,
                             size_t message_bytes);
/* 0, or 1 and a message. */
int cuda_agent_onednn_run(void *made, const float *input, const float *weight, const float *bias,
                          float *output, char *message, size_t message_bytes);
void cuda_agent_onednn_destroy(void *made);

#ifdef __cplusplus
}
#endif
