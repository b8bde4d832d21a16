# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Host memory that the engine can map: a memfd."""

import fcntl
import mmap
import os

import torch


class HostMemory:
    """`size` bytes in a memfd. `bytes` is a writable uint8 tensor on it until release()."""

    def __init__(self, size):
        self.size = size
        self.fd = os.memfd_create("tensor", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self.fd, size)
            # Room is taken now: running out later would be a bus error, not an exception.
            os.posix_fallocate(self.fd, 0, size)
            fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
            self.bytes = torch.frombuffer(mmap.mmap(self.fd, size), dtype=torch.uint8)
        except BaseException:
            os.close(self.fd)
            raise

    def release(self):
        """Drops the mapping; the descriptor stays and keeps the content."""
        self.bytes = None

    def close(self):
        self.release()
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
