# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why public names of PyTorch are no operators that tasks are made of: rules by their form, then
tables."""

import re

RANDOM = "draws random numbers"
IN_PLACE = "changes its input in place"
NO_TENSOR = "result is no tensor"
COMPLEX = "result is complex, or it is about complex numbers"
ONLY_MAKES = "only makes tensors"
SPARSE = "sparse or quantised"
BY_VALUES = "shape of the result depends on values"
NOT_DETERMINISTIC = "not deterministic on cuda"
DEPRECATED = "deprecated"
SETTING = "reads or changes a setting of PyTorch"
SAME_BATCH = "mixes the whole batch"
NOTHING = "changes nothing of the values, or only their place in memory"
WHOLE = "result is whole numbers"
CONSTANT = "the same for nearly all inputs of real numbers"
UNBOUNDED = "badly conditioned on random matrices"
NOT_UNIQUE = "result is not unique"
BOUNDED = "wants values that no domain tells"
INTERNAL = "internal of PyTorch, the public operator is another"
BACKEND = "one backend's own, the public operator is another"
COPYING = "a view's copying variant, for compilers"
SHAPE_ONLY = "reads only the shape of its second input"
HARDWARE = "wants particular hardware or types"
CONTAINER = "container"
LAZY = "sizes of its parameters are settled by the first call"
SPELLED = "the same as {} in another spelling"
REPEATED = "not deterministic where an index repeats"
ITERATIVE = "found by iteration, takes seconds on what fills a GPU"
OTHER_DEVICE = "moves between devices"
FLOAT64 = "result is float64"
CONVERTS = "only converts element types"
HELPER = "a helper of Python code"

# By the last part of the name.
RULES = (
    (r".*[^_]_$", IN_PLACE),
    (r"Lazy.*", LAZY),
    (r"(?!index).*_copy$", COPYING),
    (r"(fbgemm|quantize|quantized|q|fake_quantize|sparse)_.*|fused_moving_avg_obs_fake_quant",
     SPARSE),
    (r"(cudnn|miopen|mkldnn)_.*", BACKEND),
    (r"(native|unsafe)_.*", INTERNAL),
    (r"batch_norm_.+", INTERNAL),
    (r"sym_.*", "about symbolic sizes"),
    (r".*_window$", ONLY_MAKES),
    (r"rand(n|int|perm)?(_like)?|bernoulli|normal|poisson|binomial|multinomial", RANDOM),
    (r"(Feature)?(Alpha)?Dropout[123]?d?|(feature_)?(alpha_)?dropout[123]?d?", RANDOM),
    (r"FractionalMaxPool.*|fractional_max_pool.*|RReLU|rrelu|gumbel_softmax|(svd|pca)_lowrank",
     RANDOM),
    (r"(empty|zeros|ones|full)(_like|_permuted|_strided|_quantized)?|new(_.*)?", ONLY_MAKES),
    (r"(set|get)_.*", SETTING),
    (r"is_.*|are_.*", NO_TENSOR),
    (r"to_(sparse|mkldnn|dense|padded).*", SPARSE),
    (r".*(autocast|vital|grad_enabled|num_threads).*", SETTING),
    (r"(col|row|crow|ccol)_indices|indices|values|coalesce|sparse_.*|dense_dim|dequantize|int_repr",
     SPARSE),
    (r"(align|refine|rename).*", "about named dimensions"),
    (r".*_with_indices", "the same as its name without _with_indices in another spelling"),
    (r"MaxUnpool.*|max_unpool.*", "wants the indices of a pooling of the same size"),
    (r"(i|r)?(fft|fft2|fftn)|ihfft.*|(r)?fftfreq", COMPLEX),
    (r"view_as_(real|complex)|real|imag|angle|conj.*|resolve_(conj|neg)|polar|complex", COMPLEX),
)

# reason: names. A name without a dot is of torch.
TABLE = {
    RANDOM: "seed initial_seed manual_seed lobpcg",
    NO_TENSOR: "allclose equal typename compiled_with_cxx11_abi parse_ir parse_schema "
               "can_cast result_type promote_types broadcast_shapes numel",
    ONLY_MAKES: "arange range linspace logspace eye tril_indices triu_indices tensor as_tensor "
                "asarray scalar_tensor from_file from_numpy frombuffer from_dlpack cartesian_prod "
                "combinations meshgrid torch.fft.fftfreq torch.fft.rfftfreq",
    SPARSE: "hspmm hsmm smm dsmm sspaddmm saddmm torch.Tensor.sparse_mask torch.Tensor.qscheme "
            "choose_qparams_optimized",
    BY_VALUES: "nonzero nonzero_static argwhere masked_select unique unique_consecutive bincount "
               "segment_reduce",
    NOT_DETERMINISTIC: "histc histogram histogramdd put",
    REPEATED: "scatter scatter_add scatter_reduce index_add index_copy index_put index_reduce",
    DEPRECATED: "cholesky qr svd solve eig lstsq symeig matrix_rank lu triangular_solve "
                "chain_matmul norm_except_dim nuclear_norm frobenius_norm torch.Tensor.reinforce "
                "torch.nn.NLLLoss2d torch.nn.Container "
                "torch.nn.functional.upsample torch.nn.functional.upsample_bilinear "
                "torch.nn.functional.upsample_nearest torch.nn.functional.sigmoid "
                "torch.nn.functional.tanh torch.nn.CrossMapLRN2d torch.Tensor.storage_type",
    SETTING: "use_deterministic_algorithms init_num_threads compile import_ir_module "
             "import_ir_module_from_buffer",
    HELPER: "load save fork wait vmap cond while_loop classproperty unify_type_list "
            "merge_type_from_type_comment parse_type_comment prepare_multiprocessing_environment "
            "profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 to_dlpack "
            "torch.nn.functional.assert_int_or_pair torch.nn.functional.boolean_dispatch "
            "torch.nn.functional.handle_torch_function torch.nn.functional.has_torch_function "
            "torch.nn.functional.has_torch_function_unary "
            "torch.nn.functional.has_torch_function_variadic torch.Tensor.module_load "
            "torch.Tensor.as_subclass torch.Tensor.record_stream torch.Tensor.index",
    SAME_BATCH: "addbmm cov corrcoef dot vdot msort trace t ravel vsplit vstack row_stack diag "
                "diagflat vander torch.nn.functional.pdist torch.nn.functional.conv_tbc",
    NOTHING: "atleast_1d atleast_2d atleast_3d clone positive nan_to_num detach broadcast_tensors "
             "torch.Tensor.contiguous torch.Tensor.pin_memory torch.nn.Identity",
    WHOLE: "bitwise_left_shift bitwise_right_shift gcd lcm bucketize searchsorted unravel_index "
           "hash_tensor torch.nn.functional.one_hot torch.Tensor.byte torch.Tensor.char "
           "torch.Tensor.int torch.Tensor.long torch.Tensor.short torch.Tensor.bool",
    CONSTANT: "heaviside eq ne not_equal isfinite isinf isnan isneginf isposinf isreal isin mode "
              "nextafter",
    UNBOUNDED: "inverse pinverse logdet lu_solve lu_unpack cholesky_inverse cholesky_solve ormqr "
               "orgqr geqrf torch.linalg.cholesky torch.linalg.cholesky_ex torch.linalg.cond "
               "torch.linalg.householder_product torch.linalg.inv torch.linalg.inv_ex "
               "torch.linalg.ldl_factor torch.linalg.ldl_factor_ex torch.linalg.ldl_solve "
               "torch.linalg.lstsq torch.linalg.lu_solve torch.linalg.matrix_rank "
               "torch.linalg.pinv torch.linalg.solve_triangular torch.linalg.tensorinv "
               "torch.linalg.tensorsolve",
    ITERATIVE: "torch.linalg.svdvals torch.linalg.eigvalsh",
    NOT_UNIQUE: "torch.linalg.eigh torch.linalg.lu torch.linalg.lu_factor "
                "torch.linalg.lu_factor_ex torch.linalg.qr torch.linalg.svd",
    COMPLEX: "stft istft torch.linalg.eig torch.linalg.eigvals torch.Tensor.cdouble "
             "torch.Tensor.cfloat torch.Tensor.chalf",
    BOUNDED: "acosh arccosh mvlgamma masked_scatter torch.special.multigammaln torch.special.zeta "
             "torch.nn.HingeEmbeddingLoss torch.nn.functional.hinge_embedding_loss "
             "hinge_embedding_loss torch.nn.CosineEmbeddingLoss cosine_embedding_loss "
             "torch.nn.functional.cosine_embedding_loss torch.nn.MultiLabelMarginLoss "
             "torch.nn.functional.multilabel_margin_loss torch.nn.CTCLoss "
             "torch.nn.functional.ctc_loss ctc_loss",
    INTERNAL: "affine_grid_generator alias_copy constant_pad_nd convolution grid_sampler "
              "grid_sampler_2d grid_sampler_3d slice_inverse batch_norm "
              "split_with_sizes torch.nn.RNNBase torch.nn.RNNCellBase torch.nn.Module",
    SHAPE_ONLY: "torch.Tensor.expand_as torch.Tensor.reshape_as torch.Tensor.view_as "
                "torch.Tensor.resize_as torch.Tensor.type_as",
    HARDWARE: "torch.nn.functional.grouped_mm torch.nn.functional.scaled_mm "
              "torch.nn.functional.scaled_grouped_mm",
    CONTAINER: "torch.nn.ModuleDict torch.nn.ModuleList torch.nn.ParameterDict "
               "torch.nn.ParameterList torch.nn.Sequential",
    "needs a process group": "torch.nn.SyncBatchNorm torch.nn.DataParallel",
    "result is several tensors, each a part of it": "torch.nn.AdaptiveLogSoftmaxWithLoss frexp",
    "reads values of its input on the host": "torch.nn.GaussianNLLLoss "
                                             "torch.nn.functional.gaussian_nll_loss",
    "addresses memory, not elements": "as_strided as_strided_scatter torch.Tensor.resize",
    "gives every element the same value": "fill",
    OTHER_DEVICE: "torch.Tensor.cpu torch.Tensor.cuda torch.Tensor.ipu torch.Tensor.xpu "
                  "torch.Tensor.mtia",
    FLOAT64: "float_power",
    CONVERTS: "torch.Tensor.to torch.Tensor.type torch.Tensor.half torch.Tensor.bfloat16 "
              "torch.Tensor.float torch.Tensor.double",
}

# The same computation under another name: name, and the one that is kept.
SPELLINGS = {
    "adaptive_max_pool1d": "torch.nn.functional.adaptive_max_pool1d",
    "binary_cross_entropy_with_logits": "torch.nn.functional.binary_cross_entropy_with_logits",
    "embedding": "torch.nn.functional.embedding",
    "embedding_bag": "torch.nn.functional.embedding_bag",
    "group_norm": "torch.nn.functional.group_norm",
    "instance_norm": "torch.nn.functional.instance_norm",
    "layer_norm": "torch.nn.functional.layer_norm",
    "kl_div": "torch.nn.functional.kl_div",
    "margin_ranking_loss": "torch.nn.functional.margin_ranking_loss",
    "poisson_nll_loss": "torch.nn.functional.poisson_nll_loss",
    "triplet_margin_loss": "torch.nn.functional.triplet_margin_loss",
    "max_pool1d": "torch.nn.functional.max_pool1d",
    "max_pool2d": "torch.nn.functional.max_pool2d",
    "max_pool3d": "torch.nn.functional.max_pool3d",
    "gru": "torch.nn.GRU",
    "lstm": "torch.nn.LSTM",
    "rnn_tanh": "torch.nn.RNN",
    "rnn_relu": "torch.nn.RNN",
    "torch.linalg.solve_ex": "torch.linalg.solve",
    "torch.nn.functional.multi_head_attention_forward": "torch.nn.MultiheadAttention",
    "torch.nn.functional.native_channel_shuffle": "torch.nn.functional.channel_shuffle",
    "torch.Tensor.sum_to_size": "torch.sum",
}


def full(name):
    return name if name.startswith("torch.") else "torch." + name


BY_NAME = {full(name): reason for reason, names in TABLE.items() for name in names.split()} | \
    {full(name): SPELLED.format(other) for name, other in SPELLINGS.items()}


def reason_for(name):
    """Why a name is no operator of the catalogue; None where neither a table nor a rule knows."""
    if name in BY_NAME:
        return BY_NAME[name]
    last = name.rsplit(".", 1)[1]
    for pattern, reason in RULES:
        if re.fullmatch(pattern, last):
            return reason
    return None
