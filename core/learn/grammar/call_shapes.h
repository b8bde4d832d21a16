// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/learn/grammar/word_tree.h"

namespace cuda_agent::learn {

/// How a value of a call is written.
struct Shape {
    enum class Kind : std::uint8_t {
        plainText,  ///< a parameter as it stands, up to the line of </parameter>
        plainWords, ///< a parameter that is one of `words`, which have its end with them
        text,       ///< a string of JSON
        words,      ///< JSON that is one of `words`: true, false, "high"
        whole,      ///< a number of JSON without sign, fraction and exponent: `least` to `most`
        list,       ///< of JSON, its items of the shape `parts[0]`
        object,     ///< of JSON, or a call: `words` lead to the values, of the shapes `parts`
    } kind = Kind::plainText;
    bool filled = false; ///< a text of at least one byte, a list of at least one item
    WordTree words;
    std::vector<std::uint16_t> parts; ///< indices into CallShapes::shapes
    std::uint16_t required = 0;       ///< of an object: bit i: parts[i] must be there
    std::string least, most;          ///< digits
    /// Bytes of the shortest such value, with its end where that is the value's own. Of a call all
    /// behind its "<function=NAME>".
    std::size_t shortest = 0;
};

/// What the policy's tools take, as the chat template writes it.
struct CallShapes {
    static constexpr std::size_t deepest = 4; ///< calls, lists and objects within each other

    WordTree functions;        ///< "<function=NAME>"
    std::vector<Shape> shapes; ///< first those of the calls, in the order of `functions`
    std::uint16_t calls = 0;   ///< how many these are

    /// Of JSON schemas in the vocabulary of core/tools/schema.h, `tools` as tools::toolSchemas()
    /// has them. An argument whose name the template cannot write (Grep's "-i") is left out.
    /// Errors: request, for a schema that says anything else, naming the tool.
    static Result<CallShapes> of(const Json &tools);
};

/// What ends a parameter, and a call behind its parameters.
inline constexpr std::string_view parameterEnd = "</parameter>", functionEnd = "</function>";

} // namespace cuda_agent::learn
