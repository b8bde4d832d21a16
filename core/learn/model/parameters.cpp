// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/model/transformer.h"

#include <ATen/ATen.h>

namespace cuda_agent::learn {

namespace {

std::int64_t numbersOf(const std::vector<std::int64_t> &sizes) {
    std::int64_t numbers = 1;
    for (const auto size : sizes)
        numbers *= size;
    return numbers;
}

} // namespace

Parameters::Parameters(const std::vector<Shape> &shapes, at::Device device, at::ScalarType type) {
    std::int64_t numbers = 0;
    for (const auto &shape : shapes)
        numbers += numbersOf(shape.sizes);
    const auto options = at::TensorOptions().device(device).dtype(type);
    values_ = at::zeros({numbers}, options);
    gradients_ = at::zeros({numbers}, options);
    std::map<std::string, std::int64_t> places;
    std::int64_t place = 0;
    for (const bool decays : {true, false})
        for (const auto &shape : shapes)
            if (shape.decays == decays) {
                places[shape.name] = place;
                place += numbersOf(shape.sizes);
            }
    for (const auto &shape : shapes) {
        const auto view = [&](const at::Tensor &flat) {
            return flat.narrow(0, places.at(shape.name), numbersOf(shape.sizes)).view(shape.sizes);
        };
        auto value = view(values_).detach();
        value.requires_grad_(true);
        value.mutable_grad() = view(gradients_); // what backward() adds to, in place
        byName_[shape.name] = value;
        all_.push_back({shape.name, std::move(value), shape.decays, shape.projections});
    }
}

at::Tensor Parameters::at(const std::string &name) const {
    return byName_.at(name);
}

} // namespace cuda_agent::learn
