// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/task_text.h"

#include <gtest/gtest.h>

namespace cuda_agent::exporter {
namespace {

using Parameters = std::vector<ForwardParameter>;

std::string forward(const std::string &parameters) {
    return "class Other:\n    def forward(self, nothing):\n        pass\n\n"
           "class Model(nn.Module):\n    def __init__(self):\n        pass\n"
           "    def forward(" +
           parameters + "):\n        return x\n";
}

TEST(TaskText, ParametersOfForward) {
    const auto read = [](const std::string &text) { return forwardParameters(forward(text)); };
    EXPECT_EQ(read("self, x"), Parameters({{"x", ""}}));
    EXPECT_EQ(read("self, x: torch.Tensor, y=None, *, z"), Parameters());
    EXPECT_EQ(read("self,\n  x: Tuple[int, (str)], # the first, and only\n  y=(1, 2),\n"),
              Parameters({{"x", ""}, {"y", ""}}));
    EXPECT_EQ(read("self, x=\"a, b)\", y: float = -1.5e3, z='#'"),
              Parameters({{"x", "\"a, b)\""}, {"y", "-1.5e3"}, {"z", "'#'"}}));
    EXPECT_EQ(read("self, x=None, y=eps"), Parameters({{"x", ""}, {"y", ""}}));
    EXPECT_EQ(read("self, *args"), Parameters());
    EXPECT_EQ(read("x"), Parameters());
    EXPECT_EQ(forwardParameters("def forward(self, x): pass\n"), Parameters());
}

const std::string task = "rows = 4\n"
                         "a, b = 1, 2\n"
                         "size: int = (3 *\n"
                         "    rows)\n"
                         "text = \"\"\"\nrows = 7\n\"\"\"\n"
                         "def f():\n"
                         "    rows = 9\n";

TEST(TaskText, OverridesChangeTheirLineOnly) {
    EXPECT_EQ(withOverrides(task, {{"rows", "512"}}).value(),
              "rows = 512\n" + task.substr(task.find('\n') + 1));
    EXPECT_EQ(withOverrides(task, {{"size", "5"}}).value(),
              "rows = 4\na, b = 1, 2\nsize = 5\n" + task.substr(task.find("text")));
    EXPECT_EQ(withOverrides(task, {{"b", "8"}}).value(),
              "rows = 4\na, b = 1, 2\nb = 8\n" + task.substr(task.find("size")));
    EXPECT_EQ(withOverrides(task, {}).value(), task);
}

TEST(TaskText, AnOverrideThatNothingSetsIsAnError) {
    const auto text = withOverrides(task, {{"columns", "3"}});
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().kind, ErrorKind::request);
    EXPECT_NE(text.error().message.find("columns"), std::string::npos);
    EXPECT_FALSE(withOverrides("rows == 3\n", {{"rows", "3"}}));
}

TEST(TaskText, TrainingMatters) {
    EXPECT_TRUE(mentionsTraining("self.drop = nn.Dropout(0.1)"));
    EXPECT_TRUE(mentionsTraining("nn.BatchNorm2d(3)"));
    EXPECT_TRUE(mentionsTraining("if self.training:"));
    EXPECT_FALSE(mentionsTraining("nn.LayerNorm(3)"));
}

} // namespace
} // namespace cuda_agent::exporter
