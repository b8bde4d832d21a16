// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/kernels/kernels.h"

#include <ATen/ATen.h>

#include <bit>
#include <cmath>

namespace cuda_agent::learn {

namespace {

constexpr std::uint32_t threads = 256; // of prelude.cu
constexpr std::int64_t warps = threads / 32;

std::int64_t widthOf(at::ScalarType type) {
    return type == at::kBFloat16 ? 8 : 4;
}

/// Lanes that hold a row, as norm.cu's lanesFor.
std::int64_t lanesFor(std::int64_t accesses) {
    for (std::int64_t lanes = 32; lanes > 4; lanes /= 2)
        if (accesses % lanes == 0)
            return lanes;
    return std::min<std::int64_t>(
        32, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(accesses))));
}

/// As attention.cu's partOf.
std::int64_t queriesOfBlock(std::int64_t sharing) {
    std::int64_t part = 4;
    while (sharing % part != 0)
        --part;
    return part;
}

std::uint32_t blocks(std::int64_t items, std::int64_t ofBlock) {
    return static_cast<std::uint32_t>((items + ofBlock - 1) / ofBlock);
}

/// qkv.cu's Gradient.
struct Strided {
    const void *data;
    std::int64_t batch, head, token;
};

const void *dataOf(const at::Tensor &tensor) {
    return tensor.defined() ? tensor.const_data_ptr() : nullptr;
}

bool isAligned(const at::Tensor &tensor) {
    return reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) % 16 == 0;
}

void checkIndices(const at::Tensor &indices, std::int64_t count) {
    TORCH_CHECK(indices.scalar_type() == at::kLong && indices.numel() == count &&
                    indices.is_contiguous(),
                "fused kernels: ", count, " contiguous int64 needed, not ", indices.sizes());
}

} // namespace

std::map<std::string, std::string> KernelSizes::defines() const {
    return {{"BFLOAT16", type == at::kBFloat16 ? "1" : "0"},
            {"HIDDEN", std::to_string(hidden)},
            {"HEADS", std::to_string(heads)},
            {"KV_HEADS", std::to_string(kvHeads)},
            {"HEAD_SIZE", std::to_string(headSize)},
            {"INNER", std::to_string(inner)},
            {"VOCABULARY", std::to_string(vocabulary)}};
}

Result<void> check(const KernelSizes &sizes) {
    if (sizes.type != at::kBFloat16 && sizes.type != at::kFloat)
        return requestError("fused kernels are there for bfloat16 and float32 alone");
    const auto width = widthOf(sizes.type);
    if (sizes.hidden < width || sizes.hidden % width != 0 || sizes.hidden > 1024)
        return requestError("fused kernels need a hidden size up to 1024 that is a multiple of {}, "
                            "not {}",
                            width, sizes.hidden);
    if (sizes.inner < width || sizes.inner % width != 0)
        return requestError("fused kernels need an inner size that is a multiple of {}, not {}",
                            width, sizes.inner);
    if (sizes.headSize < 2 * width || sizes.headSize > 256 ||
        !std::has_single_bit(static_cast<std::uint64_t>(sizes.headSize)))
        return requestError("fused kernels need a head size of {} to 256 that is a power of two, "
                            "not {}",
                            2 * width, sizes.headSize);
    if (sizes.heads < 1 || sizes.kvHeads < 1 || sizes.heads % sizes.kvHeads != 0 ||
        sizes.vocabulary < 1)
        return requestError("fused kernels need a whole number of heads a key, and a vocabulary");
    return {};
}

Kernels::Kernels(const KernelSizes &sizes, std::shared_ptr<const Launcher> launcher)
    : sizes_(sizes), launcher_(std::move(launcher)), width_(widthOf(sizes.type)) {}

Result<c10::intrusive_ptr<Kernels>> Kernels::onGpu(const KernelSizes &sizes, int device) {
    CUDA_AGENT_TRY(check(sizes));
    CUDA_AGENT_ASSIGN(launcher, cudaLauncher(sizes.defines(), device));
    return c10::make_intrusive<Kernels>(sizes, std::move(launcher));
}

template <typename... Arguments>
void Kernels::launch(const char *entry, Launcher::Grid grid, std::uint32_t blockThreads,
                     Arguments... arguments) const {
    if (grid.x > 0)
        launcher_->launch(entry, grid, blockThreads, {static_cast<void *>(&arguments)...});
}

at::Tensor Kernels::whole(const at::Tensor &tensor, std::int64_t columns) const {
    TORCH_CHECK(tensor.scalar_type() == sizes_.type && tensor.dim() > 0 &&
                    tensor.size(-1) == columns,
                "fused kernels: rows of ", columns, " of ", sizes_.type, " needed, not ",
                tensor.sizes(), " of ", tensor.scalar_type());
    if (tensor.is_contiguous() && isAligned(tensor))
        return tensor;
    return tensor.clone(at::MemoryFormat::Contiguous);
}

std::uint32_t Kernels::blocksFor(std::int64_t items, std::int64_t itemsOfBlock) const {
    return std::min(blocks(items, itemsOfBlock), launcher_->blocksAtOnce());
}

at::Tensor Kernels::columnSums(const at::Tensor &partial) const {
    const auto sets = partial.size(0), count = partial.size(1), columns = partial.size(2);
    if (count == 0)
        return at::zeros({sets, columns}, partial.options().dtype(sizes_.type));
    auto to = at::empty({sets, columns}, partial.options().dtype(sizes_.type));
    launch("column_sums", {blocks(columns, 32), static_cast<std::uint32_t>(sets)}, 1024,
           dataOf(partial), to.mutable_data_ptr(), static_cast<std::int32_t>(count),
           static_cast<std::int32_t>(columns));
    return to;
}

std::pair<at::Tensor, at::Tensor> Kernels::rmsNorm(const at::Tensor &x, const at::Tensor &residual,
                                                   const at::Tensor &weight) const {
    const auto from = whole(x, sizes_.hidden), scale = whole(weight, sizes_.hidden);
    const auto more = residual.defined() ? whole(residual, sizes_.hidden) : residual;
    TORCH_CHECK(!more.defined() || more.sizes() == from.sizes(), "fused rmsNorm: ", more.sizes(),
                " added to ", from.sizes());
    auto to = at::empty(from.sizes(), from.options());
    auto sum = more.defined() ? at::empty(from.sizes(), from.options()) : at::Tensor();
    const std::int64_t rows = from.numel() / sizes_.hidden;
    launch("rms_norm", {blocks(rows, threads / lanesFor(sizes_.hidden / width_))}, threads,
           dataOf(from), dataOf(more), dataOf(scale), dataOf(sum), to.mutable_data_ptr(), rows,
           static_cast<float>(sizes_.epsilon));
    return {to, sum};
}

std::pair<at::Tensor, at::Tensor> Kernels::rmsNormBackward(const at::Tensor &gradient,
                                                           const at::Tensor &more,
                                                           const at::Tensor &x,
                                                           const at::Tensor &weight) const {
    const auto slope = whole(gradient, sizes_.hidden), from = whole(x, sizes_.hidden),
               scale = whole(weight, sizes_.hidden);
    const auto besides = more.defined() ? whole(more, sizes_.hidden) : more;
    TORCH_CHECK(slope.sizes() == from.sizes() &&
                    (!besides.defined() || besides.sizes() == from.sizes()),
                "fused rmsNorm: a gradient ", slope.sizes(), " of ", from.sizes());
    auto to = at::empty(from.sizes(), from.options());
    const std::int64_t rows = from.numel() / sizes_.hidden;
    const auto grid = blocksFor(rows, threads / lanesFor(sizes_.hidden / width_));
    auto partial = at::empty({1, grid, sizes_.hidden}, from.options().dtype(at::kFloat));
    launch("rms_norm_backward", {grid}, threads, dataOf(slope), dataOf(besides), dataOf(from),
           dataOf(scale), to.mutable_data_ptr(), partial.mutable_data_ptr(), rows,
           static_cast<float>(sizes_.epsilon));
    return {to, columnSums(partial)[0]};
}

std::array<at::Tensor, 3> Kernels::qkvRope(const at::Tensor &packed, const Rotary &rotary) const {
    const auto &s = sizes_;
    TORCH_CHECK(packed.dim() == 3, "fused qkvRope: ", packed.sizes());
    const auto batch = packed.size(0), length = packed.size(1), tokens = batch * length;
    const auto from = whole(packed, (s.heads + 2 * s.kvHeads) * s.headSize);
    const auto queryWeight = whole(rotary.queryWeight, s.headSize),
               keyWeight = whole(rotary.keyWeight, s.headSize);
    const auto cos = whole(rotary.cos, s.headSize / 2), sin = whole(rotary.sin, s.headSize / 2);
    TORCH_CHECK(tokens * s.heads < (1ll << 31), "fused qkvRope: too many tokens: ", tokens);
    if (rotary.positions.defined())
        checkIndices(rotary.positions, tokens);
    else
        TORCH_CHECK(cos.size(0) >= length, "fused qkvRope: more tokens than positions");
    std::array<at::Tensor, 3> to;
    for (const std::size_t i : {0u, 1u, 2u})
        to[i] =
            at::empty({batch, length, i == 0 ? s.heads : s.kvHeads, s.headSize}, from.options());
    const auto ofBlock = threads / (s.headSize / 2 / width_);
    launch("qkv_rope", {blocks(tokens * s.heads, ofBlock), 3}, threads, dataOf(from),
           dataOf(rotary.positions), dataOf(cos), dataOf(sin), dataOf(queryWeight),
           dataOf(keyWeight), to[0].mutable_data_ptr(), to[1].mutable_data_ptr(),
           to[2].mutable_data_ptr(), static_cast<std::uint32_t>(tokens),
           static_cast<std::uint32_t>(length), static_cast<float>(s.epsilon));
    return {to[0].transpose(1, 2), to[1].transpose(1, 2), to[2].transpose(1, 2)};
}

std::array<at::Tensor, 3> Kernels::qkvRopeBackward(const std::array<at::Tensor, 3> &gradients,
                                                   const at::Tensor &packed,
                                                   const Rotary &rotary) const {
    const auto &s = sizes_;
    const auto batch = packed.size(0), length = packed.size(1), tokens = batch * length;
    const auto from = whole(packed, (s.heads + 2 * s.kvHeads) * s.headSize);
    const auto queryWeight = whole(rotary.queryWeight, s.headSize),
               keyWeight = whole(rotary.keyWeight, s.headSize);
    const auto cos = whole(rotary.cos, s.headSize / 2), sin = whole(rotary.sin, s.headSize / 2);
    // Attention hands gradients over in strides of its own; only a head has to lie together.
    std::array<at::Tensor, 3> held;
    std::array<Strided, 3> strided{};
    for (const std::size_t i : {0u, 1u, 2u}) {
        auto &gradient = held[i] = gradients[i];
        const auto heads = i == 0 ? s.heads : s.kvHeads;
        if (!gradient.defined())
            gradient = at::zeros({batch, heads, length, s.headSize}, from.options());
        TORCH_CHECK(gradient.scalar_type() == s.type &&
                        gradient.sizes() == at::IntArrayRef({batch, heads, length, s.headSize}),
                    "fused qkvRope: a gradient ", gradient.sizes());
        const bool usable = isAligned(gradient) && gradient.stride(3) == 1 &&
                            gradient.stride(0) % width_ == 0 && gradient.stride(1) % width_ == 0 &&
                            gradient.stride(2) % width_ == 0;
        if (!usable)
            gradient = gradient.clone(at::MemoryFormat::Contiguous);
        strided[i] = {dataOf(gradient), gradient.stride(0), gradient.stride(1), gradient.stride(2)};
    }
    auto to = at::empty(from.sizes(), from.options());
    const auto grid = blocksFor(tokens * s.heads, threads / (s.headSize / 2 / width_));
    auto partial = at::empty({2, grid, s.headSize}, from.options().dtype(at::kFloat));
    launch("qkv_rope_backward", {grid, 3}, threads, strided[0], strided[1], strided[2],
           dataOf(from), dataOf(rotary.positions), dataOf(cos), dataOf(sin), dataOf(queryWeight),
           dataOf(keyWeight), to.mutable_data_ptr(), partial.mutable_data_ptr(),
           static_cast<std::uint32_t>(tokens), static_cast<std::uint32_t>(length),
           static_cast<float>(s.epsilon));
    const auto weights = columnSums(partial);
    return {to, weights[0], weights[1]};
}

at::Tensor Kernels::attendStep(const at::Tensor &query, const at::Tensor &key,
                               const at::Tensor &value, const Kept &kept, const at::Tensor &rows,
                               const at::Tensor &places) const {
    const auto &s = sizes_;
    const auto tokens = rows.numel();
    checkIndices(rows, tokens);
    checkIndices(places, tokens);
    const auto some = [&](const at::Tensor &all, std::int64_t heads) {
        TORCH_CHECK(all.numel() == tokens * heads * s.headSize, "fused attendStep: ", all.sizes(),
                    " of ", tokens, " tokens");
        return whole(all, s.headSize);
    };
    const auto from = some(query, s.heads), fresh = some(key, s.kvHeads),
               more = some(value, s.kvHeads);
    for (const auto &all : {kept.keys, kept.values})
        TORCH_CHECK(all.scalar_type() == s.type && all.dim() == 4 && all.size(1) == s.kvHeads &&
                        all.size(3) == s.headSize && all.sizes() == kept.keys.sizes() &&
                        all.is_contiguous() && isAligned(all),
                    "fused attendStep: kept ", all.sizes(), " of ", all.scalar_type());
    auto to = at::empty({tokens, s.heads, s.headSize}, from.options());
    launch("attend_step",
           {static_cast<std::uint32_t>(tokens),
            static_cast<std::uint32_t>(s.heads / queriesOfBlock(s.heads / s.kvHeads))},
           threads, dataOf(from), dataOf(fresh), dataOf(more), dataOf(rows), dataOf(places),
           kept.keys.mutable_data_ptr(), kept.values.mutable_data_ptr(), to.mutable_data_ptr(),
           kept.keys.size(2), static_cast<float>(1 / std::sqrt(static_cast<double>(s.headSize))));
    return to;
}

at::Tensor Kernels::swiGlu(const at::Tensor &both) const {
    const auto from = whole(both, 2 * sizes_.inner);
    auto shape = from.sizes().vec();
    shape.back() = sizes_.inner;
    auto to = at::empty(shape, from.options());
    const auto accesses = to.numel() / width_;
    TORCH_CHECK(accesses < (1ll << 31), "fused swiGlu: too many tokens");
    launch("swiglu", {blocks(accesses, threads)}, threads, dataOf(from), to.mutable_data_ptr(),
           static_cast<std::uint32_t>(accesses));
    return to;
}

at::Tensor Kernels::swiGluBackward(const at::Tensor &gradient, const at::Tensor &both) const {
    const auto slope = whole(gradient, sizes_.inner), from = whole(both, 2 * sizes_.inner);
    TORCH_CHECK(2 * slope.numel() == from.numel(), "fused swiGlu: a gradient ", slope.sizes());
    auto to = at::empty(from.sizes(), from.options());
    const auto accesses = slope.numel() / width_;
    launch("swiglu_backward", {blocks(accesses, threads)}, threads, dataOf(slope), dataOf(from),
           to.mutable_data_ptr(), static_cast<std::uint32_t>(accesses));
    return to;
}

std::pair<at::Tensor, at::Tensor> Kernels::crossEntropy(const at::Tensor &logits,
                                                        const at::Tensor &targets) const {
    const auto from = whole(logits, sizes_.vocabulary);
    const std::int64_t rows = from.numel() / sizes_.vocabulary;
    checkIndices(targets, rows);
    auto loss = at::empty(targets.sizes(), from.options().dtype(at::kFloat));
    auto logSums = at::empty_like(loss);
    launch("cross_entropy", {blocks(rows, warps)}, threads, dataOf(from), dataOf(targets),
           loss.mutable_data_ptr(), logSums.mutable_data_ptr(), rows);
    return {loss, logSums};
}

void Kernels::crossEntropyBackward(const at::Tensor &logits, const at::Tensor &targets,
                                   const at::Tensor &logSums, const at::Tensor &weights) const {
    const auto row = weights.contiguous();
    const std::int64_t rows = targets.numel();
    TORCH_CHECK(whole(logits, sizes_.vocabulary).is_same(logits) &&
                    logits.numel() == rows * sizes_.vocabulary && row.numel() == rows &&
                    row.scalar_type() == at::kFloat,
                "fused crossEntropy: gradients cannot be written over ", logits.sizes());
    launch("cross_entropy_backward", {blocks(rows, warps)}, threads, logits.mutable_data_ptr(),
           dataOf(targets), dataOf(logSums), dataOf(row), rows);
}

} // namespace cuda_agent::learn
