// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/integers.h"
#include "core/base/result.h"

#include <string>

namespace cuda_agent::policy {

/// How one group becomes kernels.
///
/// - row: a team of threads (part of a block, a block, or several blocks) owns a row whose elements
///   lie next to each other.
/// - column: a thread owns `vector` neighbouring rows whose elements lie far apart.
/// - tile: a block takes a piece of two loops through shared memory; reads are neighbours along
///   the one, writes along the other.
/// - loopRow: one thread owns a whole row, or a part of one, in a plain loop.
/// - loopColumn: one thread owns a strip of neighbouring rows, in plain loops.
/// - product: a block computes a tile of a product in shared memory, in float arithmetic.
/// - tensor: the same on tensor cores, slices of it copied while others are multiplied.
/// - loopProduct: one thread computes a tile of a product in plain loops.
/// - order: a block puts the elements of rows, or of a part of one, in order in shared memory;
///   blocks of one thread merge them, others exchange them in the pairs of a network.
struct Schedule {
    enum class Form {
        row,
        column,
        loopRow,
        loopColumn,
        tile,
        product,
        tensor,
        loopProduct,
        order
    } form = Form::row;
    int threads = 256; ///< per block
    int team = 256;    ///< row: threads of one block that share a row
    int lanesY = 1;    ///< column: threads of a block that share a column
    int vector = 1;    ///< elements a load takes at once; column: rows a thread owns
    int unroll = 1;    ///< vectors in flight for each thread; order: steps of the network at once
    int across = 32;   ///< tile: elements along which reads are neighbours; products: columns
    int along = 32;    ///< tile: elements along which writes are neighbours; products: rows
    /// Parts of a row that different blocks (loop forms: threads) take; of products, parts of k.
    /// 0 for groups without reductions: as many as there are tiles.
    std::int64_t parts = 1;
    bool staged = false; ///< the row is kept in registers between its passes
    /// The blocks of a row wait for each other; else a second kernel combines.
    bool together = false;
    /// Blocks that a multiprocessor is made to hold at once, at the cost of registers: blocks that
    /// wait for each other all have to be running.
    int resident = 1;
    bool streaming = false; ///< stores marked as not to be read again soon
    /// Loop forms: elements of a tile; loopColumn: rows in a strip; products: steps of k in a
    /// slice; order: elements of a row in shared memory, a power of two but for one thread.
    int chunk = 2048;
    /// Products: rows and columns of the tile that a thread takes, or a warp; order: rows that a
    /// block takes, a power of two; column: rows that a thread owns one below the other, along the
    /// second innermost loop of rows, a multiple of them long; row, of maps: the same along
    /// sharedLoopOf().
    int rowsEach = 1;
    int columnsEach = 1; ///< where tensor cores multiply
    int stages = 2;      ///< tensor: slices in shared memory
    /// tensor: each float as two TF32 numbers, three products of them for one, so that the result
    /// is as exact as in float arithmetic.
    bool split = false;
    bool ofProduct() const {
        return form == Form::product || form == Form::tensor || form == Form::loopProduct;
    }

    /// Of schedules that keep rows: what the number of elements that all threads together take at
    /// once is the product of, none of it 1.
    std::vector<std::int64_t> keptAtOnce() const;
    /// Whether kernels call the number of vectors that a thread keeps of a row `held` and say what
    /// it comes of, see heldText(): what follows from a row's length need not be worked out.
    /// `openLength`: only an argument tells that, see Nest::openLength().
    bool namesHeld(bool openLength) const { return staged && unroll > 1 && !openLength; }
    /// "held = cdiv(449, 51 * 256)" of a row of 449, or without a rest "held = 32 * 24 / (32 * 4)";
    /// "449 < 128 * 4" or "512 = 128 * 4" where it is 1. `elements`: `number` as it is written.
    std::string heldText(const std::string &elements, std::int64_t number) const;

    /// "row-t256-m32-v4-u2-p1-s", the form that `fromText` reads.
    std::string text() const;
    /// The same without what `held` says, where kernels name that.
    std::string textBesideHeld(bool openLength) const;
    static Result<Schedule> fromText(std::string_view text);
    bool operator==(const Schedule &) const = default;
};

} // namespace cuda_agent::policy
