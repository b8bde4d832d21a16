// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QListWidget;

namespace cuda_agent::widgets {

/// What stands where sessions will be: samples, recent tasks and sessions, and how to begin.
class WelcomePage : public QWidget {
    Q_OBJECT
  public:
    explicit WelcomePage(QWidget *parent = nullptr);
    /// Reads recent files and samples again.
    void refresh();

  signals:
    void openWanted(const QString &path);
    void askTask();
    void askSession();

  private:
    QListWidget *list(const QString &name);
    QListWidget *samples_ = nullptr, *tasks_ = nullptr, *sessions_ = nullptr;
};

/// The sample tasks that come with the program.
QStringList sampleTasks();
/// Remembered paths that still exist, newest first. `key` is "recent/tasks" or "recent/sessions".
QStringList recentPaths(const QString &key);

} // namespace cuda_agent::widgets
