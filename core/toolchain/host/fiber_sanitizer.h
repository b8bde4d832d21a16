// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

// AddressSanitizer knows where a thread's stack ends and ThreadSanitizer keeps a stack of calls for
// each; both have to be told when a fiber switch changes stacks under them. In other builds all of
// this is empty.

#ifdef __has_feature // clang's way to say it
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__
#endif
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CUDA_AGENT_SANITIZED_FIBERS
#endif

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif
#ifdef CUDA_AGENT_SANITIZED_FIBERS
#include <pthread.h>
#endif

namespace cuda_agent::toolchain::host {

#ifdef CUDA_AGENT_SANITIZED_FIBERS

/// What the sanitizers have to know of one stack. It lies above the top of a fiber's stack.
struct FiberStack {
    char *bottom = nullptr;
    std::size_t bytes = 0;
    void *fakeStack = nullptr; ///< AddressSanitizer's, while nobody runs on this stack
    void *calls = nullptr;     ///< ThreadSanitizer's fiber
};
inline constexpr std::size_t fiberStackBytes = 64;
static_assert(sizeof(FiberStack) <= fiberStackBytes);

inline FiberStack &stackOf(char *top) {
    return *reinterpret_cast<FiberStack *>(top);
}

/// The next fiber begins on a stack whose last one ended in the middle of its functions: what lay
/// between their variables is no longer forbidden.
inline void reuseStack([[maybe_unused]] FiberStack &stack) {
#ifdef __SANITIZE_ADDRESS__
    ASAN_UNPOISON_MEMORY_REGION(stack.bottom, stack.bytes);
    stack.fakeStack = nullptr;
#endif
}

/// A fiber's stack ends or was left with frames on it that nobody comes back to.
inline void forgetFrames(FiberStack &stack) {
    reuseStack(stack);
#ifdef __SANITIZE_THREAD__
    if (stack.calls)
        __tsan_destroy_fiber(stack.calls);
    stack.calls = nullptr;
#endif
}

inline void describeStack(char *top, char *bottom) {
    stackOf(top) = {bottom, static_cast<std::size_t>(top - bottom), nullptr, nullptr};
}

/// The stack of the operating-system thread that calls.
inline void describeOwnStack(FiberStack &stack) {
    static thread_local const FiberStack own = [] {
        FiberStack found;
        pthread_attr_t attributes;
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            void *bottom = nullptr;
            pthread_attr_getstack(&attributes, &bottom, &found.bytes);
            found.bottom = static_cast<char *>(bottom);
            pthread_attr_destroy(&attributes);
        }
        return found;
    }();
    stack = own;
#ifdef __SANITIZE_THREAD__
    stack.calls = __tsan_get_current_fiber();
#endif
}

/// Right before a switch, in the function that switches: `from` is null when its fiber ends here.
[[gnu::always_inline]] inline void leaveStack([[maybe_unused]] FiberStack *from, FiberStack &to) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(from ? &from->fakeStack : nullptr, to.bottom, to.bytes);
#endif
#ifdef __SANITIZE_THREAD__
    if (!to.calls)
        to.calls = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(to.calls, 0);
#endif
}

/// Right after a switch, in the function that is come back to.
[[gnu::always_inline]] inline void arriveOnStack([[maybe_unused]] FiberStack &self) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(self.fakeStack, nullptr, nullptr);
#endif
}

#else

struct FiberStack {};
inline constexpr std::size_t fiberStackBytes = 0;

[[gnu::always_inline]] inline FiberStack &stackOf(char *) {
    static FiberStack none;
    return none;
}
inline void reuseStack(FiberStack &) {}
inline void forgetFrames(FiberStack &) {}
inline void describeStack(char *, char *) {}
inline void describeOwnStack(FiberStack &) {}
[[gnu::always_inline]] inline void leaveStack(FiberStack *, FiberStack &) {}
[[gnu::always_inline]] inline void arriveOnStack(FiberStack &) {}

#endif

/// For functions that a fiber enters and never returns from: ThreadSanitizer would count the
/// entries of one fiber after the other on the same stack.
#define CUDA_AGENT_NEVER_RETURNS [[gnu::no_sanitize_thread]]

} // namespace cuda_agent::toolchain::host
