// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/printer.h"

#include "core/agent/transformer.h"
#include "core/base/paths.h"
#include "core/device/ceilings.h"
#include "core/device/lease.h"
#include "core/device/quarantine.h"
#include "core/judge/faults.h"
#include "core/modules/build.h"
#include "core/sandbox/sandbox.h"
#include "core/toolchain/compiler.h"
#include "core/tools/judge_summary.h"

#include <dlfcn.h>

#include <chrono>

namespace cuda_agent::app {

namespace fs = std::filesystem;

namespace {

struct Finding {
    std::string name;
    bool ok = false;
    bool needed = false; ///< without it the cpu device does not work
    std::string detail;
    std::optional<device::Ceilings> ceilings = std::nullopt; ///< of a device
};

/// Some installers leave the compiling of modules to the first import, whose result a sandbox
/// cannot keep. Empty where it is done.
std::string bytecodeHint(const fs::path &python, const fs::path &packages) {
    std::error_code error;
    if (fs::exists(packages / "torch" / "__pycache__", error))
        return {};
    return fmt::format("; it has no bytecode, which each task compiles anew for seconds: {} -m "
                       "compileall -q {}",
                       python.string(), packages.string());
}

Finding findPython() {
    const auto python = pythonProgram();
    std::error_code error;
    if (python.empty() || !fs::exists(python, error))
        return {"Python with torch", false, true,
                fmt::format("not found; run {}, or set CUDA_AGENT_PYTHON", setupCommand())};
    // The distribution's folder tells the version without the seconds that an import takes.
    const auto prefix = python.parent_path().parent_path();
    for (const auto &library : {"lib", "lib64"}) {
        for (fs::directory_iterator it(prefix / library, error), end; it != end;
             it.increment(error)) {
            for (fs::directory_iterator package(it->path() / "site-packages", error);
                 package != fs::directory_iterator(); package.increment(error)) {
                const auto name = package->path().filename().string();
                if (name.starts_with("torch-") && name.ends_with(".dist-info"))
                    return {"Python with torch", true, true,
                            fmt::format("{} (torch {}){}", python.string(),
                                        name.substr(6, name.size() - 16),
                                        bytecodeHint(python, package->path().parent_path()))};
            }
        }
    }
    return {"Python with torch", false, true,
            fmt::format("{} has no torch; run {}", python.string(), setupCommand())};
}

Finding findSandbox() {
    const auto support = sandbox::probe();
    if (!support.problem.empty())
        return {"sandbox", false, true, support.problem};
    std::string detail = support.version;
    for (const auto &limit : support.unenforced)
        detail += "; not enforced: " + limit;
    return {"sandbox", true, true, detail};
}

Finding findCompiler(const char *name, Result<std::unique_ptr<toolchain::Compiler>> compiler,
                     bool needed) {
    if (!compiler)
        return {name, false, needed, compiler.error().message};
    return {name, true, needed, (*compiler)->description()};
}

/// What module candidates are compiled with: on the GPU where there is one.
Finding findModuleTools(const device::Info &info) {
    const auto builder = modules::Builder::make(info, {});
    const bool ok = builder.has_value();
    return {"module compilers", ok, false,
            ok ? (*builder)->description() : builder.error().message};
}

/// "fp32 50.1 TFLOP/s", in the largest unit that leaves a digit before the point.
std::string scaled(const char *what, double value, const char *unit) {
    const char *prefix = "G";
    value /= 1e9;
    if (value >= 1000) {
        value /= 1000;
        prefix = "T";
    }
    return fmt::format("{} {:.{}f} {}{}", what, value, value >= 100 ? 0 : 1, prefix, unit);
}

std::string described(const device::Ceilings &ceilings) {
    std::string text = scaled("copy", ceilings.copyBytesPerSecond, "B/s");
    for (const auto &level : ceilings.levels)
        text += ", " + scaled(level.name.c_str(), level.bytesPerSecond, "B/s");
    const std::pair<const char *, double> rates[] = {{"fp32", ceilings.fp32FlopsPerSecond},
                                                     {"TF32", ceilings.tf32FlopsPerSecond},
                                                     {"16-bit", ceilings.halfFlopsPerSecond}};
    for (const auto &[name, rate] : rates)
        if (rate > 0)
            text += ", " + scaled(name, rate, "FLOP/s");
    if (ceilings.launchSeconds > 0)
        text += ", launch " + tools::formatSeconds(ceilings.launchSeconds);
    return text;
}

/// Adds what the device can do at most; measures it the first time, unless somebody times there.
void addCeilings(Finding &finding, device::Device &device) {
    auto ceilings = device::knownCeilings(device.info());
    if (!ceilings) {
        const auto lease = device::Lease::tryTake(device.info());
        if (!lease || !*lease) {
            finding.detail += lease ? "; in use, so its ceilings are not measured now"
                                    : "; ceilings: " + lease.error().message;
            return;
        }
        auto measured = device.ceilings();
        if (!measured) {
            finding.detail += "; ceilings: " + measured.error().message;
            return;
        }
        ceilings = std::move(*measured);
    }
    finding.detail += "; measured: " + described(*ceilings);
    finding.ceilings = std::move(ceilings);
}

Finding findDevice(const char *name, const Result<std::unique_ptr<device::Device>> &device,
                   bool needed) {
    if (!device)
        return {name, false, needed, device.error().message};
    const auto &info = (*device)->info();
    Finding finding{name, true, needed,
                    fmt::format("{} ({}, {} {}, {:.0f} GB)", info.name, info.architecture,
                                info.multiprocessors,
                                info.kind == device::Kind::cuda ? "SMs" : "threads",
                                static_cast<double>(info.memoryBytes) / 1e9)};
    addCeilings(finding, **device);
    return finding;
}

Finding findLibrary(const char *name, const char *file, const char *package) {
    if (void *library = ::dlopen(file, RTLD_LAZY | RTLD_LOCAL)) {
        ::dlclose(library);
        return {name, true, false, file};
    }
    return {name, false, false, fmt::format("{} not found; apt-get install {}", file, package)};
}

/// What --policy transformer needs: weights, the program that holds a model, and that it does.
std::vector<Finding> findTransformer(const std::stop_token &stop) {
    const auto weights = agent::findWeights({});
    Finding found{"transformer weights", weights.has_value(), false,
                  weights ? fmt::format("{} ({}, {:.1f} MB", weights->folder.string(),
                                        weights->name, static_cast<double>(weights->bytes) / 1e6)
                          : weights.error().message};
    if (weights)
        found.detail += weights->vocabulary > 0
                            ? fmt::format(", a vocabulary of {} tokens)", weights->vocabulary)
                            : ")";
    const auto program = policy::modelProgram();
    Finding learner{"transformer program", program.has_value(), false,
                    program ? program->string() : program.error().message};
    Finding model{"transformer model", false, false, ""};
    if (!weights || !program) {
        model.detail =
            fmt::format("not loaded: see {} above", weights ? "the program" : "the weights");
    } else {
        const auto begin = std::chrono::steady_clock::now();
        policy::ModelOptions options;
        options.weights = weights->folder;
        options.rows = 1;
        const auto process = policy::ModelProcess::start(options, stop);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        model.ok = process.has_value();
        model.detail = process
                           ? fmt::format("loads in {:.1f} s on {}: {:.2f} million parameters, "
                                         "conversations of {} tokens",
                                         seconds.count(), (*process)->facts().device,
                                         static_cast<double>((*process)->facts().parameters) / 1e6,
                                         (*process)->facts().context)
                           : process.error().message;
    }
    return {std::move(found), std::move(learner), std::move(model)};
}

/// Tries a device that is in quarantine; when it is well, others may use it again.
Result<int> liftQuarantine(const std::string &device, bool json, const std::stop_token &stop) {
    CUDA_AGENT_ASSIGN(was, device::liftAfterProbe(device, judge::probeOptions(), stop));
    if (json)
        fmt::print("{}\n", Json{{"device", device}, {"well", true}, {"lifted", was}}.dump(2));
    else
        Printer(false).line(was ? device + " is well; its quarantine is lifted"
                                : device + " is well; it was in no quarantine");
    return 0;
}

Finding findQuarantined(const device::Quarantine &each) {
    const auto refused = device::checkNotQuarantined(each.device);
    return {"quarantine", false, false, refused ? each.device : refused.error().message};
}

Result<int> doctor(bool json, const std::stop_token &stop) {
    const auto cuda = device::openCuda();
    const auto architecture = cuda ? (*cuda)->info().architecture : std::string("sm_90");
    std::vector<Finding> findings{
        findDevice("cpu device", device::openCpu(), true),
        findDevice("cuda device", cuda, false),
        findSandbox(),
        findPython(),
        findCompiler("host compiler", toolchain::makeHostCompiler(), true),
        findCompiler("CUDA compiler", toolchain::makeCudaCompiler(architecture), false),
        findModuleTools(cuda ? (*cuda)->info() : device::Info()),
        findLibrary("BLAS (cpu)", "libopenblas.so.0", "libopenblas0"),
        findLibrary("convolution (cpu)", "libdnnl.so.2", "libdnnl2"),
    };
    for (auto &each : findTransformer(stop))
        findings.push_back(std::move(each));
    for (const auto &each : device::quarantines())
        findings.push_back(findQuarantined(each));
    bool usable = true;
    Json list = Json::array();
    Printer printer(json);
    for (const auto &finding : findings) {
        usable = usable && (finding.ok || !finding.needed);
        list.push_back({{"name", finding.name},
                        {"ok", finding.ok},
                        {"needed", finding.needed},
                        {"detail", finding.detail}});
        if (finding.ceilings)
            list.back()["ceilings"] = device::toJson(*finding.ceilings);
        if (!json)
            printer.line(fmt::format("{:<8}{:<20}{}",
                                     finding.ok                     ? "ok"
                                     : finding.name == "quarantine" ? "BAD"
                                     : finding.needed               ? "MISSING"
                                                                    : "none",
                                     finding.name, finding.detail));
    }
    if (json)
        fmt::print("{}\n", Json{{"usable", usable},
                                {"findings", list},
                                {"cache", cacheDir().string()},
                                {"version", CUDA_AGENT_VERSION}}
                               .dump(2));
    return usable ? 0 : 3;
}

} // namespace

Run addDoctor(CLI::App &app) {
    auto json = std::make_shared<bool>(false);
    app.add_flag("--json", *json, "Print JSON");
    auto lift = std::make_shared<std::string>();
    app.add_option("--lift-quarantine", *lift,
                   "Try this device (cuda0) and, when it is well, lift its quarantine");
    return [json, lift](std::stop_token stop) {
        return lift->empty() ? doctor(*json, stop) : liftQuarantine(*lift, *json, stop);
    };
}

} // namespace cuda_agent::app
