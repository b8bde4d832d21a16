// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <QDialog>

#include <filesystem>
#include <map>
#include <string>

class QLabel;
class QListWidget;
class QPushButton;
class QTreeView;
class QVBoxLayout;

namespace cuda_agent::widgets {

class CodeEditor;
class SkillsModel;

/// The agent's skills: read all, write one's own. What is typed stays in the dialog until it is
/// saved, whatever is looked at meanwhile. GUI thread.
class SkillsDialog : public QDialog {
    Q_OBJECT
  public:
    explicit SkillsDialog(QWidget *parent = nullptr);

    SkillsModel &model() { return *model_; }
    CodeEditor *editor() const { return editor_; }
    /// False when there is no such skill.
    bool select(const std::string &name);
    /// Errors: request, machine; nothing is changed then.
    Result<void> createSkill(const QString &name);
    bool unsaved() const { return !drafts_.empty(); }

  public slots:
    /// Reads the folders again; what is typed stays.
    void reload();
    void copySkill();
    /// What is typed into the file that is shown, or into any.
    void save();
    bool saveAll();
    /// Asks what to do with what is not saved.
    void reject() override;

  private:
    using Place = std::pair<std::filesystem::path, std::string>; ///< skill's folder, file
    void makeLayout();
    void askName();
    void showSkill();
    void showFile();
    void showState();
    void textTyped();
    void revert();
    void say(const QString &text);
    bool write(const Place &place, const QString &text);
    void applyTheme();
    QPushButton *button(const QString &text, const char *name, void (SkillsDialog::*does)());

    SkillsModel *model_;
    std::map<Place, QString> drafts_;
    Place shown_;
    bool showing_ = false;
    QTreeView *list_ = nullptr;
    QListWidget *files_ = nullptr;
    QLabel *name_ = nullptr, *about_ = nullptr, *problems_ = nullptr, *message_ = nullptr;
    QWidget *editorPlace_ = nullptr;
    QVBoxLayout *editorLayout_ = nullptr;
    CodeEditor *editor_ = nullptr;
    QPushButton *new_ = nullptr, *copy_ = nullptr, *folder_ = nullptr, *reload_ = nullptr;
    QPushButton *save_ = nullptr, *revert_ = nullptr;
};

} // namespace cuda_agent::widgets
