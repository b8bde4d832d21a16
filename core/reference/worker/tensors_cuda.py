# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Device memory that the engine can map: a CUDA virtual-memory-management allocation exported as
a POSIX descriptor.

Legacy IPC handles fail across namespaces and expose neighbours in the same allocator block, so
every tensor gets an allocation of its own. The driver is called through ctypes: no package beside
torch is needed, and loading it costs nothing.
"""

import ctypes
import os

import torch

PINNED = 1  # CU_MEM_ALLOCATION_TYPE_PINNED
POSIX_DESCRIPTOR = 1  # CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
ON_DEVICE = 1  # CU_MEM_LOCATION_TYPE_DEVICE
READ_WRITE = 3  # CU_MEM_ACCESS_FLAGS_PROT_READWRITE
OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class AllocationFlags(ctypes.Structure):
    _fields_ = [("compression", ctypes.c_ubyte), ("rdma", ctypes.c_ubyte),
                ("usage", ctypes.c_ushort), ("reserved", ctypes.c_ubyte * 4)]


class AllocationProperties(ctypes.Structure):  # CUmemAllocationProp
    _fields_ = [("type", ctypes.c_int), ("handle_types", ctypes.c_int), ("location", Location),
                ("win32", ctypes.c_void_p), ("flags", AllocationFlags)]


class AccessDescription(ctypes.Structure):  # CUmemAccessDesc
    _fields_ = [("location", Location), ("flags", ctypes.c_int)]


class Driver:
    """The few calls of libcuda that are needed, each checked."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status == OUT_OF_MEMORY:
            raise torch.cuda.OutOfMemoryError(f"{name}: out of memory")
        if status != 0:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(status, ctypes.byref(text))
            raise RuntimeError(f"{name} failed: {(text.value or b'unknown error').decode()}")


_driver = None


def driver():
    global _driver
    if _driver is None:
        _driver = Driver()
    return _driver


class _Interface:
    def __init__(self, address, size):
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1",
                                         "data": (address, False), "version": 3}


def as_bytes(address, size, device):
    """Foreign device memory as a uint8 tensor, without a copy."""
    try:
        return torch.as_tensor(_Interface(address, size), device=device)
    except (RuntimeError, TypeError, ImportError):  # torch reads the interface through numpy
        storage = torch._C._construct_storage_from_data_pointer(address, device, size)
        return torch.empty(0, dtype=torch.uint8, device=device).set_(storage)


class DeviceMemory:
    """`size` bytes of device memory. `bytes` is a uint8 tensor on it until release(). The size of
    the allocation itself is rounded up to the granularity; the importer rounds alike."""

    def __init__(self, size, device=0):
        self.fd = -1
        self.size = size
        self.bytes = None
        self._handle = None
        self._address = None
        torch.cuda.synchronize()  # also makes sure that a context is there
        properties = AllocationProperties(type=PINNED, handle_types=POSIX_DESCRIPTOR,
                                          location=Location(ON_DEVICE, device))
        granularity = ctypes.c_size_t()
        call = driver().call
        call("cuMemGetAllocationGranularity", ctypes.byref(granularity), ctypes.byref(properties),
             ctypes.c_int(0))
        step = granularity.value
        self._mapped = ctypes.c_size_t((size + step - 1) // step * step)
        try:
            self._create(properties)
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()  # what torch keeps for itself may be all that is missing
            self._create(properties)
        try:
            fd = ctypes.c_int(-1)
            call("cuMemExportToShareableHandle", ctypes.byref(fd), self._handle,
                 ctypes.c_int(POSIX_DESCRIPTOR), ctypes.c_ulonglong(0))
            self.fd = fd.value
            address = ctypes.c_ulonglong()
            call("cuMemAddressReserve", ctypes.byref(address), self._mapped, ctypes.c_size_t(0),
                 ctypes.c_ulonglong(0), ctypes.c_ulonglong(0))
            try:
                call("cuMemMap", address, self._mapped, ctypes.c_size_t(0), self._handle,
                     ctypes.c_ulonglong(0))
            except BaseException:
                call("cuMemAddressFree", address, self._mapped)
                raise
            self._address = address
            access = AccessDescription(Location(ON_DEVICE, device), READ_WRITE)
            call("cuMemSetAccess", address, self._mapped, ctypes.byref(access), ctypes.c_size_t(1))
            self.bytes = as_bytes(address.value, size, torch.device("cuda", device))
        except BaseException:
            self.close()
            raise

    def _create(self, properties):
        handle = ctypes.c_ulonglong()
        driver().call("cuMemCreate", ctypes.byref(handle), self._mapped,
                      ctypes.byref(properties), ctypes.c_ulonglong(0))
        self._handle = handle

    def release(self):
        """Waits for the device, then unmaps; the descriptor keeps the memory alive."""
        self.bytes = None
        if self._address is None and self._handle is None:
            return
        torch.cuda.synchronize()
        address, self._address = self._address, None
        handle, self._handle = self._handle, None
        if address is not None:
            driver().call("cuMemUnmap", address, self._mapped)
            driver().call("cuMemAddressFree", address, self._mapped)
        if handle is not None:
            driver().call("cuMemRelease", handle)

    def close(self):
        try:
            self.release()
        finally:
            if self.fd >= 0:
                os.close(self.fd)
                self.fd = -1
