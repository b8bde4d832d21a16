// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/file_lock.h"
#include "core/base/temporary_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

namespace cuda_agent {
namespace {

class FileLockTest : public testing::Test {
  protected:
    FileLock opened() const {
        return FileLock(UniqueFd(
            ::open((folder_->path() / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)));
    }
    static bool taken(const FileLock &lock) { return ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0; }

    Result<TemporaryFolder> folder_ = TemporaryFolder::make("file-lock");
};

TEST_F(FileLockTest, IsGivenUpWhileAnotherProcessStillHasItsDescriptor) {
    FileLock mine = opened();
    ASSERT_TRUE(taken(mine));
    const UniqueFd ofAChild(
        ::dup(mine.get())); // what a fork leaves there until it runs its program
    EXPECT_FALSE(taken(opened()));
    mine = FileLock();
    EXPECT_TRUE(taken(opened()));
}

TEST_F(FileLockTest, GoesWithWhoItIsMovedTo) {
    FileLock first = opened();
    ASSERT_TRUE(taken(first));
    {
        const FileLock second = std::move(first);
        EXPECT_FALSE(taken(opened()));
    }
    EXPECT_TRUE(taken(opened()));
}

} // namespace
} // namespace cuda_agent
