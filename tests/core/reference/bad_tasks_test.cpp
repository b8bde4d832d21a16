// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/core/reference/worker_fixture.h"

namespace cuda_agent::reference {
namespace {

// More messages, without a sandbox each: worker_test.py.
class BadTasks : public WorkerTest {
  protected:
    std::string faulty(const std::string &fault) {
        return problem("faulty", {"fault='" + fault + "'"});
    }
};

#define EXPECT_SAYS(text, part)                                                                    \
    EXPECT_NE((text).find(part), std::string::npos) << "it says: " << (text)

TEST_F(BadTasks, notPython) {
    EXPECT_SAYS(problem("not_python"), "not_python.py:5: not Python");
}

TEST_F(BadTasks, unknownOverride) {
    const auto text = problem("pointwise_chain", {"batch=3"});
    EXPECT_SAYS(text, "no module-level constant 'batch'");
    EXPECT_SAYS(text, "columns, enabled, eps, limit, rows");
}

TEST_F(BadTasks, overrideIsNoLiteral) {
    EXPECT_SAYS(problem("pointwise_chain", {"rows=__import__('os').getpid()"}),
                "is not a Python literal");
    EXPECT_SAYS(problem("pointwise_chain", {"rows=columns"}), "is not a Python literal");
    EXPECT_SAYS(problem("pointwise_chain", {"rows=1; import os"}), "is not a Python literal");
}

TEST_F(BadTasks, missingNames) {
    EXPECT_SAYS(problem("no_model"), "no_model.py has no class 'Model'");
    EXPECT_SAYS(problem("no_get_inputs"), "has no function 'get_inputs()'");
    EXPECT_SAYS(problem("no_get_init_inputs"), "has no function 'get_init_inputs()'");
}

TEST_F(BadTasks, importFails) {
    EXPECT_SAYS(problem("import_fails"), "import_fails.py:4: ModuleNotFoundError");
}

TEST_F(BadTasks, getInputs) {
    const auto raised = faulty("inputs raise");
    EXPECT_SAYS(raised, "faulty.py:52: ValueError: no inputs today");
    EXPECT_SAYS(faulty("inputs are no list"), "get_inputs() returned Tensor");
}

TEST_F(BadTasks, forward) {
    const auto raised = faulty("forward raises");
    EXPECT_SAYS(raised, "faulty.py:23: RuntimeError");
    EXPECT_SAYS(raised, "running forward()");
    EXPECT_SAYS(faulty("returns a number"), "forward() returned float");
}

TEST_F(BadTasks, wantsMoreMemoryThanThereIs) {
    const auto text = faulty("too much memory");
    EXPECT_SAYS(text, "needs more memory");
    EXPECT_SAYS(text, "use --set to make it smaller (fault, size)");
}

TEST_F(BadTasks, eatsMemoryUntilItIsKilled) {
    options_.hostMemoryBytes = 3ull << 30;
    const auto text = faulty("eats memory");
    EXPECT_SAYS(text, "needs more memory");
    EXPECT_SAYS(text, "--set");
}

TEST_F(BadTasks, hangs) {
    options_.loadTimeout = std::chrono::seconds(2);
    options_.caseTimeout = std::chrono::seconds(2);
    EXPECT_SAYS(faulty("loading hangs"), "no answer within 2 s while loading the task");
    EXPECT_SAYS(faulty("forward hangs"), "no answer within 2 s while describing the task");
}

TEST_F(BadTasks, exits) {
    EXPECT_SAYS(faulty("loading exits"), "faulty.py:74: the task ends the process (exit 3)");
    EXPECT_SAYS(faulty("forward exits"), "the task ends the process (exit 0)");
    EXPECT_SAYS(faulty("process exits"), "the task ended its worker");
}

TEST_F(BadTasks, outputShapesThatDependOnTheInputs) {
    auto worker = start("faulty", {"fault='varying shape'"});
    ASSERT_TRUE(worker);
    ASSERT_TRUE(worker->describe());
    std::string message;
    for (std::uint64_t seed = 0; seed < 32 && message.empty(); ++seed)
        if (const auto made = worker->makeCase({"random", seed}); !made)
            message = made.error().message;
    EXPECT_SAYS(message, "shape");
}

TEST_F(BadTasks, theEngineGoesOnAfterEach) {
    auto worker = start("faulty", {"fault='process exits'"});
    ASSERT_TRUE(worker);
    EXPECT_FALSE(worker->describe());
    // The same worker object: a fresh process answers.
    EXPECT_TRUE(worker->drawInputs(1));
}

} // namespace
} // namespace cuda_agent::reference
