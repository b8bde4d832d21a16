// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/shell/welcome_page.h"

#include "core/base/paths.h"

#include <QDir>
#include <QFileInfo>
#include <QListWidget>
#include <QPushButton>

namespace cuda_agent::widgets {

QStringList sampleTasks() {
    const QDir folder(QString::fromStdString((shareDir() / "tasks").string()));
    QStringList result;
    for (const QString &name : folder.entryList({QStringLiteral("*.py")}, QDir::Files, QDir::Name))
        result += folder.filePath(name);
    return result;
}

QStringList recentPaths(const QString &key) {
    QStringList result;
    for (const QString &path : QSettings().value(key).toStringList())
        if (QFileInfo::exists(path))
            result += path;
    return result;
}

WelcomePage::WelcomePage(QWidget *parent) : QWidget(parent) {
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(40, 28, 40, 28);
    auto *title = new QLabel(tr("CUDA Agent Workbench"), this);
    QFont large = title->font();
    large.setPointSizeF(large.pointSizeF() * 1.7);
    large.setBold(true);
    title->setFont(large);
    auto *text = new QLabel(tr("Open a PyTorch task, a Python file with Model, get_inputs() and "
                               "get_init_inputs(), and press Run: the workbench looks for a kernel "
                               "that is verified and faster. Files and session folders can also be "
                               "dropped here."),
                            this);
    text->setWordWrap(true);
    auto *buttons = new QHBoxLayout;
    auto *openTask = new QPushButton(tr("Open Task…"), this);
    auto *openSession = new QPushButton(tr("Open Session…"), this);
    buttons->addWidget(openTask);
    buttons->addWidget(openSession);
    buttons->addStretch(1);
    column->addWidget(title);
    column->addWidget(text);
    column->addLayout(buttons);
    auto *lists = new QHBoxLayout;
    const auto add = [&](const QString &heading, QListWidget *&list) {
        auto *box = new QVBoxLayout;
        auto *label = new QLabel(heading, this);
        QFont bold = label->font();
        bold.setBold(true);
        label->setFont(bold);
        list = this->list(heading);
        label->setBuddy(list);
        box->addWidget(label);
        box->addWidget(list, 1);
        lists->addLayout(box, 1);
    };
    add(tr("Sample tasks"), samples_);
    add(tr("Recent tasks"), tasks_);
    add(tr("Recent sessions"), sessions_);
    column->addSpacing(12);
    column->addLayout(lists, 1);
    connect(openTask, &QPushButton::clicked, this, &WelcomePage::askTask);
    connect(openSession, &QPushButton::clicked, this, &WelcomePage::askSession);
    refresh();
}

QListWidget *WelcomePage::list(const QString &name) {
    auto *list = new QListWidget(this);
    list->setAccessibleName(name);
    connect(list, &QListWidget::itemActivated, this, [this](const QListWidgetItem *item) {
        if (const QString path = item->data(Qt::UserRole).toString(); !path.isEmpty())
            Q_EMIT openWanted(path);
    });
    return list;
}

void WelcomePage::refresh() {
    const auto fill = [](QListWidget *list, const QStringList &paths, const QString &empty) {
        list->clear();
        for (const QString &path : paths) {
            const QFileInfo info(path);
            auto *item =
                new QListWidgetItem(info.isDir() ? info.fileName() : info.completeBaseName(), list);
            item->setData(Qt::UserRole, path);
            item->setToolTip(QDir::toNativeSeparators(path));
        }
        if (paths.isEmpty()) {
            auto *item = new QListWidgetItem(empty, list);
            item->setFlags(Qt::NoItemFlags);
        }
    };
    fill(samples_, sampleTasks(), tr("None are installed"));
    fill(tasks_, recentPaths(QStringLiteral("recent/tasks")), tr("None yet"));
    fill(sessions_, recentPaths(QStringLiteral("recent/sessions")), tr("None yet"));
}

} // namespace cuda_agent::widgets
