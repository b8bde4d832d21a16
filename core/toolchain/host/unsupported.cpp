// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/unsupported.h"

#include <fmt/format.h>

#include <array>
#include <span>

namespace cuda_agent::toolchain::host {

namespace {

struct Word {
    std::string_view text;
    bool prefix; ///< every identifier that begins so
    std::string_view what;
};

constexpr std::string_view tensorCores = "tensor-core instructions";
constexpr std::string_view inlinePtx = "inline PTX";
constexpr std::string_view asynchronous = "asynchronous copies (cp.async, TMA)";
constexpr std::string_view textures = "textures and surfaces";
constexpr std::string_view clusters = "thread block clusters";
constexpr std::string_view groups = "cooperative groups";
constexpr std::string_view libraries = "device template libraries";

constexpr std::array words = std::to_array<Word>({
    {"wmma", false, tensorCores},
    {"nvcuda", false, tensorCores},
    {"mma_sync", false, tensorCores},
    {"__wmma", true, tensorCores},
    {"__hmma", true, tensorCores},
    {"__imma", true, tensorCores},
    {"wgmma", true, tensorCores},
    {"asm", false, inlinePtx},
    {"__asm", false, inlinePtx},
    {"__asm__", false, inlinePtx},
    {"__pipeline_", true, asynchronous},
    {"memcpy_async", false, asynchronous},
    {"cp_async", true, asynchronous},
    {"CUtensorMap", false, asynchronous},
    {"tex1D", true, textures},
    {"tex2D", true, textures},
    {"tex3D", true, textures},
    {"surf1D", true, textures},
    {"surf2D", true, textures},
    {"surf3D", true, textures},
    {"cudaTextureObject_t", false, textures},
    {"cudaSurfaceObject_t", false, textures},
    {"__cluster_", true, clusters},
    {"__clusterDim", true, clusters},
    {"cluster_group", false, clusters},
    {"this_cluster", false, clusters},
    {"this_grid", false, "grid-wide synchronisation"},
    {"cooperative_groups", false, groups},
    {"cudaGridDependencySynchronize", false, "programmatic dependent launch"},
    {"cudaTriggerProgrammaticLaunchCompletion", false, "programmatic dependent launch"},
    {"cutlass", false, libraries},
    {"cute", false, libraries},
});

struct Header {
    std::string_view prefix;
    std::string_view what;
};
constexpr std::array headers = std::to_array<Header>({
    {"mma.h", tensorCores},
    {"cooperative_groups", groups},
    {"cuda_pipeline", asynchronous},
    {"cuda/", libraries},
    {"cub/", libraries},
    {"thrust/", libraries},
    {"cutlass/", libraries},
    {"cute/", libraries},
    {"curand", "cuRAND's device functions"},
});

/// Libraries that host code calls.
constexpr std::array hostLibraries = std::to_array<Header>({
    {"cublas", "cuBLAS"},
    {"cudnn", "cuDNN"},
    {"cufft", "cuFFT"},
    {"cusparse", "cuSPARSE"},
    {"cusolver", "cuSOLVER"},
    {"nccl", "NCCL"},
    {"nvtx", "NVTX"},
    {"nvToolsExt", "NVTX"},
    {"nvrtc", "NVRTC"},
    {"cuda.h", "the driver's interface (cuda.h)"},
});

/// What is wrong with an `#include` of `name`, or empty.
std::string includeProblem(std::string_view name, const Allowed &allowed) {
    if (allowed.header && allowed.header(name))
        return {};
    for (const auto &library : hostLibraries)
        if (name.starts_with(library.prefix))
            return fmt::format("{} is not there on the cpu device (<{}>)", library.what, name);
    for (const char *framework : {"torch/", "ATen/", "c10/"})
        if (name.starts_with(framework))
            return fmt::format("a .cu file includes nothing of PyTorch (<{}>); tensors belong into "
                               "the binding",
                               name);
    if (name.starts_with("/") || name.find("..") != name.npos || name.find('\\') != name.npos)
        return "a kernel file cannot include files by path; put the code into this file";
    for (const auto &header : headers)
        if (name.starts_with(header.prefix))
            return fmt::format("the CPU device cannot run {} (<{}>)", header.what, name);
    return {};
}

class Finder {
  public:
    Finder(std::string_view source, const std::string &path, const Allowed &allowed)
        : source_(source), path_(path), allowed_(allowed) {}

    void run(const std::vector<Token> &tokens) {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            if (!tokens[i].active)
                continue;
            if (tokens[i].kind == Token::Kind::directive)
                directive(tokens[i]);
            else
                token(tokens, i);
        }
    }
    std::vector<Diagnostic> found;

  private:
    void add(const Token &token, std::string message) {
        const Place place = placeOf(source_, token.offset);
        found.push_back({"error", path_, place.line, place.column, std::move(message)});
    }
    void cannot(const Token &token, std::string_view what) {
        add(token, fmt::format("the CPU device cannot run {} ('{}'); keep it in an #ifndef "
                               "__CUDA_AGENT_HOST__ branch beside plain C++",
                               what, token.text));
    }

    void token(std::span<const Token> tokens, std::size_t i) {
        const Token &token = tokens[i];
        if (token.is("<<<")) {
            if (allowed_.launches)
                return;
            return cannot(token, "kernel launches from device code");
        }
        if (!token.isIdentifier())
            return;
        for (const auto &word : words) {
            const bool hit =
                word.prefix ? token.text.starts_with(word.text) : token.text == word.text;
            if (!hit)
                continue;
            // Namespaces of libraries may as well be names of variables.
            const bool isNamespace = word.text == "wmma" || word.text == "cute" ||
                                     word.text == "cutlass" || word.text == "mma_sync";
            const bool qualified =
                (i + 1 < tokens.size() && tokens[i + 1].is("::")) ||
                (i > 0 && tokens[i - 1].is("namespace")) ||
                (word.text == "mma_sync" && i + 1 < tokens.size() && tokens[i + 1].is("("));
            if (!isNamespace || qualified)
                cannot(token, word.what);
            return;
        }
    }

    void directive(const Token &line) {
        const auto parts = lexDirective(line);
        if (parts.empty())
            return;
        const auto word = parts[0].text;
        const std::span<const Token> rest = std::span(parts).subspan(1);
        if (word == "define") {
            for (std::size_t i = 1; i < rest.size() && allowed_.launches; ++i)
                if (rest[i].is("__global__"))
                    add(rest[i], "the CPU device cannot run a kernel that a macro writes; write "
                                 "__global__ and the kernel out, or make it a template");
            for (std::size_t i = 1; i < rest.size(); ++i)
                token(rest, i);
        } else if (word == "include" || word == "include_next" || word == "import") {
            include(line, rest);
        } else if (word == "embed" || word == "line") {
            add(line, fmt::format("#{} is not allowed in a kernel file", word));
        } else if (word == "pragma" && rest.size() > 1 && rest[1].is("dependency")) {
            add(line, "this #pragma is not allowed in a kernel file");
        }
    }

    void include(const Token &line, std::span<const Token> rest) {
        if (rest.empty())
            return;
        std::string name;
        if (rest[0].kind == Token::Kind::text && rest[0].text.size() >= 2) {
            name = rest[0].text.substr(1, rest[0].text.size() - 2);
        } else if (rest[0].is("<") || rest[0].is("<<") || rest[0].is("<=")) {
            const auto begin = line.text.find('<') + 1;
            name = line.text.substr(begin, line.text.find('>') - begin);
        } else {
            return add(line, "write the header's name in #include, not a macro");
        }
        if (auto problem = includeProblem(name, allowed_); !problem.empty())
            add(line, problem);
    }

    std::string_view source_;
    const std::string &path_;
    const Allowed &allowed_;
};

} // namespace

std::vector<Diagnostic> findUnsupported(std::string_view source, const std::string &path,
                                        const std::vector<Token> &tokens, const Allowed &allowed) {
    Finder finder(source, path, allowed);
    finder.run(tokens);
    return std::move(finder.found);
}

} // namespace cuda_agent::toolchain::host
