// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/tensor_type.h"

#include "core/base/reordered.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>

namespace cuda_agent {

namespace {

struct Entry {
    DType type;
    std::string_view name;
    std::size_t size;
    bool floating;
};
constexpr std::array entries{
    Entry{DType::float16, "float16", 2, true}, Entry{DType::bfloat16, "bfloat16", 2, true},
    Entry{DType::float32, "float32", 4, true}, Entry{DType::float64, "float64", 8, true},
    Entry{DType::int8, "int8", 1, false},      Entry{DType::uint8, "uint8", 1, false},
    Entry{DType::int16, "int16", 2, false},    Entry{DType::int32, "int32", 4, false},
    Entry{DType::int64, "int64", 8, false},    Entry{DType::boolean, "bool", 1, false},
};

const Entry &entryOf(DType type) {
    for (const auto &entry : entries)
        if (entry.type == type)
            return entry;
    std::abort(); // not a value of the enumeration
}

/// Keeps products of dimensions far from overflow.
constexpr std::int64_t largestTensor = std::int64_t{1} << 48;

} // namespace

std::size_t sizeOf(DType type) {
    return entryOf(type).size;
}
bool isFloating(DType type) {
    return entryOf(type).floating;
}
std::string_view nameOf(DType type) {
    return entryOf(type).name;
}

Result<DType> dtypeFromName(std::string_view name) {
    for (const auto &entry : entries)
        if (entry.name == name)
            return entry.type;
    return requestError("element type '{}' is not supported; use one of float16, bfloat16, "
                        "float32, float64, int8, uint8, int16, int32, int64, bool",
                        name);
}

std::int64_t TensorType::elements() const {
    std::int64_t count = 1;
    for (const auto size : shape)
        count *= size;
    return count;
}

std::size_t TensorType::spanBytes() const {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 0)
            return 0;
        last += (shape[i] - 1) * strides[i];
    }
    return static_cast<std::size_t>(last + 1) * sizeOf(dtype);
}

bool TensorType::contiguous() const {
    std::int64_t expected = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        if (shape[i] != 1 && strides[i] != expected)
            return false;
        expected *= shape[i];
    }
    return true;
}

TensorType permuted(const TensorType &type, const std::vector<int> &order) {
    return {type.dtype, reordered(type.shape, order), reordered(type.strides, order)};
}

std::vector<int> memoryOrderOf(const TensorType &type) {
    if (type.contiguous() || type.elements() == 0)
        return {};
    std::vector<int> order(type.shape.size());
    std::iota(order.begin(), order.end(), 0);
    // The stride of a dimension of one element says nothing: such ones come first.
    const auto stride = [&](int d) {
        return type.shape[d] == 1 ? std::numeric_limits<std::int64_t>::max() : type.strides[d];
    };
    std::ranges::stable_sort(order, std::ranges::greater{}, stride);
    return permuted(type, order).contiguous() ? order : std::vector<int>{};
}

TensorType contiguousType(DType dtype, Shape shape) {
    TensorType type{dtype, std::move(shape), {}};
    type.strides.resize(type.shape.size());
    std::int64_t stride = 1;
    for (std::size_t i = type.shape.size(); i-- > 0;) {
        type.strides[i] = stride;
        stride *= std::max<std::int64_t>(type.shape[i], 1);
    }
    return type;
}

std::vector<int> inverseOrder(const std::vector<int> &order) {
    std::vector<int> result(order.size());
    for (std::size_t place = 0; place < order.size(); ++place)
        result.at(static_cast<std::size_t>(order[place])) = static_cast<int>(place);
    return result;
}

TensorType denseType(DType dtype, const Shape &shape, const std::vector<int> &order) {
    return permuted(contiguousType(dtype, reordered(shape, order)), inverseOrder(order));
}

Json toJson(const TensorType &type) {
    return {{"dtype", nameOf(type.dtype)}, {"shape", type.shape}, {"strides", type.strides}};
}

Result<TensorType> tensorTypeFromJson(const Json &json, std::string_view what) {
    const auto integers = [&](const char *key) -> Result<Shape> {
        Shape values;
        std::int64_t product = 1;
        if (!json.at(key).is_array())
            return requestError("{}.{} must be a list of integers", what, key);
        for (const auto &value : json.at(key)) {
            if (!value.is_number_integer() || value < 0 || value > largestTensor)
                return requestError("{}.{} must hold integers from 0 to 2^48", what, key);
            values.push_back(value.get<std::int64_t>());
            const auto factor = std::max<std::int64_t>(values.back(), 1);
            // Divided, because the product of two such numbers does not fit.
            if (values.size() > 32 || factor > largestTensor / product)
                return requestError("{}.{} is too large", what, key);
            product *= factor;
        }
        return values;
    };
    if (!json.is_object() || !json.contains("dtype") || !json.at("dtype").is_string() ||
        !json.contains("shape"))
        return requestError("{} must be an object with dtype and shape", what);
    CUDA_AGENT_ASSIGN(dtype, dtypeFromName(json.at("dtype").get<std::string>()));
    CUDA_AGENT_ASSIGN(shape, integers("shape"));
    auto type = contiguousType(dtype, std::move(shape));
    if (json.contains("strides")) {
        // Strides are bounded one by one: expanded tensors have zeros, so no product is formed.
        const auto &strides = json.at("strides");
        if (!strides.is_array() || strides.size() != type.shape.size())
            return requestError("{}.strides must have one entry a dimension", what);
        std::int64_t last = 0;
        for (std::size_t i = 0; i < strides.size(); ++i) {
            if (!strides[i].is_number_integer() || strides[i] < 0 || strides[i] > largestTensor)
                return requestError("{}.strides must hold integers from 0 to 2^48", what);
            type.strides[i] = strides[i].get<std::int64_t>();
            const auto steps = std::max<std::int64_t>(type.shape[i], 1) - 1;
            if (steps > 0 && type.strides[i] > largestTensor / steps)
                return requestError("{}.strides reach too far", what);
            last += steps * type.strides[i];
            if (last > largestTensor)
                return requestError("{}.strides reach too far", what);
        }
    }
    return type;
}

} // namespace cuda_agent
