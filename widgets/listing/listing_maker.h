// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/listing_of.h"

#include <QObject>
#include <QString>

#include <map>
#include <stop_token>

namespace cuda_agent::widgets {

/// What to list: one kernel file of a plan candidate.
struct ListingWish {
    std::map<std::string, std::string>
        files;                ///< path in the workspace -> text, plan.json among them
    std::string source;       ///< "kernels/x.cu"; empty: the plan's first
    std::string architecture; ///< "sm_90"
    toolchain::Code code = toolchain::Code::sass;
    bool operator==(const ListingWish &) const = default;
};

/// What came of it. (A struct: signals carry no Result.)
struct MadeListing {
    std::vector<std::string> sources; ///< all kernel files of the plan
    toolchain::Listing listing;
    std::string text;   ///< of the source that was listed
    QString problem;    ///< why there is no listing, one line; empty: there is one
    double seconds = 0; ///< that it took
};

/// Compiles and lists on another thread, one wish at a time; a new one ends the one under way. GUI
/// thread. Its end stops what is under way without waiting for it.
class ListingMaker : public QObject {
    Q_OBJECT
  public:
    using QObject::QObject;
    ~ListingMaker() override { stop_.request_stop(); }

    void make(const ListingWish &wish);
    /// Nothing follows of what is under way.
    void stop();
    bool busy() const { return busy_; }

  signals:
    void made(const MadeListing &listing);

  private:
    std::stop_source stop_;
    int wishes_ = 0; ///< counts them: answers to older ones are not told
    bool busy_ = false;
};

} // namespace cuda_agent::widgets
