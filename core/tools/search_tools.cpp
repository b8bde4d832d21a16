// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tools/schema.h"
#include "core/tools/workspace_sandbox.h"

namespace cuda_agent::tools {

namespace {

using namespace std::chrono_literals;
using session::Observation;

const char *const program = "/usr/bin/rg";

/// What ripgrep searches: a path below /workspace or /skills, as rg sees it.
Result<std::string> rootOf(const Json &arguments) {
    const std::string path = arguments.value("path", ".");
    if (path == "." || path == "./" || path.empty() || path == "/workspace" ||
        path == "/workspace/")
        return std::string("/workspace");
    if (path.starts_with("/skills") && path.find("..") == std::string::npos)
        return path;
    CUDA_AGENT_ASSIGN(inside, workspacePath(path));
    return "/workspace/" + inside;
}

/// Paths as the other tools take them.
std::string withoutRoot(std::string text) {
    const std::string root = "/workspace/";
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::size_t from = at;
        if (text.compare(at, root.size(), root) == 0)
            from += root.size();
        result.append(text, from, end - from).append("\n");
        at = end + 1;
    }
    return result;
}

Result<Observation> ripgrep(Workspace &workspace, std::vector<std::string> options,
                            const std::string &root, std::size_t most, const std::string &none,
                            std::stop_token stop) {
    std::error_code error;
    if (!std::filesystem::exists(program, error))
        return machineError("ripgrep is missing ({}); install the package 'ripgrep'", program);
    options.insert(options.begin(), {program, "--no-config", "--no-ignore", "--color=never"});
    options.push_back("--");
    options.push_back(root);
    CUDA_AGENT_ASSIGN(record,
                      sandbox::run(workspacePolicy(workspace, false, 20s), options, {}, stop));
    if (record.exitCode == 1 && record.standardOutput.empty() && record.limitsHit.empty())
        return answer(none);
    if (!record.clean() && record.standardOutput.empty())
        return refuse(record.standardError.empty() ? record.summary()
                                                   : clipped(record.standardError, 2000));
    std::string text = withoutRoot(record.standardOutput);
    std::size_t lines = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\n' || ++lines < most || at + 1 >= text.size())
            continue;
        text.resize(at + 1);
        text += fmt::format("[... cut after {} lines; ask for less ...]\n", most);
        break;
    }
    return answer(clipped(std::move(text)));
}

Result<Observation> glob(Workspace &workspace, const Json &arguments, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(root, rootOf(arguments));
    const auto pattern = arguments.at("pattern").get<std::string>();
    return ripgrep(workspace, {"--files", "--sortr", "modified", "--glob=" + pattern}, root, 1000,
                   fmt::format("no file matches {}", pattern), std::move(stop));
}

Result<Observation> grep(Workspace &workspace, const Json &arguments, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(root, rootOf(arguments));
    const std::string mode = arguments.value("output_mode", "files_with_matches");
    std::vector<std::string> options{"--sort", "path"};
    if (mode == "files_with_matches")
        options.push_back("--files-with-matches");
    else if (mode == "count")
        options.insert(options.end(), {"--count", "--with-filename"});
    else
        options.insert(options.end(), {"--line-number", "--with-filename", "--no-heading",
                                       "--max-columns=500", "--max-columns-preview"});
    if (arguments.value("-i", false))
        options.push_back("--ignore-case");
    if (arguments.value("multiline", false))
        options.insert(options.end(), {"--multiline", "--multiline-dotall"});
    if (mode == "content")
        for (const auto *name : {"-A", "-B", "-C"})
            if (arguments.contains(name))
                options.push_back(fmt::format("{}{}", name, arguments.at(name).get<int>()));
    if (arguments.contains("glob"))
        options.push_back("--glob=" + arguments.at("glob").get<std::string>());
    const auto pattern = arguments.at("pattern").get<std::string>();
    options.push_back("--regexp=" + pattern);
    return ripgrep(workspace, std::move(options), root,
                   static_cast<std::size_t>(arguments.value("head_limit", 500)),
                   fmt::format("nothing matches {}", pattern), std::move(stop));
}

} // namespace

std::vector<Tool> searchTools() {
    const Json path = textField("folder or file to search; default: the whole workspace. /skills "
                                "holds the skills");
    Json pattern = textField("as '**/*.cu' or 'kernels/*.{cu,cuh}'");
    pattern["minLength"] = 1;
    Json expression = textField("regular expression (Rust syntax, as ripgrep takes it)");
    expression["minLength"] = 1;
    return {
        {"Glob", "Lists files whose paths match a pattern, the newest first.",
         objectOf({{"pattern", pattern}, {"path", path}}, {"pattern"}), glob, false},
        {"Grep", "Searches the contents of files with a regular expression.",
         objectOf({{"pattern", expression},
                   {"path", path},
                   {"glob", textField("only files that match, as '*.cu'")},
                   {"output_mode", choiceField("what to show (default: files_with_matches)",
                                               {"content", "files_with_matches", "count"})},
                   {"-i", flagField("upper and lower case are the same")},
                   {"-n", flagField("line numbers; content always has them")},
                   {"-A", wholeField("lines after each match, with content", 0, 100)},
                   {"-B", wholeField("lines before each match, with content", 0, 100)},
                   {"-C", wholeField("lines around each match, with content", 0, 100)},
                   {"multiline", flagField("the pattern may span lines")},
                   {"head_limit", wholeField("lines of output at most", 1, 5000)}},
                  {"pattern"}),
         grep, false},
    };
}

} // namespace cuda_agent::tools
