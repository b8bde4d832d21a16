// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/run/event_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace cuda_agent::learn {
namespace {

constexpr std::uint64_t longestRecord = 4u << 20; ///< longer ones hold images or graphs

template <typename T>
T littleEndian(std::string_view bytes) {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
        value |= static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[i])) << (8 * i));
    return value;
}

double doubleOf(std::uint64_t bits) {
    return std::bit_cast<double>(bits);
}
double floatOf(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}

double halfOf(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023;
    const double sign = bits >> 15 ? -1 : 1;
    if (exponent == 31)
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0)
        return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(1024 + fraction, exponent - 25);
}

/// One field of a protobuf message. `number` 0 is the end, `wire` -1 a malformed message.
struct Field {
    std::uint32_t number = 0;
    int wire = 0;             ///< 0 varint, 1 eight bytes, 2 bytes, 5 four bytes
    std::uint64_t value = 0;  ///< of wire types 0, 1 and 5
    std::string_view content; ///< of wire type 2
};

class Fields {
  public:
    explicit Fields(std::string_view message) : rest_(message) {}
    bool good() const { return good_; }

    bool next(Field &field) {
        if (rest_.empty() || !good_)
            return false;
        const auto key = varint();
        if (!key || *key >> 3 == 0 || *key >> 3 > 0x1fffffff)
            return good_ = false;
        field.number = static_cast<std::uint32_t>(*key >> 3);
        field.wire = static_cast<int>(*key & 7);
        field.content = {};
        switch (field.wire) {
        case 0: {
            const auto value = varint();
            if (!value)
                return good_ = false;
            field.value = *value;
            return true;
        }
        case 1:
            return fixed<std::uint64_t>(field);
        case 5:
            return fixed<std::uint32_t>(field);
        case 2: {
            const auto length = varint();
            if (!length || *length > rest_.size())
                return good_ = false;
            field.content = rest_.substr(0, *length);
            rest_.remove_prefix(*length);
            return true;
        }
        default:
            return good_ = false;
        }
    }

    std::optional<std::uint64_t> varint() {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (rest_.empty())
                return std::nullopt;
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            value |= static_cast<std::uint64_t>(byte & 127) << shift;
            if (byte < 128)
                return value;
        }
        return std::nullopt;
    }
    bool empty() const { return rest_.empty(); }

  private:
    template <typename T>
    bool fixed(Field &field) {
        if (rest_.size() < sizeof(T))
            return good_ = false;
        field.value = littleEndian<T>(rest_);
        rest_.remove_prefix(sizeof(T));
        return true;
    }

    std::string_view rest_;
    bool good_ = true;
};

/// The numbers of tensor.proto's DataType that one value can have.
enum DataType {
    typeFloat = 1,
    typeDouble = 2,
    typeInt32 = 3,
    typeUint8 = 4,
    typeInt16 = 5,
    typeInt8 = 6,
    typeInt64 = 9,
    typeBool = 10,
    typeBfloat16 = 14,
    typeUint16 = 17,
    typeHalf = 19,
    typeUint32 = 22,
    typeUint64 = 23,
};

std::optional<double> fromContent(int type, std::string_view bytes) {
    const auto exactly = [&](std::size_t size) { return bytes.size() == size; };
    switch (type) {
    case typeFloat:
        return exactly(4) ? std::optional(floatOf(littleEndian<std::uint32_t>(bytes)))
                          : std::nullopt;
    case typeDouble:
        return exactly(8) ? std::optional(doubleOf(littleEndian<std::uint64_t>(bytes)))
                          : std::nullopt;
    case typeHalf:
        return exactly(2) ? std::optional(halfOf(littleEndian<std::uint16_t>(bytes)))
                          : std::nullopt;
    case typeBfloat16:
        return exactly(2)
                   ? std::optional(floatOf(
                         static_cast<std::uint32_t>(littleEndian<std::uint16_t>(bytes)) << 16))
                   : std::nullopt;
    default:
        break;
    }
    std::uint64_t bits = 0;
    if (bytes.empty() || bytes.size() > 8)
        return std::nullopt;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    const auto integer = [&](std::size_t size, bool isSigned) -> std::optional<double> {
        if (!exactly(size))
            return std::nullopt;
        if (!isSigned)
            return static_cast<double>(bits);
        const int unused = 64 - static_cast<int>(size) * 8;
        return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
    };
    switch (type) {
    case typeInt8:
        return integer(1, true);
    case typeInt16:
        return integer(2, true);
    case typeInt32:
        return integer(4, true);
    case typeInt64:
        return integer(8, true);
    case typeBool:
    case typeUint8:
        return integer(1, false);
    case typeUint16:
        return integer(2, false);
    case typeUint32:
        return integer(4, false);
    case typeUint64:
        return integer(8, false);
    default:
        return std::nullopt;
    }
}

/// The value of a TensorProto that holds one number; none otherwise.
std::optional<double> scalarOf(std::string_view tensor, bool &good) {
    int type = 0;
    double elements = 1;
    std::optional<double> value;
    std::string_view content;
    Fields fields(tensor);
    for (Field field; fields.next(field);) {
        // A repeated number field holds one value, or a packed run of them.
        const auto integer = [&]() -> std::optional<std::uint64_t> {
            if (field.wire == 0)
                return field.value;
            return field.wire == 2 ? Fields(field.content).varint() : std::nullopt;
        };
        if (field.number == 1 && field.wire == 0) {
            type = static_cast<int>(std::min<std::uint64_t>(field.value, 1000));
        } else if (field.number == 2 && field.wire == 2) {
            Fields dimensions(field.content);
            for (Field dimension; dimensions.next(dimension);) {
                if (dimension.number != 2 || dimension.wire != 2)
                    continue;
                double size = 0; // proto3 leaves a zero out
                Fields parts(dimension.content);
                for (Field part; parts.next(part);)
                    if (part.number == 1 && part.wire == 0)
                        size = static_cast<double>(part.value);
                good = good && parts.good();
                elements *= size;
            }
            good = good && dimensions.good();
        } else if (field.number == 4 && field.wire == 2) {
            content = field.content;
        } else if (field.number == 5) {
            if (field.wire == 5)
                value = floatOf(static_cast<std::uint32_t>(field.value));
            else if (field.wire == 2 && field.content.size() >= 4)
                value = floatOf(littleEndian<std::uint32_t>(field.content));
        } else if (field.number == 6) {
            if (field.wire == 1)
                value = doubleOf(field.value);
            else if (field.wire == 2 && field.content.size() >= 8)
                value = doubleOf(littleEndian<std::uint64_t>(field.content));
        } else if (field.number == 7 || field.number == 10) {
            if (const auto bits = integer())
                value = static_cast<double>(static_cast<std::int64_t>(*bits));
        } else if (field.number == 11 || field.number == 16 || field.number == 17) {
            if (const auto bits = integer())
                value = static_cast<double>(*bits);
        } else if (field.number == 13) {
            if (const auto bits = integer()) {
                const auto half = static_cast<std::uint16_t>(*bits);
                value = type == typeBfloat16 ? floatOf(static_cast<std::uint32_t>(half) << 16)
                                             : halfOf(half);
            }
        }
    }
    good = good && fields.good();
    if (elements != 1)
        return std::nullopt;
    if (!content.empty())
        return fromContent(type, content);
    if (value)
        return value;
    // proto3 writes no values when all are zero.
    const bool numeric = (type >= typeFloat && type <= typeInt8) || type == typeInt64 ||
                         type == typeBool || type == typeBfloat16 || type == typeUint16 ||
                         type == typeHalf || type == typeUint32 || type == typeUint64;
    return numeric ? std::optional(0.0) : std::nullopt;
}

/// "" when the metadata names no plugin.
std::string_view pluginOf(std::string_view metadata, bool &good) {
    std::string_view name;
    Fields fields(metadata);
    for (Field field; fields.next(field);) {
        if (field.number != 1 || field.wire != 2)
            continue;
        Fields parts(field.content);
        for (Field part; parts.next(part);)
            if (part.number == 1 && part.wire == 2)
                name = part.content;
        good = good && parts.good();
    }
    good = good && fields.good();
    return name;
}

bool readSummary(std::string_view summary, double step, double time, EventBatch &out) {
    bool good = true;
    Fields fields(summary);
    for (Field field; fields.next(field);) {
        if (field.number != 1 || field.wire != 2)
            continue;
        std::string_view tag, plugin;
        std::optional<double> value;
        Fields parts(field.content);
        for (Field part; parts.next(part);) {
            if (part.number == 1 && part.wire == 2)
                tag = part.content;
            else if (part.number == 2 && part.wire == 5)
                value = floatOf(static_cast<std::uint32_t>(part.value));
            else if (part.number == 8 && part.wire == 2)
                value = scalarOf(part.content, good);
            else if (part.number == 9 && part.wire == 2)
                plugin = pluginOf(part.content, good);
        }
        good = good && parts.good();
        if (value && !tag.empty() && (plugin.empty() || plugin == "scalars"))
            out.scalars.push_back({std::string(tag), step, time, *value});
    }
    return good && fields.good();
}

/// False when the record is no Event.
bool readEvent(std::string_view record, EventBatch &out) {
    double time = 0, step = 0;
    std::string_view summary;
    bool started = false, good = true;
    Fields fields(record);
    for (Field field; fields.next(field);) {
        if (field.number == 1 && field.wire == 1) {
            time = doubleOf(field.value);
        } else if (field.number == 2 && field.wire == 0) {
            step = static_cast<double>(static_cast<std::int64_t>(field.value));
        } else if (field.number == 5 && field.wire == 2) {
            summary = field.content;
        } else if (field.number == 7 && field.wire == 2) {
            Fields parts(field.content);
            for (Field part; parts.next(part);)
                started = started || (part.number == 1 && part.wire == 0 && part.value == 1);
            good = good && parts.good();
        }
    }
    if (!fields.good() || !good)
        return false;
    if (started)
        out.purges.push_back({out.scalars.size(), step});
    const std::size_t before = out.scalars.size();
    if (readSummary(summary, step, time, out))
        return true;
    out.scalars.resize(before);
    return false;
}

} // namespace

std::uint32_t crc32c(std::string_view bytes) {
    static const auto table = [] {
        std::array<std::uint32_t, 256> made{};
        for (std::uint32_t i = 0; i < 256; ++i) {
            std::uint32_t value = i;
            for (int bit = 0; bit < 8; ++bit)
                value = value >> 1 ^ (value & 1 ? 0x82f63b78u : 0u);
            made[i] = value;
        }
        return made;
    }();
    std::uint32_t crc = 0xffffffffu;
    for (const char c : bytes)
        crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(c)) & 255];
    return ~crc;
}

std::uint32_t maskedCrc32c(std::string_view bytes) {
    return std::rotr(crc32c(bytes), 15) + 0xa282ead8u;
}

void EventFileReader::feed(std::string_view bytes, EventBatch &out) {
    if (broken_)
        return;
    buffer_.append(bytes);
    std::size_t at = 0;
    for (;;) {
        std::string_view rest = std::string_view(buffer_).substr(at);
        if (skip_ > 0) {
            const auto passed =
                static_cast<std::size_t>(std::min<std::uint64_t>(skip_, rest.size()));
            skip_ -= passed;
            at += passed;
            position_ += passed;
            if (skip_ > 0)
                break;
            continue;
        }
        if (rest.size() < 12)
            break;
        const auto length = littleEndian<std::uint64_t>(rest);
        if (littleEndian<std::uint32_t>(rest.substr(8)) != maskedCrc32c(rest.substr(0, 8)) ||
            length > std::numeric_limits<std::uint64_t>::max() / 2) {
            broken_ = true;
            break;
        }
        if (length > longestRecord) {
            skip_ = length + 16;
            continue;
        }
        if (rest.size() < 16 + length)
            break;
        const std::string_view data = rest.substr(12, length);
        if (littleEndian<std::uint32_t>(rest.substr(12 + length)) != maskedCrc32c(data) ||
            !readEvent(data, out))
            ++bad_;
        at += 16 + length;
        position_ += 16 + length;
    }
    if (broken_)
        buffer_.clear();
    else
        buffer_.erase(0, at);
}

} // namespace cuda_agent::learn
