// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/resolve.h"

#include <cmath>
#include <limits>

namespace cuda_agent::plan {

namespace {

/// One buffer may be as large as any device; more is a mistake or an overflow in the making.
constexpr std::int64_t maxElements = std::int64_t{1} << 46;

std::string shapeText(const Shape &shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// "N = 7, R = 3" for the names that an expression reads.
std::string valuesText(const Expression &expression, const Values &values) {
    std::vector<std::string> parts;
    for (const auto &name : expression.names()) {
        if (const auto found = values.find(name); found != values.end())
            parts.push_back(fmt::format("{} = {}", name, found->second));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

void addShape(Values &values, const std::string &name, const TensorType &type) {
    const auto rank = static_cast<int>(type.shape.size());
    for (int i = 0; i < rank; ++i) {
        values[fmt::format("{}.shape[{}]", name, i)] = type.shape[i];
        values[fmt::format("{}.shape[{}]", name, i - rank)] = type.shape[i];
    }
    values[name + ".numel"] = type.elements();
    values[name + ".ndim"] = rank;
}

/// The task's type for an input or parameter. Errors: request, when the task has none such.
Result<TensorType> taskType(const Buffer &buffer, const std::string &path,
                            const Signature &signature) {
    if (buffer.role == Role::input) {
        if (buffer.index >= static_cast<int>(signature.inputs.size()))
            return requestError("{}.index: the task has {} tensor input(s), so {} is out of range",
                                path, signature.inputs.size(), buffer.index);
        return signature.inputs[buffer.index];
    }
    const auto found = signature.parameters.find(buffer.key);
    if (found == signature.parameters.end()) {
        std::vector<std::string> keys;
        for (const auto &[key, type] : signature.parameters)
            keys.push_back(key);
        return requestError("{}.key: the task has no parameter '{}'; it has {}", path, buffer.key,
                            keys.empty() ? "none" : fmt::format("{}", fmt::join(keys, ", ")));
    }
    return found->second;
}

Result<Shape> evaluateShape(const Buffer &buffer, const std::string &path, const Values &values) {
    Shape shape;
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < buffer.shape.size(); ++d) {
        CUDA_AGENT_ASSIGN(extent, evaluateWithin(buffer.shape[d], values,
                                                 fmt::format("{}.shape[{}]", path, d), 1,
                                                 std::numeric_limits<std::int64_t>::max()));
        if (__builtin_mul_overflow(elements, extent, &elements) || elements > maxElements)
            return requestError("{}.shape: {} has too many elements", path, buffer.name);
        shape.push_back(extent);
    }
    return shape;
}

Result<void> checkOrder(const Buffer &buffer, const std::string &path, const Shape &shape) {
    if (!buffer.order.empty() && buffer.order.size() != shape.size())
        return requestError("{}.order: names {} dimension(s), the task's '{}' has {}", path,
                            buffer.order.size(), buffer.name, shape.size());
    return {};
}

Result<TensorType> resolveBuffer(const Buffer &buffer, const std::string &path,
                                 const Signature &signature, const Values &values) {
    if (buffer.role == Role::input || buffer.role == Role::parameter) {
        CUDA_AGENT_ASSIGN(type, taskType(buffer, path, signature));
        if (buffer.declaresDtype && buffer.dtype != type.dtype)
            return requestError("{}.dtype: the plan is for {}, the task's '{}' is {}", path,
                                nameOf(buffer.dtype), buffer.name, nameOf(type.dtype));
        if (buffer.declaresShape) {
            CUDA_AGENT_ASSIGN(shape, evaluateShape(buffer, path, values));
            if (shape != type.shape)
                return requestError("{}.shape: the plan is for {}, the task's '{}' is {}", path,
                                    shapeText(shape), buffer.name, shapeText(type.shape));
        }
        CUDA_AGENT_TRY(checkOrder(buffer, path, type.shape));
        return permuted(type, buffer.order);
    }
    if (buffer.role == Role::scratch) {
        CUDA_AGENT_ASSIGN(shape, evaluateShape(buffer, path, values));
        return contiguousType(buffer.dtype, std::move(shape));
    }
    if (buffer.index >= static_cast<int>(signature.outputs.size()))
        return requestError("{}.index: the task has {} output(s), so {} is out of range", path,
                            signature.outputs.size(), buffer.index);
    const TensorType &expected = signature.outputs[buffer.index];
    if (buffer.dtype != expected.dtype)
        return requestError("{}.dtype: {} must be {}, as the task's output {}", path,
                            nameOf(buffer.dtype), nameOf(expected.dtype), buffer.index);
    // An empty output is the task's business, so zero extents are compared, not refused.
    Shape shape;
    for (std::size_t d = 0; d < buffer.shape.size(); ++d) {
        CUDA_AGENT_ASSIGN(extent, evaluateWithin(buffer.shape[d], values,
                                                 fmt::format("{}.shape[{}]", path, d), 0,
                                                 std::numeric_limits<std::int64_t>::max()));
        shape.push_back(extent);
    }
    if (shape != expected.shape)
        return requestError("{}.shape: {} must be {}, as the task's output {}", path,
                            shapeText(shape), shapeText(expected.shape), buffer.index);
    CUDA_AGENT_TRY(checkOrder(buffer, path, shape));
    return permuted(denseType(buffer.dtype, shape, buffer.order), buffer.order);
}

Result<void> checkOutputsAreThere(const Plan &plan, const Signature &signature) {
    for (std::size_t i = 0; i < signature.outputs.size(); ++i) {
        const bool there =
            std::any_of(plan.buffers.begin(), plan.buffers.end(), [&](const Buffer &buffer) {
                return buffer.role == Role::output && buffer.index == static_cast<int>(i);
            });
        if (!there)
            return requestError("buffers: the task has {} output(s); none has the role output and "
                                "index {}",
                                signature.outputs.size(), i);
    }
    return {};
}

} // namespace

Result<std::int64_t> evaluateWithin(const Expression &expression, const Values &values,
                                    const std::string &path, std::int64_t low, std::int64_t high) {
    const auto value = expression.evaluate(values);
    if (!value)
        return requestError("{}: {}", path, value.error().message);
    if (*value >= low && *value <= high)
        return *value;
    const std::string shown = expression.names().empty()
                                  ? fmt::format("{}", *value)
                                  : fmt::format("'{}' is {}", expression.text(), *value);
    if (*value < low)
        return requestError("{}: {}; it must be at least {}", path, shown, low);
    return requestError("{}: {}; it must be at most {}", path, shown, high);
}

const TensorType &typeOf(const Resolved &resolved, const std::string &buffer) {
    return std::find_if(resolved.buffers.begin(), resolved.buffers.end(),
                        [&](const auto &each) { return each.buffer->name == buffer; })
        ->type;
}

Result<Resolved> resolve(const Plan &plan, const Signature &signature, const LaunchLimits &limits) {
    Resolved resolved;
    Values values;
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        const Buffer &buffer = plan.buffers[i];
        if (buffer.role != Role::input && buffer.role != Role::parameter)
            continue;
        CUDA_AGENT_ASSIGN(type, taskType(buffer, fmt::format("buffers[{}]", i), signature));
        addShape(values, buffer.name, type);
    }
    for (const auto &[name, expression] : plan.symbols) {
        const auto value = expression.evaluate(values);
        if (!value)
            return requestError("symbols.{}: {}", name, value.error().message);
        values[name] = *value;
        resolved.symbols[name] = *value;
    }
    for (const auto &condition : plan.requires_) {
        const auto holds = condition.evaluate(values);
        if (!holds)
            return requestError("requires: {}", holds.error().message);
        if (*holds == 0)
            return requestError("requires: {} does not hold for {}", condition.text(),
                                valuesText(condition, values));
    }

    std::uint64_t scratch = 0;
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        const std::string path = fmt::format("buffers[{}]", i);
        CUDA_AGENT_ASSIGN(type, resolveBuffer(plan.buffers[i], path, signature, values));
        if (plan.buffers[i].role == Role::scratch) {
            scratch += static_cast<std::uint64_t>(type.elements()) * sizeOf(type.dtype);
            if (scratch > limits.maxScratchBytes)
                return requestError("{}: scratch needs {} bytes so far; at most {} are allowed",
                                    path, scratch, limits.maxScratchBytes);
        }
        resolved.buffers.push_back({&plan.buffers[i], std::move(type)});
    }
    resolved.scratchBytes = scratch;
    CUDA_AGENT_TRY(checkOutputsAreThere(plan, signature));

    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        const std::string path = fmt::format("steps[{}]", i);
        if (const auto *kernel = std::get_if<KernelStep>(&plan.steps[i])) {
            CUDA_AGENT_ASSIGN(step, resolveKernel(*kernel, path, signature, limits, values));
            resolved.kernels.push_back(std::move(step));
        } else if (const auto *gemm = std::get_if<GemmStep>(&plan.steps[i])) {
            CUDA_AGENT_ASSIGN(step, resolveGemm(*gemm, path, resolved, values));
            resolved.gemms.push_back(step);
        } else if (const auto *convolution = std::get_if<ConvolutionStep>(&plan.steps[i])) {
            CUDA_AGENT_ASSIGN(step, resolveConvolution(*convolution, path, resolved));
            resolved.convolutions.push_back(std::move(step));
        }
    }
    return resolved;
}

} // namespace cuda_agent::plan
