// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// plan.json: written by a model, read by the engine.

#include "core/plan/plan.h"
#include "tests/fuzz/fuzz.h"

using namespace cuda_agent;

namespace {

plan::Signature signature() {
    plan::Signature result;
    result.inputs = {contiguousType(DType::float32, {8, 64}),
                     contiguousType(DType::float32, {64, 32}),
                     contiguousType(DType::float32, {2, 4, 8, 8})};
    result.parameters["weight"] = contiguousType(DType::float32, {4, 4, 3, 3});
    result.parameters["bias"] = contiguousType(DType::float32, {4});
    result.outputs = {contiguousType(DType::float32, {8, 64})};
    result.scalars[3] = 0.5;
    return result;
}

void readExpression(std::string_view text) {
    const auto expression = plan::Expression::parse(text);
    if (!expression)
        return;
    const std::map<std::string, std::int64_t> values{
        {"N", 7}, {"M", -3}, {"in0.shape[0]", INT64_MAX}, {"in0.numel", INT64_MIN}};
    (void)expression->names();
    const auto first = expression->evaluate(values);
    const auto again = plan::Expression::parse(expression->text());
    fuzz::require(again.has_value(), "the text of an expression is one");
    const auto second = again->evaluate(values);
    fuzz::require(first.has_value() == second.has_value() && (!first || *first == *second),
                  "an expression and its text have one value");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const auto text = fuzz::textOf(data, size);
    readExpression(text);
    const auto json = parseJson(text, "plan.json");
    if (!json)
        return 0;
    const auto plan = plan::planFromJson(*json);
    if (!plan)
        return 0;
    const auto again = plan::planFromJson(plan::toJson(*plan));
    fuzz::require(again.has_value(), "a plan that was read can be written and read");
    fuzz::require(plan::toJson(*again) == plan::toJson(*plan), "and stays the same");
    static const auto task = signature();
    (void)plan::resolve(*plan, task);
    return 0;
}
