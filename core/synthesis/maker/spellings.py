# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One name for an operator, however a text spells it: nn.ReLU(), torch.relu(x), F.relu(x) and
x.relu_() are "relu". From texts alone, nothing is imported.
"""

import re

# Names that mean the same, after prefixes and capitals are gone.
SAME = {
    "re_l_u": "relu", "re_l_u6": "relu6", "leaky_re_l_u": "leaky_relu", "g_e_l_u": "gelu",
    "s_i_l_u": "silu", "si_l_u": "silu", "swish": "silu", "e_l_u": "elu", "s_e_l_u": "selu",
    "c_e_l_u": "celu", "g_l_u": "glu", "p_re_l_u": "prelu", "r_re_l_u": "rrelu",
    "hardtanh": "clamp", "clip": "clamp", "clamp_min": "clamp", "clamp_max": "clamp",
    "mm": "matmul", "bmm": "matmul", "mv": "matmul", "dot": "matmul", "inner": "matmul",
    "amax": "max", "amin": "min", "vector_norm": "norm", "matrix_norm": "norm", "multiply": "mul",
    "divide": "div", "true_divide": "div", "subtract": "sub", "negative": "neg", "absolute": "abs",
    "concat": "cat", "concatenate": "cat", "square": "pow", "float_power": "pow", "t": "transpose",
    "swapaxes": "transpose", "swapdims": "transpose", "m_t": "transpose",
    "adaptive_avg_pool": "adaptive_avg_pool2d", "batch_norm1d": "batch_norm",
    "batch_norm2d": "batch_norm", "batch_norm3d": "batch_norm", "instance_norm1d": "instance_norm",
    "instance_norm2d": "instance_norm", "instance_norm3d": "instance_norm",
    "r_m_s_norm": "rms_norm", "softmax2d": "softmax",
    "m_s_e_loss": "mse_loss", "huber_loss": "smooth_l1_loss", "k_l_div_loss": "kl_div",
    "b_c_e_loss": "binary_cross_entropy", "b_c_e_with_logits_loss":
    "binary_cross_entropy_with_logits", "n_l_l_loss": "nll_loss", "l_s_t_m": "lstm",
    "g_r_u": "gru", "r_n_n": "rnn", "special_expit": "sigmoid", "expit": "sigmoid",
    "logical_not": "bitwise_not", "greater": "gt", "less": "lt", "arctan": "atan", "arcsin": "asin",
    "arccos": "acos", "fix": "trunc", "upsample": "interpolate",
    "upsampling_nearest2d": "interpolate", "upsampling_bilinear2d": "interpolate",
    "scaled_dot_product_attention": "attention", "cross_entropy_loss": "cross_entropy",
    "log_sigmoid": "logsigmoid", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "arctan2": "atan2", "gammaln": "lgamma", "psi": "digamma", "modified_bessel_i0": "i0",
    "modified_bessel_i1": "i1", "igamma": "gammainc", "igammac": "gammaincc", "rsub": "sub",
    "l_p_pool1d": "lp_pool1d", "l_p_pool2d": "lp_pool2d", "l_p_pool3d": "lp_pool3d",
    "trapz": "trapezoid", "moveaxis": "movedim", "tile": "repeat", "l_s_t_m_cell": "lstm_cell",
    "g_r_u_cell": "gru_cell", "r_n_n_cell": "rnn_tanh_cell", "ger": "outer",
    "poisson_n_l_l_loss": "poisson_nll_loss", "gaussian_n_l_l_loss": "gaussian_nll_loss",
    "multi_label_soft_margin_loss": "multilabel_soft_margin_loss", "greater_equal": "ge",
    "less_equal": "le", "not_equal": "ne", "chunk": "split", "tensor_split": "split",
    "hstack": "cat", "vstack": "cat", "dstack": "cat", "column_stack": "cat", "row_stack": "cat",
    "fliplr": "flip", "flipud": "flip", "logical_and": "bitwise_and", "logical_or": "bitwise_or",
    "logical_xor": "bitwise_xor", "fmax": "maximum", "fmin": "minimum", "sgn": "sign",
}
# Operators that are written as others together, in the order in which these are evaluated.
TOGETHER = {
    "silu": ("sigmoid", "mul"), "mish": ("softplus", "tanh", "mul"),
    "softsign": ("abs", "add", "div"), "mse_loss": ("sub", "pow", "mean"),
    "log_softmax": ("softmax", "log"), "softmin": ("neg", "softmax"), "logsigmoid":
    ("sigmoid", "log"), "tanhshrink": ("tanh", "sub"), "rsqrt": ("sqrt", "reciprocal"),
    "addmm": ("matmul", "add"), "addbmm": ("matmul", "add"), "baddbmm": ("matmul", "add"),
    "addcmul": ("mul", "add"), "addcdiv": ("div", "add"), "addmv": ("matmul", "add"),
}
# What moves, copies or renames and computes nothing; and what does nothing outside of training.
SILENT = frozenset("""
    view reshape flatten unflatten contiguous unsqueeze squeeze expand expand_as view_as reshape_as
    to type float half bfloat16 double detach clone cuda cpu identity dropout dropout1d dropout2d
    dropout3d alpha_dropout feature_alpha_dropout item tolist size getitem requires_grad atleast_1d
    atleast_2d atleast_3d broadcast_to broadcast_tensors type_as register_buffer eval train
""".split())


def canonical(name):
    """The one name of a dotted name of PyTorch, or of any other."""
    last = name.rpartition(".")[2]
    if last[:1].isupper():
        last = re.sub(r"(?<!^)(?<!_)([A-Z])", r"_\1", last).lower()
        last = last.replace("_1d", "1d").replace("_2d", "2d").replace("_3d", "3d")
    else:
        last = last.lower()
    if not last.startswith("__"):
        last = last.rstrip("_") or last
    return SAME.get(last, last)


def sequence(names):
    """Canonical operators in order of evaluation, compounds taken apart, without silent ones."""
    found = []
    for name in names:
        if name not in SILENT:
            found += TOGETHER.get(name, (name,))
    return found
