// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

/// What the engineer looks into: checks of the files as they were edited, profiles and listings of
/// the shown turn's candidate.
#include "widgets/shell/session_view.h"

#include "widgets/attempts/attempts_model.h"
#include "widgets/bridge/attempts_runner.h"
#include "widgets/code/code_pane.h"
#include "widgets/listing/listing_pane.h"
#include "widgets/profile/profile_pane.h"
#include "widgets/shell/message_bar.h"

#include <QDockWidget>

#include <utility>

namespace cuda_agent::widgets {

bool SessionView::canCheck() const {
    return !loading_ && !gettingReady_ && checking_.empty() && !attemptsRunner_->busy() &&
           runner_->state() != SessionRunner::State::stopping &&
           (code_->hasEdits() || !document_->index().state().files.empty());
}

void SessionView::check(bool full) {
    if (!canCheck())
        return;
    if (runner_->busy())
        checkNow(full);
    else
        whenReady([this, full] { checkNow(full); });
}

void SessionView::checkNow(bool full) {
    if (!canCheck())
        return;
    checking_ = code_->edits();
    if (checking_.empty()) // the files as they are: mark that one is under way
        checking_.emplace(std::string(), std::string());
    auto files = checking_;
    files.erase(std::string());
    if (!runner_->busy())
        start(SessionRunner::First::rest);
    if (runner_->busy()) {
        files.merge(std::exchange(putBack_, {}));
        runner_->check(files, full);
    } else {
        checking_.clear();
    }
    update();
}

// --- profiles ---------------------------------------------------------------------------------

void SessionView::makeProfileParts() {
    profile_ = new ProfilePane(document_, this);
    addPane("profile", tr("Kernel Profile"), profile_, Qt::RightDockWidgetArea);
    connect(profile_, &ProfilePane::locationActivated, code_, &CodePane::goTo);
    connect(profile_, &ProfilePane::profileRequested, this, &SessionView::profile);
    connect(profile_, &ProfilePane::stopRequested, this, &SessionView::stop);
    connect(document_, &SessionDocument::shownTurnChanged, this, &SessionView::showProfiling);
    connect(runner_, &SessionRunner::progress, this, [this](const QString &what) {
        if (profiling_)
            profile_->setUnderWay(true, what);
    });
}

void SessionView::makeListingParts() {
    listing_ = new ListingPane(
        document_, [this] { return shownFiles(); }, this);
    auto *dock = addPane("listing", tr("Machine Code"), listing_, Qt::RightDockWidgetArea);
    // At once: docks above each other want more height than a small window has.
    tabifyDockWidget(findChild<QDockWidget *>(QStringLiteral("dock.profile")), dock);
    connect(code_, &CodePane::editsChanged, listing_, &ListingPane::later);
    connect(code_, &CodePane::lineChanged, listing_, &ListingPane::showLine);
    connect(listing_, &ListingPane::lineChosen, code_, &CodePane::reveal);
    connect(listing_, &ListingPane::locationActivated, code_, &CodePane::goTo);
}

/// The texts of the shown turn's candidate; of the newest as the engineer has edited them.
std::map<std::string, std::string> SessionView::shownFiles() const {
    std::map<std::string, std::string> files;
    const SessionIndex &index = document_->index();
    const int turn = document_->shownTurn();
    if (turn == index.turnAt(index.size()))
        files = code_->edits();
    for (const auto &[path, version] : index.filesAfterTurn(turn, document_->cursor()))
        if (!files.contains(path))
            if (const auto text = document_->fileText(version))
                files[path] = text->toStdString();
    return files;
}

/// Why the shown turn's candidate cannot be profiled now; empty when it can.
QString SessionView::profilingProblem() const {
    const auto files =
        document_->index().filesAfterTurn(document_->shownTurn(), document_->cursor());
    if (files.empty() && !code_->hasEdits())
        return tr("There is no candidate to profile yet");
    if (!files.contains("plan.json") && !code_->edits().contains("plan.json"))
        return tr("Only plan candidates are profiled: a module launches on its own in PyTorch's "
                  "process");
    return canCheck() ? QString() : tr("The engine is at other work");
}

void SessionView::showProfiling() {
    const QString problem = profilingProblem();
    profile_->setProfilingAllowed(problem.isEmpty(), problem);
    profile_->setUnderWay(profiling_, profiling_ ? busyWith_ : QString());
}

void SessionView::profile() {
    if (!profilingProblem().isEmpty())
        return;
    const int turn = document_->shownTurn();
    if (runner_->busy())
        profileNow(turn);
    else
        whenReady([this, turn] { profileNow(turn); });
}

/// The candidate of a turn; that of the newest with what the engineer edited. Files of an older one
/// are written for the profile and put back after it.
void SessionView::profileNow(int turn) {
    if (!canCheck())
        return;
    const SessionIndex &index = document_->index();
    const bool newest = turn == index.turnAt(index.size());
    std::map<std::string, std::string> before, after;
    checking_.clear();
    if (newest) {
        before = checking_ = code_->edits();
        before.insert(putBack_.begin(), putBack_.end());
    } else if (const auto read = filesOfOlder(turn, before, after); !read) {
        messages_->say(QString::fromStdString(read.error().message), MessageBar::Kind::error);
        return;
    }
    if (checking_.empty())
        checking_.emplace(std::string(), std::string());
    profiling_ = true;
    if (!runner_->busy())
        start(SessionRunner::First::rest);
    if (runner_->busy()) {
        runner_->profile(before, after);
        if (!newest) {
            putBack_ = after;            // should it be stopped before it gets there
            document_->selectTurn(turn); // it stays in view while its profile is made
        }
    } else {
        checking_.clear();
        profiling_ = false;
    }
    if (auto *dock = findChild<QDockWidget *>(QStringLiteral("dock.profile"))) {
        dock->show();
        dock->raise();
    }
    update();
}

/// What must be written so that the workspace is as it was after `turn`, and what then puts it
/// back. Errors: as SessionDocument::fileText.
Result<void> SessionView::filesOfOlder(int turn, std::map<std::string, std::string> &before,
                                       std::map<std::string, std::string> &after) const {
    const SessionIndex &index = document_->index();
    const auto now = index.files(index.size());
    for (const auto &[path, version] : index.filesAfterTurn(turn, index.size())) {
        const auto newest = now.find(path);
        const auto due = putBack_.find(path);
        if (due == putBack_.end() && newest != now.end() && newest->second.blob == version.blob)
            continue;
        CUDA_AGENT_ASSIGN(text, document_->fileText(version));
        before[path] = text.toStdString();
        if (due != putBack_.end())
            after[path] = due->second;
        if (newest == now.end() || due != putBack_.end())
            continue;
        CUDA_AGENT_ASSIGN(own, document_->fileText(newest->second));
        after[path] = own.toStdString();
    }
    after.insert(putBack_.begin(), putBack_.end());
    return {};
}

void SessionView::takeEvents(const std::vector<session::Event> &events) {
    // What was read from the file meanwhile does not come twice.
    std::vector<session::Event> fresh;
    for (const session::Event &event : events)
        if (static_cast<std::size_t>(event.sequence) >= document_->index().size() + fresh.size())
            fresh.push_back(event);
    document_->append(fresh);
    attempts_->append(shownAttempt_, fresh);
    for (const session::Event &event : events) {
        const TurnRange *turn = document_->index().turn(event.turn, document_->index().size());
        if (event.type != session::EventType::turnEnded || !turn || !turn->engineer ||
            !document_->index().lastIn(event.turn, session::EventType::action,
                                       document_->index().size()))
            continue; // the policy's, or a message
        auto files = checking_;
        files.erase(std::string());
        checking_.clear();
        if (std::exchange(profiling_, false))
            putBack_.clear();
        if (code_->edits() == files || code_->edits().empty())
            code_->discardEdits(); // they are in the log now
    }
    update();
}

} // namespace cuda_agent::widgets
