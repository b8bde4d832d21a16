// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/reference/stock.h"

#include "core/base/hash.h"
#include "core/base/paths.h"

namespace cuda_agent::reference {

Stock::Stock(std::size_t most)
    : IdleProcesses(most),
      cache_(cacheDir() / "inductor" / fmt::format("stock-{:016x}", randomSeed())) {}

Stock::~Stock() {
    clear();
    std::error_code error;
    std::filesystem::remove_all(cache_, error);
}

} // namespace cuda_agent::reference
