// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// A synthesis on the page: its folder, its process.
#include "widgets/tasks/data_page.h"

#include "widgets/synthesis/synthesis_dialog.h"
#include "widgets/synthesis/synthesis_follower.h"
#include "widgets/synthesis/synthesis_process.h"
#include "widgets/synthesis/synthesis_strip.h"

#include <QComboBox>
#include <QDir>
#include <QFileInfo>

namespace cuda_agent::widgets {

/// Empty: none is shown any more.
void DataPage::openSynthesis(const QString &folder) {
    synthesis_ = folder;
    viewChosen_ = false;
    wasRunning_ = false;
    setTime_ = {};
    view_->setVisible(!folder.isEmpty());
    strip_->setVisible(!folder.isEmpty());
    follower_->follow(folder);
    if (!folder.isEmpty())
        showSynthesis(!QFileInfo::exists(QDir(folder).filePath(QStringLiteral("set.jsonl.gz"))));
}

void DataPage::showSynthesis(bool candidates) {
    view_->setCurrentIndex(candidates ? 1 : 0);
    const QFileInfo file(QDir(synthesis_)
                             .filePath(candidates ? QStringLiteral("candidates.jsonl")
                                                  : QStringLiteral("set.jsonl.gz")));
    setTime_ = candidates ? QDateTime() : file.lastModified();
    if (file.isFile())
        model_->open(file.filePath());
    else
        model_->clear(); // until it is there
}

/// Reads again what came to be, or came to its end.
void DataPage::synthesisChanged() {
    if (synthesis_.isEmpty())
        return;
    const SynthesisFiles &files = follower_->files();
    const auto &progress = follower_->progress();
    const bool running = progress && progress->state == SynthesisProgress::State::running;
    const bool ended = wasRunning_ && progress && !running;
    wasRunning_ = running;
    const bool candidates = view_->currentIndex() == 1;
    if (files.set.isValid() && files.set != setTime_ && (!candidates || (ended && !viewChosen_)))
        showSynthesis(false);
    else if (candidates && files.candidates && (ended || model_->path().isEmpty()))
        showSynthesis(true);
}

void DataPage::processChanged() {
    const auto state = process_->state();
    stopSynthesis_->setEnabled(state == SynthesisProcess::State::running);
    newSynthesis_->setEnabled(state == SynthesisProcess::State::idle);
    const bool shown = isVisible() && synthesis_ == process_->request().folder;
    if (state == SynthesisProcess::State::idle && !process_->error().isEmpty() && !shown)
        emit problem(process_->error()); // else the strip says it
}

void DataPage::askSynthesis() {
    auto *dialog = new SynthesisDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this,
            [this, dialog] { startSynthesis(dialog->request()); });
    dialog->open();
}

bool DataPage::startSynthesis(const SynthesisRequest &request) {
    if (!process_->start(request)) {
        say(tr("A synthesis is running already, in %1. Stop it first.")
                .arg(process_->request().folder),
            true);
        return false;
    }
    openSet(request.folder);
    return true;
}

void DataPage::stopSynthesis() {
    process_->stop();
}

void DataPage::finishSynthesis() {
    process_->finish();
}

} // namespace cuda_agent::widgets
