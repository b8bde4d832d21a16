// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/model/safetensors.h"

#include "core/base/unique_fd.h"

#include <ATen/ATen.h>

#include <array>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cuda_agent::learn {

namespace {

constexpr std::uint64_t longestHeader = 100'000'000; ///< as the format's own reader allows
constexpr std::size_t lengthBytes = 8;
constexpr std::size_t alignment = 8; ///< of the first tensor, as its own writer does it

struct TypeName {
    const char *name;
    at::ScalarType type;
};
constexpr std::array typeNames{TypeName{"F64", at::kDouble}, TypeName{"F32", at::kFloat},
                               TypeName{"F16", at::kHalf},   TypeName{"BF16", at::kBFloat16},
                               TypeName{"I64", at::kLong},   TypeName{"I32", at::kInt},
                               TypeName{"I16", at::kShort},  TypeName{"I8", at::kChar},
                               TypeName{"U8", at::kByte},    TypeName{"BOOL", at::kBool}};

class Mapping {
  public:
    Mapping(void *begin, std::size_t size) : begin_(begin), size_(size) {}
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;
    ~Mapping() { ::munmap(begin_, size_); }
    char *data() const { return static_cast<char *>(begin_); }
    std::size_t size() const { return size_; }

  private:
    void *begin_;
    std::size_t size_;
};

Result<std::shared_ptr<Mapping>> mapped(const std::filesystem::path &file) {
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd)
        return requestError("{}: {}", file.string(), std::strerror(errno));
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return requestError("{}: not a file", file.string());
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size < lengthBytes)
        return requestError("{}: too short for a safetensors file", file.string());
    // Private and writable: a tensor may be changed, the file never is.
    void *begin = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd.get(), 0);
    if (begin == MAP_FAILED)
        return machineError("{}: cannot be mapped: {}", file.string(), std::strerror(errno));
    return std::make_shared<Mapping>(begin, size);
}

/// A tensor of the header's entry, or why there is none.
Result<at::Tensor> tensorOf(const std::shared_ptr<Mapping> &mapping, std::size_t data,
                            const Json &entry) {
    const auto dtype = entry.find("dtype"), shape = entry.find("shape"),
               offsets = entry.find("data_offsets");
    const auto whole = [](const Json &value) {
        return value.is_number_integer() && value >= 0 && value <= INT64_MAX;
    };
    if (dtype == entry.end() || !dtype->is_string() || shape == entry.end() || !shape->is_array() ||
        offsets == entry.end() || !offsets->is_array() || offsets->size() != 2 ||
        !whole((*offsets)[0]) || !whole((*offsets)[1]))
        return requestError("needs dtype, shape and data_offsets");
    const auto type = std::ranges::find_if(
        typeNames, [&](const TypeName &known) { return *dtype == known.name; });
    if (type == typeNames.end())
        return requestError("has the element type {}, which is not supported", dtype->dump());
    std::vector<std::int64_t> sizes;
    std::uint64_t bytes = at::elementSize(type->type);
    for (const auto &size : *shape) {
        if (!whole(size))
            return requestError("has a shape that is none");
        sizes.push_back(size.get<std::int64_t>());
        if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(sizes.back()), &bytes))
            return requestError("is too large");
    }
    const auto begin = (*offsets)[0].get<std::uint64_t>(), end = (*offsets)[1].get<std::uint64_t>();
    if (begin > end || end > mapping->size() - data || end - begin != bytes)
        return requestError("lies at {} to {}, which is not its size or not in the file", begin,
                            end);
    char *const first = mapping->data() + data + begin;
    const auto flat = at::from_blob(
        first, {static_cast<std::int64_t>(bytes)}, [mapping](void *) {}, at::kByte);
    // A file of another writer may not be aligned for its element type.
    const bool aligned = reinterpret_cast<std::uintptr_t>(first) % at::elementSize(type->type) == 0;
    return (aligned ? flat : flat.clone()).view(type->type).view(sizes);
}

} // namespace

Result<Safetensors> readSafetensors(const std::filesystem::path &file) {
    CUDA_AGENT_ASSIGN(mapping, mapped(file));
    std::uint64_t length = 0;
    std::memcpy(&length, mapping->data(), lengthBytes); // little-endian, as this machine is
    if (length > longestHeader || length > mapping->size() - lengthBytes)
        return requestError("{}: its header is longer than the file", file.string());
    CUDA_AGENT_ASSIGN(
        header, parseJson(std::string_view(mapping->data() + lengthBytes, length), file.string()));
    if (!header.is_object())
        return requestError("{}: its header is no object", file.string());
    Safetensors content;
    for (const auto &[name, entry] : header.items()) {
        if (name == "__metadata__") {
            for (const auto &[key, value] : entry.items())
                if (value.is_string())
                    content.metadata[key] = value;
            continue;
        }
        auto tensor = tensorOf(mapping, lengthBytes + length, entry);
        if (!tensor)
            return requestError("{}: {} {}", file.string(), name, tensor.error().message);
        content.tensors.emplace(name, std::move(*tensor));
    }
    return content;
}

Result<void> writeSafetensors(const std::filesystem::path &file, const Safetensors &content) {
    Json header = Json::object();
    if (!content.metadata.empty())
        header["__metadata__"] = content.metadata;
    std::vector<at::Tensor> flat;
    std::uint64_t at = 0;
    for (const auto &[name, tensor] : content.tensors) {
        const auto type = std::ranges::find_if(
            typeNames, [&](const TypeName &known) { return known.type == tensor.scalar_type(); });
        if (type == typeNames.end())
            return requestError("{}: {} has an element type that the format has not", file.string(),
                                name);
        const auto bytes = static_cast<std::uint64_t>(tensor.nbytes());
        header[name] = {
            {"dtype", type->name},
            {"shape", std::vector<std::int64_t>(tensor.sizes().begin(), tensor.sizes().end())},
            {"data_offsets", {at, at + bytes}}};
        at += bytes;
        flat.push_back(tensor.detach().to(at::kCPU).contiguous());
    }
    std::string text = header.dump();
    text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
    const std::uint64_t length = text.size();
    std::string bytes(lengthBytes, '\0');
    std::memcpy(bytes.data(), &length, lengthBytes);
    bytes.reserve(lengthBytes + text.size() + at);
    bytes += text;
    for (const auto &tensor : flat)
        bytes.append(static_cast<const char *>(tensor.const_data_ptr()), tensor.nbytes());
    return writeFileAtomically(file, bytes);
}

} // namespace cuda_agent::learn
