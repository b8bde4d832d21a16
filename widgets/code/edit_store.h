// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

#include <filesystem>
#include <map>

namespace cuda_agent::widgets {

/// The user's text of one file, and the version that it began from.
struct Edit {
    QString text;
    std::string base; ///< blob; empty for a file that was not in the log
    bool operator==(const Edit &) const = default;
};
using Edits = std::map<std::string, Edit>; ///< by path in the workspace

/// Keeps the unsaved edits of a session on the disk, so that they survive a crash. One small file a
/// session, outside of its folder (which may belong to somebody else). GUI thread.
class EditStore : public QObject {
    Q_OBJECT
  public:
    explicit EditStore(QObject *parent = nullptr);
    ~EditStore() override;

    /// What was kept for a session; empty when there is nothing or it cannot be read.
    static Edits load(const std::filesystem::path &session);
    static QString fileOf(const std::filesystem::path &session);

    /// Writes after a second without another call; no edits remove the file.
    void keep(const std::filesystem::path &session, Edits edits);
    /// Writes what waits.
    void flush();

  signals:
    void failed(const QString &text);

  private:
    std::filesystem::path session_;
    Edits edits_;
    bool waiting_ = false;
    QTimer delay_;
};

} // namespace cuda_agent::widgets
