// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner.h"
#include "core/policy/planner/search.h"
#include "core/sanitize/cpu_check.h"
#include "tests/source_dir.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

// The planner's candidates for recorded tasks, really run on the CPU device: those it makes for a
// CPU, and those it makes for a GPU. A fixture in tests/data/planner is a task description with
// inputs, parameters and the outputs that PyTorch gives in double precision.
// CUDA_AGENT_PLANNER_FIXTURES names another folder of fixtures, CUDA_AGENT_PLANNER_ALL=1 runs every
// schedule instead of some, CUDA_AGENT_PLANNER_CHECKED=1 looks at every access that they make, and
// whatever is found is wrong.

namespace cuda_agent::policy {
namespace {

namespace fs = std::filesystem;

fs::path fixtureFolder() {
    const char *other = std::getenv("CUDA_AGENT_PLANNER_FIXTURES");
    return other != nullptr ? fs::path(other) : testData() / "planner";
}

std::vector<std::string> fixtures() {
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(fixtureFolder())) {
        if (entry.path().extension() == ".json")
            names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

double numberOf(const Json &json) {
    if (json.is_string())
        return json == "nan" ? std::nan("") : json == "inf" ? INFINITY : -INFINITY;
    return json.is_boolean() ? (json.get<bool>() ? 1.0 : 0.0) : json.get<double>();
}

template <typename T>
void append(std::string &bytes, T value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

/// Numbers of a JSON list as elements of a type.
std::string bytesOf(const Json &list, DType type) {
    std::string bytes;
    for (const Json &item : list) {
        const double x = numberOf(item);
        switch (type) {
        case DType::float32:
            append(bytes, static_cast<float>(x));
            break;
        case DType::float64:
            append(bytes, x);
            break;
        case DType::int64:
            append(bytes, static_cast<std::int64_t>(x));
            break;
        case DType::int32:
            append(bytes, static_cast<std::int32_t>(x));
            break;
        case DType::boolean:
            append(bytes, x != 0);
            break;
        case DType::float16:
            append(bytes, static_cast<_Float16>(static_cast<float>(x)));
            break;
        default:
            ADD_FAILURE() << "no fixtures of " << nameOf(type);
        }
    }
    return bytes;
}

double element(const std::string &bytes, std::size_t i, DType type) {
    const auto read = [&](auto value) {
        std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
        return static_cast<double>(value);
    };
    switch (type) {
    case DType::float64:
        return read(double{});
    case DType::int64:
        return read(std::int64_t{});
    case DType::int32:
        return read(std::int32_t{});
    case DType::boolean:
        return read(std::uint8_t{});
    case DType::float16:
        return static_cast<double>(static_cast<float>(read(_Float16{})));
    default:
        return read(float{});
    }
}

class PlannerRun : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "planner-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        auto device = device::openCpu();
        ASSERT_TRUE(device) << device.error().message;
        device_ = std::move(*device);
        auto json = readJsonFile(fixtureFolder() / (GetParam() + ".json"));
        ASSERT_TRUE(json) << json.error().message;
        fixture_ = std::move(*json);
        auto task = task::descriptionFromJson(fixture_["description"]);
        ASSERT_TRUE(task) << task.error().message;
        task_ = std::move(*task);
    }
    void TearDown() override { fs::remove_all(folder_); }

    device::TensorView lend(const std::string &bytes, TensorType type) {
        auto memory = device_->allocate(bytes.size() + 64);
        EXPECT_TRUE(memory) << memory.error().message;
        memories_.push_back(std::make_unique<device::Memory>(std::move(*memory)));
        EXPECT_TRUE(device_->write(*memories_.back(), 0, bytes.data(), bytes.size()));
        return {memories_.back().get(), 0, std::move(type)};
    }

    Result<plan::Candidate> written(const SearchSpace &space, const std::string &name) {
        CUDA_AGENT_ASSIGN(files, space.write(name, {}));
        fs::create_directories(folder_ / "kernels");
        for (const auto &[path, text] : files.files)
            CUDA_AGENT_TRY(writeFileAtomically(folder_ / path, text));
        return plan::readCandidate(folder_);
    }

    void run(const SearchSpace &space, const std::string &name) {
        SCOPED_TRACE(name);
        const auto candidate = written(space, name);
        ASSERT_TRUE(candidate) << candidate.error().message;
        auto compiler = toolchain::makeCompiler(device_->info());
        ASSERT_TRUE(compiler) << compiler.error().message;
        const auto outcome = plan::compile(*candidate, **compiler);
        ASSERT_TRUE(outcome) << outcome.error().message;
        if (const auto *rejection = std::get_if<toolchain::Rejection>(&*outcome))
            FAIL() << rejection->log;

        plan::Signature signature;
        plan::CallBuffers buffers;
        memories_.clear();
        for (std::size_t i = 0; i < task_.inputs.size(); ++i) {
            const TensorType &type = task_.inputs[i].type;
            signature.inputs.push_back(type);
            buffers.inputs.push_back(lend(bytesOf(fixture_["inputs"][i], type.dtype), type));
        }
        for (const task::Port &port : task_.parameters) {
            signature.parameters[port.name] = port.type;
            buffers.parameters[port.name] =
                lend(bytesOf(fixture_["parameters"][port.name], port.type.dtype), port.type);
        }
        for (const task::Port &port : task_.outputs) {
            signature.outputs.push_back(port.type);
            const std::size_t bytes =
                static_cast<std::size_t>(port.type.elements()) * sizeOf(port.type.dtype);
            buffers.outputs.push_back(lend(std::string(bytes, '\x5a'), port.type));
        }
        if (std::getenv("CUDA_AGENT_PLANNER_CHECKED") != nullptr) {
            const auto report = sanitize::checkOnCpu(*candidate, signature, *device_, buffers, {});
            ASSERT_TRUE(report) << report.error().message;
            for (const auto &finding : report->findings)
                ADD_FAILURE() << sanitize::lineOf(finding);
            return;
        }
        auto process =
            plan::startRunner(std::get<plan::CompiledPlan>(*outcome), signature, *device_, {});
        ASSERT_TRUE(process) << process.error().message;
        const auto bound = (*process)->bind(0, buffers);
        ASSERT_TRUE(bound) << bound.error().message;
        const auto called = (*process)->call(0);
        ASSERT_TRUE(called) << called.error().message;
        for (std::size_t o = 0; o < task_.outputs.size(); ++o)
            compare(o, buffers.outputs[o]);
    }

    void compare(std::size_t output, const device::TensorView &view) {
        const TensorType &type = task_.outputs[output].type;
        const auto count = static_cast<std::size_t>(type.elements());
        std::string bytes(count * sizeOf(type.dtype), '\0');
        ASSERT_TRUE(device_->read(*view.memory, 0, bytes.data(), bytes.size()));
        const Json &expected = fixture_["outputs"][output];
        ASSERT_EQ(expected.size(), count);
        double largest = 0;
        for (const Json &item : expected) {
            const double x = std::abs(numberOf(item));
            largest = std::isfinite(x) ? std::max(largest, x) : largest;
        }
        const double half = type.dtype == DType::float16 ? 1e-3 : 0;
        const double tolerance = fixture_.value("tolerance", 1e-5) + half;
        for (std::size_t i = 0; i < count; ++i) {
            const double want = numberOf(expected[i]);
            const double got = element(bytes, i, type.dtype);
            if (std::isfinite(want)) {
                ASSERT_NEAR(got, want, tolerance * largest)
                    << "output " << output << ", element " << i;
            } else {
                ASSERT_TRUE(std::isnan(want) ? std::isnan(got) : got == want)
                    << "output " << output << ", element " << i << ": " << got << " instead of "
                    << want;
            }
        }
    }

    bool recurs() const {
        return std::ranges::any_of(task_.graph.nodes, [](const task::Node &node) {
            return node.op.starts_with("cuda_agent.recurrence");
        });
    }

    Result<SearchSpace> spaceFor(device::Kind kind, int processors) {
        device::Info info = device_->info();
        info.kind = kind;
        info.multiprocessors = processors;
        return SearchSpace::make(task_, info, {}, task::Numerics::standard);
    }

    void runKind(device::Kind kind, std::size_t most) {
        // Blocks that wait for each other need more cores than a CPU has.
        // Small tensors fill a small device, which is offered what large ones are on a large one.
        const int processors = recurs() ? 1 : fixture_.value("processors", 132);
        const auto space = spaceFor(kind, kind == device::Kind::cpu ? 2 : processors);
        ASSERT_TRUE(space) << space.error().message;
        std::vector<std::string> names;
        for (const std::string &name : space->allSingleChanges()) {
            if (name.find("together") == std::string::npos)
                names.push_back(name);
        }
        const bool all = std::getenv("CUDA_AGENT_PLANNER_ALL") != nullptr;
        const std::size_t step =
            all ? 1 : std::max<std::size_t>(1, (names.size() + most - 1) / most);
        std::set<std::string> variants; // of each at least the first
        for (std::size_t i = 0; i < names.size() && !HasFatalFailure(); ++i) {
            if (variants.insert(names[i].substr(0, names[i].find('|'))).second || i % step == 0)
                run(*space, names[i]);
        }
    }

    fs::path folder_;
    std::unique_ptr<device::Device> device_;
    Json fixture_;
    task::Description task_;
    std::vector<std::unique_ptr<device::Memory>> memories_;
};

TEST_P(PlannerRun, CpuSchedules) {
    runKind(device::Kind::cpu, 2);
}
TEST_P(PlannerRun, GpuSchedules) {
    runKind(device::Kind::cuda, 3);
}

TEST_P(PlannerRun, CompilesForHopper) {
    const auto space = spaceFor(device::Kind::cuda, 132);
    ASSERT_TRUE(space) << space.error().message;
    const auto compiler = toolchain::makeCudaCompiler("sm_90");
    ASSERT_TRUE(compiler) << compiler.error().message;
    auto names = space->allSingleChanges();
    if (std::getenv("CUDA_AGENT_PLANNER_ALL") == nullptr)
        names.resize(1);
    for (const std::string &name : names) {
        const auto candidate = written(*space, name);
        ASSERT_TRUE(candidate) << candidate.error().message;
        const auto outcome = plan::compile(*candidate, **compiler);
        ASSERT_TRUE(outcome) << outcome.error().message;
        if (const auto *rejection = std::get_if<toolchain::Rejection>(&*outcome))
            FAIL() << name << "\n" << rejection->log;
    }
}

INSTANTIATE_TEST_SUITE_P(Recorded, PlannerRun, testing::ValuesIn(fixtures()),
                         [](const auto &fixture) { return fixture.param; });

} // namespace
} // namespace cuda_agent::policy
