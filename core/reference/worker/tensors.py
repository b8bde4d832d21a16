# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tensors on their way to the engine, in memory that it can map."""

import torch

from .protocol import task_error

DTYPES = {
    torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float32: "float32",
    torch.float64: "float64", torch.int8: "int8", torch.uint8: "uint8", torch.int16: "int16",
    torch.int32: "int32", torch.int64: "int64", torch.bool: "bool",
}
ALIGNMENT = 256  # of tensors that share one memory, in bytes


def dtype_name(dtype, what):
    """Errors: the task is at fault when the engine has no such element type."""
    if dtype not in DTYPES:
        raise task_error(f"{what} has the element type {str(dtype).removeprefix('torch.')}, "
                         "which is not supported")
    return DTYPES[dtype]


def type_of(tensor, what):
    """TensorType as JSON."""
    return {"dtype": dtype_name(tensor.dtype, what), "shape": list(tensor.shape),
            "strides": list(tensor.stride()) if tensor.numel() else contiguous(tensor.shape)}


def contiguous(shape):
    strides = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def span_bytes(tensor):
    """Bytes from the first to one past the last element that the strides reach."""
    if tensor.numel() == 0:
        return 0
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return (last + 1) * tensor.element_size()


def is_dense(tensor):
    """Every element of the span belongs to exactly one index."""
    expected = 1
    for stride, size in sorted((stride, size) for size, stride in zip(tensor.shape, tensor.stride())
                               if size != 1):
        if stride != expected:
            return False
        expected *= size
    return True


def flat(tensor):
    """A one-dimensional view of a dense tensor in storage order."""
    return tensor.as_strided((tensor.numel(),), (1,))


def new_memory(device, size):
    if device.type == "cuda":
        from .tensors_cuda import DeviceMemory

        return DeviceMemory(max(size, 1))
    from .tensors_cpu import HostMemory

    return HostMemory(max(size, 1))


def place(memory, dtype, shape, strides, offset=0):
    """A tensor of that type in `memory`, `offset` bytes from its start."""
    count = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides))
    if 0 in shape:
        count = 0
    size = torch.empty((), dtype=dtype).element_size()
    part = memory.bytes.narrow(0, offset, count * size)
    return part.view(dtype).as_strided(tuple(shape), tuple(strides))


class Outgoing:
    """Memories for one answer. Use as a context: everything is closed at its end, the engine has
    its own descriptors by then."""

    def __init__(self, device):
        self.device = device
        self.memories = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for memory in self.memories:
            memory.close()
        self.memories.clear()

    @property
    def fds(self):
        return [memory.fd for memory in self.memories]

    def allocate(self, size):
        """A new memory and its number in the answer."""
        memory = new_memory(self.device, size)
        self.memories.append(memory)
        return memory, len(self.memories) - 1

    def add(self, name, tensor):
        """Copies one dense tensor into a memory of its own; returns its JSON entry."""
        entry = type_of(tensor, name)
        memory, number = self.allocate(span_bytes(tensor))
        if tensor.numel():
            place(memory, tensor.dtype, tensor.shape, tensor.stride()).copy_(tensor)
        memory.release()
        return entry | {"name": name, "fd": number, "offset": 0, "bytes": memory.size}

    def add_all(self, tensors):
        """Copies named dense tensors into one memory; returns their JSON entries. Models have more
        parameters than a message has descriptors."""
        entries = []
        size = 0
        for name, tensor in tensors:
            entries.append(type_of(tensor, name) | {"name": name, "offset": size})
            size += (span_bytes(tensor) + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        if not entries:
            return []
        memory, number = self.allocate(size)
        for entry, (_, tensor) in zip(entries, tensors):
            entry |= {"fd": number, "bytes": memory.size}
            if tensor.numel():
                place(memory, tensor.dtype, tensor.shape, tensor.stride(),
                      entry["offset"]).copy_(tensor)
        memory.release()
        return entries
