// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/file_lock.h"

#include <sys/file.h>

namespace cuda_agent {

void FileLock::giveUp() {
    if (file_)
        ::flock(file_.get(), LOCK_UN);
    file_.reset();
}

} // namespace cuda_agent
