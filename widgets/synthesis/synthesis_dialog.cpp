// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/synthesis/synthesis_dialog.h"

#include "widgets/base/theme.h"
#include "widgets/synthesis/synthesis_follower.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QRegularExpressionValidator>
#include <QSpinBox>

namespace cuda_agent::widgets {

namespace {

const QString recipeKey = QStringLiteral("synthesis/recipe");
const QString folderKey = QStringLiteral("synthesis/folder");
const QString deviceKey = QStringLiteral("synthesis/device");
constexpr int mostTasks = 1'000'000;

} // namespace

SynthesisDialog::SynthesisDialog(QWidget *parent)
    : QDialog(parent), recipe_(new QLineEdit(this)), folder_(new QLineEdit(this)),
      seed_(new QLineEdit(this)), device_(new QComboBox(this)), tasks_(new QSpinBox(this)),
      note_(new QLabel(this)) {
    setObjectName(QStringLiteral("synthesisDialog"));
    setWindowTitle(tr("New Synthesis"));
    const QSettings settings;
    recipe_->setObjectName(QStringLiteral("synthesis.recipe"));
    recipe_->setText(settings.value(recipeKey).toString());
    recipe_->setPlaceholderText(tr("a recipe, such as set.toml"));
    folder_->setObjectName(QStringLiteral("synthesis.folder"));
    folder_->setText(settings.value(folderKey).toString());
    folder_->setPlaceholderText(tr("where the set and all that leads to it go"));
    device_->setObjectName(QStringLiteral("synthesis.device"));
    device_->addItem(tr("as the recipe says"), QString());
    for (const char *name : {"cuda", "cpu"})
        device_->addItem(QLatin1String(name), QLatin1String(name));
    device_->setCurrentIndex(
        std::max(device_->findData(settings.value(deviceKey, QString()).toString()), 0));
    seed_->setObjectName(QStringLiteral("synthesis.seed"));
    seed_->setPlaceholderText(tr("the recipe's"));
    seed_->setValidator(
        new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{0,18}")), seed_));
    tasks_->setObjectName(QStringLiteral("synthesis.tasks"));
    tasks_->setRange(0, mostTasks);
    tasks_->setSpecialValueText(tr("as many as the recipe says"));
    tasks_->setGroupSeparatorShown(true);
    tasks_->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    note_->setTextFormat(Qt::PlainText);
    note_->setWordWrap(true);
    note_->setMinimumHeight(2 * fontMetrics().lineSpacing());

    const auto withButton = [this](QLineEdit *edit, const QString &accessible,
                                   void (SynthesisDialog::*ask)()) {
        edit->setMinimumWidth(320);
        auto *button = new QPushButton(tr("Browse…"), this);
        button->setAccessibleName(accessible);
        button->setAutoDefault(false);
        connect(button, &QPushButton::clicked, this, ask);
        connect(edit, &QLineEdit::textChanged, this, &SynthesisDialog::check);
        auto *row = new QHBoxLayout;
        row->addWidget(edit, 1);
        row->addWidget(button);
        return row;
    };
    auto *form = new QFormLayout;
    const auto addRow = [&](const QString &text, QWidget *field, QLayout *layout) {
        auto *label = new QLabel(text, this);
        label->setBuddy(field);
        layout ? form->addRow(label, layout) : form->addRow(label, field);
    };
    addRow(tr("&Recipe"), recipe_,
           withButton(recipe_, tr("Choose a recipe"), &SynthesisDialog::askRecipe));
    addRow(tr("&Folder"), folder_,
           withButton(folder_, tr("Choose a folder"), &SynthesisDialog::askFolder));
    addRow(tr("&Device"), device_, nullptr);
    addRow(tr("&Seed"), seed_, nullptr);
    addRow(tr("&Tasks"), tasks_, nullptr);
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    start_ = buttons->addButton(tr("St&art"), QDialogButtonBox::AcceptRole);
    start_->setDefault(true);
    connect(buttons, &QDialogButtonBox::accepted, this, &SynthesisDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto *column = new QVBoxLayout(this);
    column->addLayout(form);
    column->addWidget(note_);
    column->addWidget(buttons);
    check();
}

SynthesisRequest SynthesisDialog::request() const {
    SynthesisRequest request;
    request.recipe = QFileInfo(recipe_->text().trimmed()).absoluteFilePath();
    request.folder = QDir::cleanPath(QFileInfo(folder_->text().trimmed()).absoluteFilePath());
    request.device = device_->currentData().toString();
    if (!seed_->text().isEmpty())
        request.seed = seed_->text().toLongLong();
    request.tasks = tasks_->value();
    return request;
}

/// Says what is missing, and what an existing folder means.
void SynthesisDialog::check() {
    const QString recipe = recipe_->text().trimmed(), folder = folder_->text().trimmed();
    const QFileInfo place(folder);
    QString problem, hint;
    if (recipe.isEmpty() || folder.isEmpty())
        hint = tr("Choose a recipe and a folder.");
    else if (!QFileInfo(recipe).isFile())
        problem = tr("There is no file %1.").arg(recipe);
    else if (place.exists() && !place.isDir())
        problem = tr("%1 is a file; choose a folder.").arg(folder);
    else if (SynthesisFollower::isSynthesis(folder))
        hint = tr("The synthesis in this folder is gone on with.");
    else if (place.isDir() && !QDir(folder).isEmpty())
        hint = tr("This folder holds other files; an empty one is better.");
    setTextColor(note_, problem.isEmpty() ? Theme::instance().colors().muted
                                          : Theme::instance().colors().bad);
    note_->setText(problem.isEmpty() ? hint : problem);
    start_->setEnabled(problem.isEmpty() && !recipe.isEmpty() && !folder.isEmpty());
}

void SynthesisDialog::accept() {
    check(); // files may be other ones by now
    if (!start_->isEnabled())
        return;
    QSettings settings;
    settings.setValue(recipeKey, recipe_->text().trimmed());
    settings.setValue(folderKey, folder_->text().trimmed());
    settings.setValue(deviceKey, device_->currentData());
    QDialog::accept();
}

void SynthesisDialog::askRecipe() {
    const QPointer<SynthesisDialog> self(this);
    const QString file = QFileDialog::getOpenFileName(this, tr("Choose a Recipe"),
                                                      QFileInfo(recipe_->text()).absolutePath(),
                                                      tr("Recipes (*.toml);;All files (*)"));
    if (self && !file.isEmpty())
        recipe_->setText(file);
}

void SynthesisDialog::askFolder() {
    const QPointer<SynthesisDialog> self(this);
    const QString folder =
        QFileDialog::getExistingDirectory(this, tr("Choose a Folder"), folder_->text());
    if (self && !folder.isEmpty())
        folder_->setText(folder);
}

} // namespace cuda_agent::widgets
