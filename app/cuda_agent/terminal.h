// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace cuda_agent::app {

/// "12 s", "3 min 05 s", "2 h 07 min".
std::string spanText(double seconds);

/// Lines that stay, and on a terminal a bar below them that is drawn anew. One thread at a time.
class Terminal {
  public:
    explicit Terminal(std::FILE *out);
    Terminal(const Terminal &) = delete;
    Terminal &operator=(const Terminal &) = delete;
    ~Terminal();

    /// A bar is shown; where not, lines have to say how far it is.
    bool interactive() const { return interactive_; }
    void line(const std::string &text);
    /// Nothing where the output is no terminal.
    void bar(std::size_t done, std::size_t all, const std::string &text);

  private:
    void clear();

    std::FILE *out_;
    bool interactive_;
    bool shown_ = false; ///< a bar stands in the last line
};

} // namespace cuda_agent::app
