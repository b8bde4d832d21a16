// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/reference/worker.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace cuda_agent::reference {

/// Runs the tasks of tests/data/tasks on the CPU device, with a compile cache of its own.
class WorkerTest : public testing::Test {
  protected:
    void SetUp() override;
    void TearDown() override;

    static task::Spec spec(const std::string &name, const std::vector<std::string> &sets = {});
    /// Null and a test failure when the worker does not start.
    std::unique_ptr<Worker> start(const std::string &name,
                                  const std::vector<std::string> &sets = {});
    /// The error of loading and describing a task, which must be of kind request; "" when there is
    /// none.
    std::string problem(const std::string &name, const std::vector<std::string> &sets = {});

    /// Elements of a contiguous or strided tensor in row-major order, as doubles.
    static std::vector<double> values(const device::TensorView &view);

    std::unique_ptr<device::Device> device_;
    Options options_;
    std::filesystem::path cache_;
};

} // namespace cuda_agent::reference
