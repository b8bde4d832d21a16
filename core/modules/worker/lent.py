# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory that the engine lends, as uint8 tensors on the same bytes."""

import ctypes
import mmap
import os

import torch


class HostView:
    """`size` bytes of a memfd, mapped for reading and writing."""

    def __init__(self, fd, size):
        try:
            self.bytes = torch.frombuffer(mmap.mmap(fd, max(size, 1)), dtype=torch.uint8)
        finally:
            os.close(fd)

    def close(self):
        self.bytes = None


class DeviceView:
    """`size` bytes of device memory that the engine exported (tensors_cuda.py does the reverse)."""

    def __init__(self, fd, size, device=0):
        from worker.tensors_cuda import (AccessDescription, AllocationProperties, Location,
                                         ON_DEVICE, PINNED, POSIX_DESCRIPTOR, READ_WRITE, as_bytes,
                                         driver)

        self._call = driver().call
        properties = AllocationProperties(type=PINNED, handle_types=POSIX_DESCRIPTOR,
                                          location=Location(ON_DEVICE, device))
        step = ctypes.c_size_t()
        self._call("cuMemGetAllocationGranularity", ctypes.byref(step), ctypes.byref(properties),
                   ctypes.c_int(0))
        self._size = ctypes.c_size_t((max(size, 1) + step.value - 1) // step.value * step.value)
        handle = ctypes.c_ulonglong()
        try:
            self._call("cuMemImportFromShareableHandle", ctypes.byref(handle),
                       ctypes.c_void_p(fd), ctypes.c_int(POSIX_DESCRIPTOR))
        finally:
            os.close(fd)
        self._address = ctypes.c_ulonglong()
        self._call("cuMemAddressReserve", ctypes.byref(self._address), self._size,
                   ctypes.c_size_t(0), ctypes.c_ulonglong(0), ctypes.c_ulonglong(0))
        self._call("cuMemMap", self._address, self._size, ctypes.c_size_t(0), handle,
                   ctypes.c_ulonglong(0))
        self._call("cuMemRelease", handle)  # the mapping keeps it
        access = AccessDescription(Location(ON_DEVICE, device), READ_WRITE)
        self._call("cuMemSetAccess", self._address, self._size, ctypes.byref(access),
                   ctypes.c_size_t(1))
        self.bytes = as_bytes(self._address.value, size, torch.device("cuda", device))

    def close(self):
        self.bytes = None
        if self._address is None:
            return
        torch.cuda.synchronize()
        self._call("cuMemUnmap", self._address, self._size)
        self._call("cuMemAddressFree", self._address, self._size)
        self._address = None


def view(device, fd, size):
    return DeviceView(fd, size) if device.type == "cuda" else HostView(fd, size)
