// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/trace_markdown.h"

#include "widgets/base/text.h"

#include <QElapsedTimer>

#include <algorithm>

namespace cuda_agent::widgets {

namespace {

constexpr qint64 sliceMs = 8;

/// A fence that the text itself does not contain.
std::string fenceFor(std::string_view text) {
    std::size_t longest = 2, run = 0;
    for (const char c : text) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    return std::string(longest + 1, '`');
}

std::string fenced(std::string_view text, std::string_view language) {
    const std::string fence = fenceFor(text);
    std::string block = fence + std::string(language) + '\n' + std::string(text);
    if (!text.empty() && text.back() != '\n')
        block += '\n';
    return block + fence + "\n\n";
}

std::string_view languageOf(const Card &card) {
    if (card.kind != CardKind::action)
        return "";
    if (!card.content || card.title.endsWith(QLatin1String(".json")))
        return "json";
    for (const char *ending : {".cu", ".cuh", ".cpp", ".h"})
        if (card.title.endsWith(QLatin1String(ending)))
            return "cuda";
    return card.title.endsWith(QLatin1String(".py")) ? "python" : "";
}

} // namespace

std::string markdownOf(const Card &card) {
    QStringList facts;
    if (!card.details.isEmpty())
        facts += card.details;
    if (card.seconds >= 0)
        facts += timeText(card.seconds);
    for (const Chip &chip : card.chips)
        facts += chip.text;
    if (!card.usage.isEmpty())
        facts += card.usage;
    const std::string title = card.title.toStdString();
    const std::string line = facts.join(QStringLiteral(" · ")).toStdString();
    const std::string_view body = card.body();

    std::string text;
    if (card.kind == CardKind::turn)
        text = "## " + title + "\n\n";
    else if (card.kind == CardKind::session)
        text = "# " + title + "\n\n";
    else
        text = "**" + title + "**";
    const bool head = card.kind == CardKind::turn || card.kind == CardKind::session;
    if (!line.empty())
        text += head ? line + "\n\n" : " (" + line + ")";
    if (!head)
        text += "\n\n";
    if (body.empty())
        return text;
    if (card.code)
        return text + fenced(body, languageOf(card));
    if (card.kind == CardKind::thought || card.kind == CardKind::note || card.kind == CardKind::end)
        return text + std::string(body) + "\n\n";
    // Lines of facts: a list keeps them apart.
    for (std::size_t at = 0; at < body.size();) {
        const std::size_t end = std::min(body.find('\n', at), body.size());
        text += "- " + std::string(body.substr(at, end - at)) + "\n";
        at = end + 1;
    }
    return text + "\n";
}

std::string markdownOf(const TraceModel &model, int first, int end) {
    std::string text;
    for (int row = std::max(first, 0); row < end; ++row)
        if (model.kindOf(row) != CardKind::pending)
            text += markdownOf(model.card(row));
    return text;
}

MarkdownJob::MarkdownJob(TraceModel *model, QObject *parent) : QObject(parent), model_(model) {
    timer_.setInterval(0);
    connect(&timer_, &QTimer::timeout, this, &MarkdownJob::work);
    connect(model, &QAbstractItemModel::modelReset, &timer_, &QTimer::stop);
}

void MarkdownJob::start() {
    row_ = 0;
    end_ = model_->rowCount();
    text_.clear();
    timer_.start();
}

void MarkdownJob::work() {
    QElapsedTimer clock;
    clock.start();
    end_ = std::min(end_, model_->rowCount()); // the cursor may have gone back
    while (row_ < end_ && clock.elapsed() < sliceMs) {
        text_ += QString::fromStdString(markdownOf(*model_, row_, row_ + 1));
        ++row_;
    }
    if (row_ < end_)
        return;
    timer_.stop();
    const QString text = std::exchange(text_, {});
    emit finished(text);
}

} // namespace cuda_agent::widgets
