// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/json.h"
#include "tests/core/reference/worker_fixture.h"

#include <set>

namespace cuda_agent::reference {
namespace {

class GoodTasks : public WorkerTest {};

TEST_F(GoodTasks, pointwiseChain) {
    auto worker = start("pointwise_chain");
    ASSERT_TRUE(worker);
    const auto task = worker->describe();
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_EQ(task->name, "pointwise_chain");
    ASSERT_EQ(task->inputs.size(), 1u);
    EXPECT_EQ(task->inputs[0].name, "in0");
    EXPECT_EQ(task->inputs[0].type, contiguousType(DType::float32, {8, 64}));
    EXPECT_EQ(task->outputs.at(0).name, "out0");
    EXPECT_TRUE(task->singleOutput);
    EXPECT_TRUE(task->parameters.empty());
    EXPECT_EQ(task->graphProblem, "");
    EXPECT_EQ(task->graph.nodes.size(), 5u); // x, mul, add, relu, sub
    EXPECT_EQ(task->graph.nodes.at(1).op, "aten.mul.Tensor");
    EXPECT_EQ(task->graph.nodes.at(1).args, Json::parse(R"([{"node": "x"}, 8.0])"));
    EXPECT_EQ(task->countedBytes, 2u * 8 * 64 * 4);
    // `limit` depends on `columns` and would be drawn out of step with it.
    const std::map<std::string, Json> constants{
        {"rows", 8}, {"columns", 64}, {"eps", 1e-3}, {"enabled", true}};
    EXPECT_EQ(task->constants, constants);
}

TEST_F(GoodTasks, overridesReachDependentConstants) {
    auto worker = start("pointwise_chain", {"columns=16", "rows=2 + 1"});
    ASSERT_TRUE(worker);
    const auto task = worker->describe();
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_EQ(task->inputs.at(0).type.shape, (Shape{3, 16}));
    EXPECT_EQ(task->graph.nodes.at(1).args.at(1), 2.0); // limit = columns / 8
}

TEST_F(GoodTasks, softmaxDrawsAreTheSeeds) {
    auto worker = start("softmax", {"columns=5"});
    ASSERT_TRUE(worker);
    const auto first = worker->drawInputs(7);
    const auto again = worker->drawInputs(7);
    const auto other = worker->drawInputs(~0ull);
    ASSERT_TRUE(first && again && other);
    ASSERT_EQ(first->tensors.size(), 1u);
    EXPECT_EQ(first->tensors[0].type, contiguousType(DType::float32, {16, 5}));
    EXPECT_EQ(values(first->tensors[0]), values(again->tensors[0]));
    EXPECT_NE(values(first->tensors[0]), values(other->tensors[0]));
    EXPECT_EQ(first->bytes(), 16u * 5 * 4);
}

TEST_F(GoodTasks, lossWithIntegerTargets) {
    auto worker = start("cross_entropy");
    ASSERT_TRUE(worker);
    const auto task = worker->describe();
    ASSERT_TRUE(task) << task.error().message;
    ASSERT_EQ(task->inputs.size(), 2u);
    EXPECT_EQ(task->inputs[1].type.dtype, DType::int64);
    EXPECT_EQ(task->outputs.at(0).type.shape, Shape{});
    // Scaling leaves targets alone: they stay valid indices.
    const auto scaled = worker->makeCase({"scale", 3, 64, "none"});
    ASSERT_TRUE(scaled) << scaled.error().message;
    EXPECT_EQ(scaled->skipped, "");
    for (const double target : values(scaled->inputs.tensors.at(1)))
        EXPECT_TRUE(target >= 0 && target < 7) << target;
}

TEST_F(GoodTasks, scalarInputs) {
    auto worker = start("scalar_input");
    ASSERT_TRUE(worker);
    const auto task = worker->describe();
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_EQ(task->graphProblem, "");
    ASSERT_EQ(task->scalars.size(), 4u);
    EXPECT_TRUE(task->scalars[0].is_null());
    EXPECT_EQ(task->scalars[1], 2.5);
    EXPECT_EQ(task->scalars[2], 3);
    EXPECT_EQ(task->scalars[3], Json::parse(R"({"float": "inf"})"));
    std::set<int> positions;
    for (const auto &node : task->graph.nodes)
        if (node.op == "placeholder")
            positions.insert(node.inputIndex);
    EXPECT_EQ(positions, (std::set<int>{0, 1, 2, 3}));
}

TEST_F(GoodTasks, parametersAndConstants) {
    auto worker = start("linear_norm");
    ASSERT_TRUE(worker);
    const auto task = worker->describe();
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_EQ(task->graphProblem, "");
    std::set<std::string> names;
    for (const auto &port : task->parameters)
        names.insert(port.name);
    EXPECT_TRUE(names.contains("linear.weight"));
    EXPECT_TRUE(names.contains("norm.running_var"));
    EXPECT_FALSE(names.contains("unused"));
    EXPECT_FALSE(names.contains("norm.num_batches_tracked"));
    EXPECT_EQ(task->matmulFlops, 2.0 * 3 * 8 * 8);
    EXPECT_EQ(task->convolutionFlops, 0);
    // x, weight, bias, four of the norm, the table, the output
    EXPECT_EQ(task->countedBytes, 4u * (24 + 64 + 8 + 4 * 8 + 8 + 24));

    const auto parameters = worker->parameters();
    ASSERT_TRUE(parameters) << parameters.error().message;
    EXPECT_EQ(parameters->tensors.size(), task->parameters.size());
    EXPECT_EQ(values(parameters->tensors.at("norm.running_var")), std::vector<double>(8, 1.0));
    bool table = false;
    for (const auto &node : task->graph.nodes)
        if (node.op == "placeholder" && node.origin == task::Origin::constant) {
            table = true;
            EXPECT_EQ(values(parameters->tensors.at(node.key)),
                      (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}));
        }
    EXPECT_TRUE(table);
}

TEST_F(GoodTasks, stridedAndExpandedInputs) {
    auto worker = start("masked");
    ASSERT_TRUE(worker);
    const auto task = worker->describe();
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_EQ(task->inputs.at(0).type.strides, (Shape{1, 10}));
    EXPECT_EQ(task->inputs.at(1).type, contiguousType(DType::boolean, {10, 4}));
    const auto drawn = worker->drawInputs(1);
    ASSERT_TRUE(drawn) << drawn.error().message;
    EXPECT_EQ(drawn->tensors[0].type, task->inputs[0].type);
    const auto infinite = worker->makeCase({"random", 2});
    ASSERT_TRUE(infinite) << infinite.error().message;
    EXPECT_EQ(infinite->oracle.at(0).type, contiguousType(DType::float64, {10}));
}

TEST_F(GoodTasks, backwardPassesBecomePlainOperators) {
    auto worker = start("layer_norm_backward");
    ASSERT_TRUE(worker);
    const auto task = worker->describe();
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_TRUE(task->graphProblem.empty()) << task->graphProblem;
    bool sums = false;
    for (const auto &node : task->graph.nodes) {
        EXPECT_EQ(node.op.find("backward"), std::string::npos) << node.op;
        sums = sums || node.op.starts_with("aten.sum");
    }
    EXPECT_TRUE(sums);
    std::vector<std::string> names;
    for (const auto &port : task->parameters)
        names.push_back(port.name);
    EXPECT_EQ(names, (std::vector<std::string>{"norm.weight", "norm.bias"}));
}

TEST_F(GoodTasks, whatCannotBeExportedSaysWhy) {
    auto worker = start("control_flow");
    ASSERT_TRUE(worker);
    const auto task = worker->describe();
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_TRUE(task->graph.nodes.empty());
    EXPECT_NE(task->graphProblem.find("torch.export failed"), std::string::npos)
        << task->graphProblem;
    EXPECT_TRUE(worker->makeCase({"random", 2}));
}

TEST_F(GoodTasks, timesEagerAndCompiled) {
    auto worker = start("softmax");
    ASSERT_TRUE(worker);
    const auto eager = worker->time(Baseline::eager, 5, 4, 1e-3);
    ASSERT_TRUE(eager) << eager.error().message;
    ASSERT_EQ(eager->seconds.size(), 4u);
    for (const double seconds : eager->seconds)
        EXPECT_TRUE(seconds > 1e-7 && seconds < 1) << seconds;
    EXPECT_EQ(eager->compileSeconds, 0);
    const auto compiled = worker->time(Baseline::compile, 5, 2, 1e-3);
    ASSERT_TRUE(compiled) << compiled.error().message;
    EXPECT_GT(compiled->compileSeconds, 0);
    EXPECT_GT(compiled->hostSeconds, compiled->compileSeconds);
    const auto again = worker->time(Baseline::compile, 6, 2, 0);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->compileSeconds, 0);
    EXPECT_FALSE(worker->time(Baseline::eager, 5, 0, 0));
    const auto code = worker->compiledCode(7);
    ASSERT_TRUE(code) << code.error().message;
    EXPECT_NE(code->find("kernel"), std::string::npos);
    EXPECT_NE(code->find("def call"), std::string::npos) << *code;
    EXPECT_EQ(code->find("import torch\n"), std::string::npos);
    // The compiled model that is timed is still the one that was.
    EXPECT_EQ(worker->time(Baseline::compile, 7, 2, 0)->compileSeconds, 0);
    EXPECT_TRUE(worker->release());
    EXPECT_TRUE(worker->time(Baseline::eager, 5, 1, 0));
    const auto record = worker->finish();
    EXPECT_TRUE(record.clean()) << record.summary();
}

TEST_F(GoodTasks, aStopEndsARequestAndTheNextOneWorks) {
    auto worker = start("softmax");
    ASSERT_TRUE(worker);
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = worker->describe(stop.get_token());
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::stopped);
    EXPECT_TRUE(worker->describe());
}

/// Tasks that have one process after the other.
class SharedProcess : public WorkerTest {
  protected:
    void SetUp() override {
        WorkerTest::SetUp();
        options_.stock = std::make_shared<Stock>(2);
    }
    bool oneWaits() {
        auto idle = options_.stock->take();
        const bool is = idle && idle->process.running();
        if (is)
            options_.stock->give(std::move(*idle));
        return is;
    }
    std::unique_ptr<Worker> startText(const std::string &text) {
        const auto file = cache_ / "written.py";
        EXPECT_TRUE(writeFileAtomically(file, text));
        auto made = Worker::start(task::openSpec(file, {}).value(), *device_, options_);
        EXPECT_TRUE(made) << made.error().message;
        return made ? std::move(*made) : nullptr;
    }
};

TEST_F(SharedProcess, ATaskIsWhatItIsInOneOfItsOwn) {
    EXPECT_FALSE(oneWaits());
    auto first = start("pointwise_chain");
    ASSERT_TRUE(first && first->describe());
    EXPECT_TRUE(first->time(Baseline::compile, 1, 2, 0));
    (void)first->finish();
    EXPECT_TRUE(oneWaits());

    auto second = start("softmax", {"columns=5"});
    EXPECT_FALSE(oneWaits()); // it has that one
    auto own = options_;
    own.stock = nullptr;
    auto alone = Worker::start(spec("softmax", {"columns=5"}), *device_, own);
    ASSERT_TRUE(second && alone);
    const auto described = second->describe(), expected = (*alone)->describe();
    ASSERT_TRUE(described && expected);
    EXPECT_EQ(described->toJson(), expected->toJson());
    const auto made = second->makeCase({"random", 3, 1, "none"});
    const auto wanted = (*alone)->makeCase({"random", 3, 1, "none"});
    ASSERT_TRUE(made && wanted);
    EXPECT_EQ(values(made->inputs.tensors.at(0)), values(wanted->inputs.tensors.at(0)));
    EXPECT_EQ(values(made->oracle.at(0)), values(wanted->oracle.at(0)));
    EXPECT_TRUE(second->time(Baseline::compile, 1, 2, 0));
    second.reset();
    EXPECT_TRUE(oneWaits());
}

TEST_F(SharedProcess, PyTorchIsSetBack) {
    const std::string rest = R"py(

class Model(torch.nn.Module):
    def forward(self, x):
        return x + torch.ones(4)


def get_inputs():
    return [torch.randn(4)]


def get_init_inputs():
    return []
)py";
    const auto typeOf = [&](const std::string &text) {
        auto worker = startText(text);
        if (!worker)
            return DType::boolean;
        const auto task = worker->describe();
        EXPECT_TRUE(task) << task.error().message;
        return task ? task->outputs.at(0).type.dtype : DType::boolean;
    };
    EXPECT_EQ(typeOf("import torch\ntorch.set_default_dtype(torch.float64)\n" + rest),
              DType::float64);
    EXPECT_TRUE(oneWaits());
    EXPECT_EQ(typeOf("import torch\n" + rest), DType::float32);
}

TEST_F(SharedProcess, OneThatFailedEnds) {
    auto worker = start("softmax", {"columns=5"});
    ASSERT_TRUE(worker);
    EXPECT_FALSE(worker->makeCase({"wrong", 3, 1, "no such transform"}));
    worker.reset();
    EXPECT_FALSE(oneWaits());
}

} // namespace
} // namespace cuda_agent::reference
