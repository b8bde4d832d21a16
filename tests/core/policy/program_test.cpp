// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/group.h"

#include <gtest/gtest.h>

namespace cuda_agent::policy {
namespace {

struct ProgramByHand : Program {
    Axis i = axes.add(8, {});

    int buffer(const char *name) {
        BufferInfo info;
        info.name = name;
        info.shape = {8};
        info.expressions = {"8"};
        return addBuffer(std::move(info));
    }
    int of(const char *op, const char *name, std::vector<int> args) {
        const int id = pointwise(op, std::move(args), DType::float32);
        values[id].name = name;
        return id;
    }
    void store(int value, const char *name) { stores.push_back({value, {{i}}, buffer(name)}); }
    std::vector<std::string> namesInOrder() const {
        std::vector<int> roots;
        for (const Store &store : stores)
            roots.push_back(store.value);
        std::vector<std::string> names;
        for (const int id : inOrderFrom(*this, roots))
            if (!values[id].name.empty())
                names.push_back(values[id].name);
        return names;
    }
};

TEST(Program, OfEqualValuesTheFirstOneStays) {
    ProgramByHand p;
    const int in = p.buffer("in0");
    const int x = p.load(in, {{p.i}});
    const int part = p.pointwise("exp", {x}, DType::float32); // of an operator, without a name
    const int sub = p.of("sub", "sub", {x, part});
    const int again = p.load(in, {{p.i}});
    const int mul = p.of("mul", "mul", {sub, again});
    const int exp = p.of("exp", "exp", {again});
    const int sub1 = p.of("sub", "sub_1", {again, exp});
    p.store(p.of("neg", "neg", {sub1}), "out0"); // so that sub_1 is met first
    p.store(mul, "out1");
    p.simplify();
    EXPECT_EQ(p.namesInOrder(), (std::vector<std::string>{"exp", "sub", "mul", "neg"}));
    EXPECT_EQ(p.values[p.values[p.stores[0].value].args[0]].name, "sub");
    EXPECT_EQ(p.values[mul].args, (std::vector<int>{sub, x}));
}

TEST(Program, ACopyKeepsItsPlaceInTheOrder) {
    ProgramByHand p;
    const int x = p.load(p.buffer("in0"), {{p.i}});
    const int first = p.of("exp", "first", {x});
    const int second = p.of("sin", "second", {x});
    Value copy = p.values[first]; // as where an argument is read back from memory
    copy.name = "copy";
    p.store(second, "out0");
    p.store(p.add(copy), "out1");
    EXPECT_EQ(p.namesInOrder(), (std::vector<std::string>{"copy", "second"}));
    copy.rank = -1;
    p.stores.back().value = p.add(copy);
    EXPECT_EQ(p.namesInOrder(), (std::vector<std::string>{"second", "copy"}));
}

} // namespace
} // namespace cuda_agent::policy
