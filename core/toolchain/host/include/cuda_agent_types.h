// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// CUDA's vector types with their alignment, and make_<type>.

#if defined(CUDA_AGENT_HOST_CHECKED) && !defined(CUDA_AGENT_HOST_PLAIN_VECTORS)
// Copied by hand: a copy that is left to the compiler is one of plain bytes, whose address nobody
// holds against the type's alignment.
#define CAH_COPIED2(type, scalar)                                                                  \
    type() = default;                                                                              \
    CAH_MEMBER constexpr type(scalar x_, scalar y_ = 0) : x(x_), y(y_) {}                          \
    CAH_MEMBER constexpr type(const type &v) : x(v.x), y(v.y) {}                                   \
    CAH_MEMBER constexpr type &operator=(const type &v) {                                          \
        x = v.x;                                                                                   \
        y = v.y;                                                                                   \
        return *this;                                                                              \
    }
#define CAH_COPIED4(type, scalar)                                                                  \
    type() = default;                                                                              \
    CAH_MEMBER constexpr type(scalar x_, scalar y_ = 0, scalar z_ = 0, scalar w_ = 0)              \
        : x(x_), y(y_), z(z_), w(w_) {}                                                            \
    CAH_MEMBER constexpr type(const type &v) : x(v.x), y(v.y), z(v.z), w(v.w) {}                   \
    CAH_MEMBER constexpr type &operator=(const type &v) {                                          \
        x = v.x;                                                                                   \
        y = v.y;                                                                                   \
        z = v.z;                                                                                   \
        w = v.w;                                                                                   \
        return *this;                                                                              \
    }
#else
#define CAH_COPIED2(type, scalar)
#define CAH_COPIED4(type, scalar)
#endif

#define CAH_VECTOR(name, scalar, bytes)                                                            \
    struct name##1 {                                                                               \
        scalar x;                                                                                  \
    };                                                                                             \
    struct alignas(2 * bytes) name##2 {                                                            \
        scalar x, y;                                                                               \
        CAH_COPIED2(name##2, scalar)                                                               \
    };                                                                                             \
    struct name##3 {                                                                               \
        scalar x, y, z;                                                                            \
    };                                                                                             \
    struct alignas(4 * bytes > 16 ? 16 : 4 * bytes) name##4 {                                      \
        scalar x, y, z, w;                                                                         \
        CAH_COPIED4(name##4, scalar)                                                               \
    };                                                                                             \
    CAH_FUNCTION name##1 make_##name##1(scalar x) {                                                \
        return {x};                                                                                \
    }                                                                                              \
    CAH_FUNCTION name##2 make_##name##2(scalar x, scalar y) {                                      \
        return {x, y};                                                                             \
    }                                                                                              \
    CAH_FUNCTION name##3 make_##name##3(scalar x, scalar y, scalar z) {                            \
        return {x, y, z};                                                                          \
    }                                                                                              \
    CAH_FUNCTION name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) {                  \
        return {x, y, z, w};                                                                       \
    }

CAH_VECTOR(char, signed char, 1)
CAH_VECTOR(uchar, unsigned char, 1)
CAH_VECTOR(short, short, 2)
CAH_VECTOR(ushort, unsigned short, 2)
CAH_VECTOR(int, int, 4)
CAH_VECTOR(uint, unsigned int, 4)
CAH_VECTOR(long, long, 8)
CAH_VECTOR(ulong, unsigned long, 8)
CAH_VECTOR(longlong, long long, 8)
CAH_VECTOR(ulonglong, unsigned long long, 8)
CAH_VECTOR(float, float, 4)
CAH_VECTOR(double, double, 8)

#undef CAH_VECTOR
#undef CAH_COPIED2
#undef CAH_COPIED4

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
        : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
