// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/reference/describer.h"

#include "core/base/temporary_folder.h"
#include "core/reference/worker.h"
#include "small_set.h"

#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

using reference::Describer;

Describer describerOf(device::Kind kind) {
    auto describer = Describer::make({.kind = kind, .timeout = std::chrono::seconds(20)});
    EXPECT_TRUE(describer) << describer.error().message;
    return std::move(*describer);
}

void expectSameAsWorker(device::Device &device) {
    const auto folder = TemporaryFolder::make("describer");
    ASSERT_TRUE(folder);
    auto describer = describerOf(device.info().kind);
    for (const auto &task : smallTasks()) {
        const auto code = smallCode(task);
        const auto file = folder->path() / (std::string(task.name) + ".py");
        ASSERT_TRUE(writeFileAtomically(file, code));
        const auto spec = task::openSpec(file, {});
        ASSERT_TRUE(spec);
        auto worker = reference::Worker::start(*spec, device, {});
        ASSERT_TRUE(worker) << worker.error().message;
        const auto real = (*worker)->describe();
        ASSERT_TRUE(real) << real.error().message;
        const auto faked = describer.describe(task.name, code);
        ASSERT_TRUE(faked) << faked.error().message;
        EXPECT_EQ(faked->toJson(), real->toJson()) << task.name;
    }
}

TEST(Describer, SaysWhatTheReferenceWorkerSays) {
    const auto cpu = device::openCpu();
    ASSERT_TRUE(cpu) << cpu.error().message;
    expectSameAsWorker(**cpu);
}

TEST(Describer, SaysWhatTheReferenceWorkerSaysOnAGpu) {
    const auto cuda = device::openCuda();
    if (!cuda)
        GTEST_SKIP() << cuda.error().message;
    expectSameAsWorker(**cuda);
}

TEST(Describer, HugeTasksForAGpuCostNothing) {
    auto describer = describerOf(device::Kind::cuda);
    const auto description = describer.describe("huge", R"(
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(65536, 65536).to(torch.bfloat16)
    def forward(self, x):
        return torch.relu(self.linear(x))
def get_inputs():
    return [torch.randn(1 << 20, 65536, dtype=torch.bfloat16)]
def get_init_inputs():
    return []
)");
    ASSERT_TRUE(description) << description.error().message;
    EXPECT_EQ(description->inputs.at(0).type.shape, (Shape{1 << 20, 65536}));
    EXPECT_EQ(description->parameters.size(), 2u);
    EXPECT_GT(description->matmulFlops, 9e15);
    EXPECT_FALSE(description->graph.nodes.empty());
}

TEST(Describer, HostileTasksHarmThemselvesOnly) {
    auto describer = describerOf(device::Kind::cpu);
    const std::string tail = "\nimport torch\nclass Model(torch.nn.Module):\n"
                             "    def forward(self, x):\n        return x + 1\n"
                             "def get_inputs():\n    return [torch.randn(8)]\n"
                             "def get_init_inputs():\n    return []\n";
    for (const std::string &head :
         {std::string("import os\nos._exit(0)"), std::string("raise SystemExit('x')"),
          std::string("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"),
          std::string("def broken(:"), std::string("import os\nos.closerange(3, 200)\nos._exit(1)"),
          std::string("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")}) {
        const auto refused = describer.describe("hostile", head + tail);
        ASSERT_FALSE(refused) << head;
        EXPECT_EQ(refused.error().kind, ErrorKind::request) << refused.error().message;
        const auto good = describer.describe("good", tail);
        ASSERT_TRUE(good) << good.error().message;
        EXPECT_EQ(good->inputs.size(), 1u);
    }
}

} // namespace
} // namespace cuda_agent::learn
