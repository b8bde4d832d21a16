// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/reference/received.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cmath>
#include <cstring>

namespace cuda_agent::reference {

namespace {

constexpr std::uint64_t largestMemory = std::uint64_t{1} << 48;

/// What lies in a descriptor must not shrink under the engine's mapping: that would be a bus error
/// here.
Result<void> sealHostMemory(int fd, std::uint64_t bytes) {
    if (::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0 && errno != EPERM)
        return requestError("the task's worker sent a descriptor that is no shared memory");
    const int seals = ::fcntl(fd, F_GET_SEALS);
    struct stat status {};
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || ::fstat(fd, &status) != 0 || status.st_size < 0 ||
        static_cast<std::uint64_t>(status.st_size) < bytes)
        return requestError("the task's worker sent shared memory that is smaller than it says");
    return {};
}

Result<std::uint64_t> natural(const Json &entry, const char *key) {
    const auto found = entry.find(key);
    if (found == entry.end() || !found->is_number_integer() || *found < 0 || *found > largestMemory)
        return requestError("the task's worker sent a tensor with a bad '{}'", key);
    return found->get<std::uint64_t>();
}

struct Entry {
    std::string name;
    TensorType type;
    std::uint64_t fd = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

Result<Entry> readEntry(const Json &json, std::size_t descriptors) {
    Entry entry;
    CUDA_AGENT_ASSIGN(type, tensorTypeFromJson(json, "a tensor of the task's worker"));
    entry.type = std::move(type);
    const auto name = json.find("name");
    if (name == json.end() || !name->is_string() ||
        name->get_ref<const std::string &>().size() > 4096)
        return requestError("the task's worker sent a tensor without a name");
    entry.name = name->get<std::string>();
    CUDA_AGENT_ASSIGN(fd, natural(json, "fd"));
    CUDA_AGENT_ASSIGN(offset, natural(json, "offset"));
    CUDA_AGENT_ASSIGN(bytes, natural(json, "bytes"));
    entry.fd = fd;
    entry.offset = offset;
    entry.bytes = bytes;
    if (fd >= descriptors)
        return requestError("the task's worker sent no memory for '{}'", entry.name);
    if (offset % sizeOf(entry.type.dtype) != 0 || bytes == 0 ||
        offset + entry.type.spanBytes() > bytes)
        return requestError("the task's worker sent '{}' outside its memory", entry.name);
    return entry;
}

} // namespace

Result<Received> receiveTensors(Message &message, const char *key, device::Device &device) {
    const auto list = message.body.find(key);
    if (list == message.body.end() || !list->is_array() || list->size() > 100'000)
        return requestError("the task's worker sent no '{}'", key);
    Received received;
    // Views point at elements: the vector must not grow under them.
    received.memory.reserve(message.fds.size());
    std::map<std::uint64_t, std::size_t> imported;
    for (const auto &json : *list) {
        CUDA_AGENT_ASSIGN(entry, readEntry(json, message.fds.size()));
        auto place = imported.find(entry.fd);
        if (place == imported.end()) {
            auto &fd = message.fds[entry.fd];
            if (!fd)
                return requestError("the task's worker sent one memory under two lists");
            if (device.info().kind == device::Kind::cpu)
                CUDA_AGENT_TRY(sealHostMemory(fd.get(), entry.bytes));
            CUDA_AGENT_ASSIGN(memory, device.import(std::move(fd), entry.bytes));
            received.memory.push_back(std::move(memory));
            place = imported.emplace(entry.fd, received.memory.size() - 1).first;
        }
        const auto &memory = received.memory[place->second];
        if (entry.offset + entry.type.spanBytes() > memory.bytes())
            return requestError("the task's worker sent '{}' outside its memory", entry.name);
        received.tensors.push_back({&memory, entry.offset, std::move(entry.type)});
        received.names.push_back(std::move(entry.name));
    }
    return received;
}

Result<double> receiveAmount(const Json &object, const char *key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number())
        return requestError("the task's worker sent no number '{}'", key);
    const auto value = found->get<double>();
    if (!std::isfinite(value) || value < 0)
        return requestError("the task's worker sent a bad number '{}'", key);
    return value;
}

Result<ReferenceError> receiveError(const Json &entry) {
    ReferenceError error;
    for (const auto &[key, field] : {std::pair{"error_norm", &error.errorNorm},
                                     {"max_error", &error.maxError},
                                     {"oracle_norm", &error.oracleNorm},
                                     {"max_oracle", &error.maxOracle},
                                     {"sensitivity_norm", &error.sensitivityNorm},
                                     {"sensitivity_max", &error.sensitivityMax}}) {
        CUDA_AGENT_ASSIGN(value, receiveAmount(entry, key));
        *field = value;
    }
    if (entry.contains("change_norm")) {
        CUDA_AGENT_ASSIGN(norm, receiveAmount(entry, "change_norm"));
        CUDA_AGENT_ASSIGN(largest, receiveAmount(entry, "change_max"));
        error.changeNorm = norm;
        error.changeMax = largest;
    }
    return error;
}

} // namespace cuda_agent::reference
