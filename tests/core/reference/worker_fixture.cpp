// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/core/reference/worker_fixture.h"
#include "tests/source_dir.h"

#include <cstdlib>

namespace cuda_agent::reference {

namespace fs = std::filesystem;

void WorkerTest::SetUp() {
    std::string pattern = (fs::temp_directory_path() / "reference.XXXXXX").string();
    cache_ = ::mkdtemp(pattern.data());
    ::setenv("CUDA_AGENT_CACHE", cache_.c_str(), 1);
    device_ = device::openCpu().value();
}

void WorkerTest::TearDown() {
    device_.reset();
    std::error_code ignored;
    fs::remove_all(cache_, ignored);
}

task::Spec WorkerTest::spec(const std::string &name, const std::vector<std::string> &sets) {
    const auto file = testData() / "tasks" / (name + ".py");
    return task::openSpec(file, sets).value();
}

std::unique_ptr<Worker> WorkerTest::start(const std::string &name,
                                          const std::vector<std::string> &sets) {
    auto worker = Worker::start(spec(name, sets), *device_, options_);
    if (worker)
        return std::move(*worker);
    ADD_FAILURE() << worker.error().message;
    return nullptr;
}

std::string WorkerTest::problem(const std::string &name, const std::vector<std::string> &sets) {
    auto worker = Worker::start(spec(name, sets), *device_, options_);
    Error error{ErrorKind::request, ""};
    if (!worker)
        error = worker.error();
    else if (const auto task = (*worker)->describe(); !task)
        error = task.error();
    EXPECT_EQ(error.kind, ErrorKind::request) << error.message;
    return error.message;
}

std::vector<double> WorkerTest::values(const device::TensorView &view) {
    std::vector<double> result;
    const auto &type = view.type;
    const auto *base = static_cast<const char *>(view.memory->data()) + view.offset;
    for (std::int64_t flat = 0; flat < type.elements(); ++flat) {
        std::int64_t rest = flat;
        std::int64_t place = 0;
        for (std::size_t i = type.shape.size(); i-- > 0;) {
            place += rest % type.shape[i] * type.strides[i];
            rest /= type.shape[i];
        }
        const auto *at = base + place * static_cast<std::int64_t>(sizeOf(type.dtype));
        const auto read = [&]<typename T>(T value) {
            std::memcpy(&value, at, sizeof value);
            return static_cast<double>(value);
        };
        switch (type.dtype) {
        case DType::float32:
            result.push_back(read(float{}));
            break;
        case DType::float64:
            result.push_back(read(double{}));
            break;
        case DType::int64:
            result.push_back(read(std::int64_t{}));
            break;
        case DType::boolean:
            result.push_back(read(std::uint8_t{}));
            break;
        default:
            ADD_FAILURE() << "no reader for " << nameOf(type.dtype);
            return {};
        }
    }
    return result;
}

} // namespace cuda_agent::reference
