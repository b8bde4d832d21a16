// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/skills/skills_dialog.h"

#include "widgets/base/theme.h"
#include "widgets/code/code_editor.h"
#include "widgets/skills/skills_model.h"

#include <QDesktopServices>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QInputDialog>
#include <QListWidget>
#include <QMessageBox>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QSplitter>
#include <QTreeView>
#include <QUrl>

namespace cuda_agent::widgets {

namespace {

QLabel *words(QWidget *parent, const char *name) {
    auto *label = new QLabel(parent);
    label->setObjectName(QLatin1String(name));
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText); // descriptions come from anybody
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setFocusPolicy(Qt::NoFocus);
    return label;
}

} // namespace

SkillsDialog::SkillsDialog(QWidget *parent) : QDialog(parent), model_(new SkillsModel(this)) {
    setObjectName(QStringLiteral("skillsDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Skills of the Agent"));
    makeLayout();
    connect(list_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            &SkillsDialog::showSkill);
    connect(files_, &QListWidget::currentRowChanged, this, &SkillsDialog::showFile);
    connect(&Theme::instance(), &Theme::changed, this, &SkillsDialog::applyTheme);
    applyTheme();
    resize(1060, 660);
    reload();
    list_->setFocus();
}

QPushButton *SkillsDialog::button(const QString &text, const char *name,
                                  void (SkillsDialog::*does)()) {
    auto *button = new QPushButton(text, this);
    button->setObjectName(QLatin1String(name));
    button->setAutoDefault(false);
    connect(button, &QPushButton::clicked, this, does);
    return button;
}

void SkillsDialog::makeLayout() {
    list_ = new QTreeView(this);
    list_->setModel(model_);
    list_->setRootIsDecorated(false);
    list_->setUniformRowHeights(true);
    list_->setAccessibleName(tr("Skills"));
    list_->setObjectName(QStringLiteral("skills.list"));
    new_ = button(tr("&New Skill…"), "skills.new", &SkillsDialog::askName);
    copy_ = button(tr("&Copy to Mine"), "skills.copy", &SkillsDialog::copySkill);
    copy_->setToolTip(tr("A skill of yours with the same name replaces the built-in one"));
    folder_ = new QPushButton(tr("Show &Folder"), this);
    folder_->setAutoDefault(false);
    connect(folder_, &QPushButton::clicked, this, [this] {
        if (const skills::Skill *skill = model_->skill(list_->currentIndex().row()))
            QDesktopServices::openUrl(
                QUrl::fromLocalFile(QString::fromStdString(skill->folder.string())));
    });
    reload_ = button(tr("Read &Again"), "skills.reload", &SkillsDialog::reload);
    auto *left = new QWidget(this);
    auto *leftColumn = new QVBoxLayout(left);
    leftColumn->setContentsMargins(0, 0, 0, 0);
    leftColumn->addWidget(list_, 1);
    auto *row = new QHBoxLayout;
    row->addWidget(new_);
    row->addWidget(copy_);
    leftColumn->addLayout(row);
    row = new QHBoxLayout;
    row->addWidget(folder_);
    row->addWidget(reload_);
    leftColumn->addLayout(row);

    name_ = words(this, "skills.name");
    QFont strong = name_->font();
    strong.setBold(true);
    name_->setFont(strong);
    about_ = words(this, "skills.about");
    problems_ = words(this, "skills.problems");
    problems_->setAccessibleName(tr("Problems"));
    files_ = new QListWidget(this);
    files_->setAccessibleName(tr("Files of the skill"));
    files_->setObjectName(QStringLiteral("skills.files"));
    editorPlace_ = new QWidget(this);
    editorLayout_ = new QVBoxLayout(editorPlace_);
    editorLayout_->setContentsMargins(0, 0, 0, 0);
    auto *fileSplit = new QSplitter(Qt::Horizontal, this);
    fileSplit->addWidget(files_);
    fileSplit->addWidget(editorPlace_);
    fileSplit->setStretchFactor(1, 1);
    fileSplit->setSizes({220, 480});
    fileSplit->setChildrenCollapsible(false);
    auto *right = new QWidget(this);
    auto *rightColumn = new QVBoxLayout(right);
    rightColumn->setContentsMargins(0, 0, 0, 0);
    for (QWidget *each : std::initializer_list<QWidget *>{name_, about_, problems_})
        rightColumn->addWidget(each);
    rightColumn->addWidget(fileSplit, 1);

    auto *split = new QSplitter(Qt::Horizontal, this);
    split->addWidget(left);
    split->addWidget(right);
    split->setStretchFactor(1, 1);
    split->setSizes({340, 700});
    split->setChildrenCollapsible(false);
    message_ = words(this, "skills.message");
    save_ = button(tr("&Save File"), "skills.save", &SkillsDialog::save);
    revert_ = button(tr("&Discard Changes"), "skills.revert", &SkillsDialog::revert);
    auto *close = button(tr("C&lose"), "skills.close", &SkillsDialog::reject);
    auto *bottom = new QHBoxLayout;
    bottom->addWidget(message_, 1);
    bottom->addWidget(revert_);
    bottom->addWidget(save_);
    bottom->addWidget(close);
    auto *column = new QVBoxLayout(this);
    column->addWidget(split, 1);
    column->addLayout(bottom);
    auto *saveKey = new QAction(this);
    saveKey->setShortcut(QKeySequence::Save);
    connect(saveKey, &QAction::triggered, this, &SkillsDialog::save);
    addAction(saveKey);
}

void SkillsDialog::applyTheme() {
    const Colors &colors = Theme::instance().colors();
    setTextColor(problems_, colors.bad);
    setTextColor(about_, colors.muted);
}

void SkillsDialog::say(const QString &text) {
    message_->setText(text);
}

void SkillsDialog::reload() {
    auto library = SkillLibrary::load();
    if (!library)
        return say(QString::fromStdString(library.error().message));
    const Place before = shown_;
    {
        const QScopedValueRollback quiet(showing_, true);
        model_->setLibrary(std::move(*library));
    }
    for (int column : {SkillsModel::NameColumn, SkillsModel::FromColumn})
        list_->resizeColumnToContents(column);
    const int row = std::max(0, model_->rowOf(before.first));
    list_->setCurrentIndex(model_->index(row, 0));
    showSkill();
    for (int i = 0; i < files_->count(); ++i)
        if (files_->item(i)->text().toStdString() == before.second)
            files_->setCurrentRow(i);
}

bool SkillsDialog::select(const std::string &name) {
    int found = -1;
    for (int row = 0; row < model_->rowCount(); ++row)
        if (model_->skill(row)->name == name)
            found = row; // one with problems stands below the one in use: it wants mending
    if (found >= 0)
        list_->setCurrentIndex(model_->index(found, 0));
    return found >= 0;
}

void SkillsDialog::showSkill() {
    if (showing_)
        return;
    const skills::Skill *skill = model_->skill(list_->currentIndex().row());
    {
        const QScopedValueRollback quiet(showing_, true);
        files_->clear();
        if (skill)
            for (const std::string &file : skillFiles(*skill))
                files_->addItem(QString::fromStdString(file));
        for (int i = 0; i < files_->count(); ++i)
            files_->item(i)->setToolTip(files_->item(i)->text());
    }
    name_->setText(skill ? QString::fromStdString(skill->name) : QString());
    QStringList about;
    QStringList problems;
    if (skill) {
        about << QString::fromStdString(skill->description) << QString::fromStdString(skill->note)
              << QString::fromStdString(skill->folder.string());
        about.removeAll(QString());
        for (const std::string &problem : skill->problems)
            problems += QString::fromStdString(problem);
    }
    about_->setText(about.join(QLatin1Char('\n')));
    problems_->setText(problems.join(QLatin1Char('\n')));
    problems_->setVisible(!problems.isEmpty());
    if (files_->count() > 0)
        files_->setCurrentRow(0);
    else
        showFile();
}

void SkillsDialog::showFile() {
    if (showing_)
        return;
    const skills::Skill *skill = model_->skill(list_->currentIndex().row());
    const QListWidgetItem *item = files_->currentItem();
    delete editor_;
    editor_ = nullptr;
    shown_ = {};
    say(QString());
    if (skill && item) {
        const std::string file = item->text().toStdString();
        shown_ = {skill->folder, file};
        const auto text = readSkillFile(*skill, file);
        if (!text)
            say(QString::fromStdString(text.error().message));
        editor_ = new CodeEditor(item->text(), editorPlace_);
        editor_->setAccessibleName(tr("Text of %1").arg(item->text()));
        editorLayout_->addWidget(editor_);
        const auto draft = drafts_.find(shown_);
        editor_->showText(draft != drafts_.end() ? draft->second
                          : text                 ? QString::fromStdString(*text)
                                                 : QString());
        editor_->setReadOnly(!text || !model_->library().editable(*skill));
        connect(editor_, &CodeEditor::textChanged, this, &SkillsDialog::textTyped);
    }
    showState();
}

void SkillsDialog::showState() {
    const skills::Skill *skill = model_->skill(list_->currentIndex().row());
    const bool draft = drafts_.contains(shown_);
    copy_->setEnabled(skill && !model_->library().editable(*skill));
    folder_->setEnabled(skill != nullptr);
    save_->setEnabled(draft);
    revert_->setEnabled(draft);
    setWindowModified(!drafts_.empty());
    setWindowTitle(tr("Skills of the Agent") + QStringLiteral("[*]"));
}

void SkillsDialog::textTyped() {
    if (editor_->isReadOnly())
        return;
    drafts_[shown_] = editor_->text();
    showState();
}

bool SkillsDialog::write(const Place &place, const QString &text) {
    skills::Skill skill;
    skill.folder = place.first;
    const auto written = writeSkillFile(skill, place.second, text.toStdString());
    if (!written)
        say(QString::fromStdString(written.error().message));
    return written.has_value();
}

void SkillsDialog::save() {
    const auto draft = drafts_.find(shown_);
    if (draft == drafts_.end() || !write(shown_, draft->second))
        return;
    drafts_.erase(draft);
    int line = 0;
    int column = 0;
    editor_->getCursorPosition(&line, &column);
    const bool typing = editor_->hasFocus();
    reload(); // its problems may be others now
    if (editor_) {
        editor_->setCursorPosition(line, column);
        if (typing)
            editor_->setFocus();
    }
    say(tr("Saved. Sessions that start from now on read it."));
}

bool SkillsDialog::saveAll() {
    while (!drafts_.empty()) {
        if (!write(drafts_.begin()->first, drafts_.begin()->second))
            return false;
        drafts_.erase(drafts_.begin());
    }
    reload();
    return true;
}

void SkillsDialog::revert() {
    drafts_.erase(shown_);
    showFile();
}

void SkillsDialog::copySkill() {
    const skills::Skill *skill = model_->skill(list_->currentIndex().row());
    if (!skill)
        return;
    const std::filesystem::path place = model_->library().userFolder() / skill->folder.filename();
    const auto copied = model_->library().copyToUser(*skill);
    if (!copied)
        return say(QString::fromStdString(copied.error().message));
    shown_.first = place;
    reload();
    say(tr("This copy is yours to edit, and replaces the built-in skill."));
}

void SkillsDialog::askName() {
    auto *ask = new QInputDialog(this);
    ask->setObjectName(QStringLiteral("skills.askName"));
    ask->setAttribute(Qt::WA_DeleteOnClose);
    ask->setWindowTitle(tr("New Skill"));
    ask->setLabelText(tr("Name, in small letters, digits and hyphens:"));
    connect(ask, &QInputDialog::textValueSelected, this, [this](const QString &name) {
        if (const auto made = createSkill(name); !made)
            say(QString::fromStdString(made.error().message));
    });
    ask->open();
}

Result<void> SkillsDialog::createSkill(const QString &name) {
    const std::string wanted = name.trimmed().toStdString();
    CUDA_AGENT_TRY(model_->library().create(wanted));
    shown_ = {model_->library().userFolder() / wanted, {}};
    reload();
    if (editor_)
        editor_->setFocus();
    return {};
}

void SkillsDialog::reject() {
    if (drafts_.empty())
        return QDialog::reject();
    auto *ask = new QMessageBox(
        QMessageBox::Question, windowTitle().remove(QStringLiteral("[*]")),
        tr("Save what you have changed in %n file(s)?", nullptr, static_cast<int>(drafts_.size())),
        QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    ask->setAttribute(Qt::WA_DeleteOnClose);
    connect(ask, &QMessageBox::finished, this, [this](int answer) {
        if (answer == QMessageBox::Discard)
            drafts_.clear();
        if (answer == QMessageBox::Discard || (answer == QMessageBox::Save && saveAll()))
            QDialog::reject();
    });
    ask->open();
}

} // namespace cuda_agent::widgets
