// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolchain/listing_of.h"

#include "core/toolchain/ptx.h"
#include "core/toolchain/sass.h"

namespace cuda_agent::toolchain {

Result<std::variant<Listing, Rejection>>
listingOf(const Source &source, const std::string &architecture, Code code, std::stop_token stop) {
    using Listed = std::variant<Listing, Rejection>;
    Listing listing;
    listing.source = source.path;
    if (code == Code::ptx) {
        CUDA_AGENT_ASSIGN(made, translateToPtx(source, architecture, std::move(stop)));
        if (auto *rejection = std::get_if<Rejection>(&made))
            return Listed(std::move(*rejection));
        listing.functions = parsePtx(std::get<std::string>(made), source.path);
        return Listed(std::move(listing));
    }
    CUDA_AGENT_ASSIGN(compiler, makeCudaCompiler(architecture));
    CUDA_AGENT_ASSIGN(outcome, compiler->compile(source, stop));
    if (auto *rejection = std::get_if<Rejection>(&outcome))
        return Listed(std::move(*rejection));
    auto &binary = std::get<Binary>(outcome);
    CUDA_AGENT_ASSIGN(functions, disassemble(binary.file, source.path, std::move(stop)));
    listing.functions = std::move(functions);
    listing.entries = std::move(binary.entries);
    listing.warnings = std::move(binary.warnings);
    return Listed(std::move(listing));
}

} // namespace cuda_agent::toolchain
