// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/train_dialog.h"

#include "core/learn/run/run_files.h"
#include "widgets/base/theme.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QSettings>

namespace cuda_agent::widgets {

namespace {

const QString recipeKey = QStringLiteral("train/recipe");
const QString folderKey = QStringLiteral("train/folder");

bool holdsRun(const QString &folder) {
    return !folder.isEmpty() &&
           QFileInfo(QString::fromStdString(learn::runInfoFile(folder.toStdString()).string()))
               .isFile();
}

} // namespace

TrainDialog::TrainDialog(const QString &missing, QWidget *parent)
    : QDialog(parent), recipe_(new QLineEdit(this)), folder_(new QLineEdit(this)),
      note_(new QLabel(this)), buttons_(new QDialogButtonBox(this)), missing_(missing) {
    setObjectName(QStringLiteral("trainDialog"));
    setWindowTitle(tr("New Training Run"));
    const QSettings settings;
    recipe_->setObjectName(QStringLiteral("train.recipe"));
    recipe_->setText(settings.value(recipeKey).toString());
    recipe_->setPlaceholderText(tr("a recipe, such as tiny.toml"));
    folder_->setObjectName(QStringLiteral("train.folder"));
    folder_->setText(settings.value(folderKey).toString());
    folder_->setPlaceholderText(tr("where metrics, checkpoints and rollouts go"));
    note_->setObjectName(QStringLiteral("train.note"));
    note_->setTextFormat(Qt::PlainText);
    note_->setWordWrap(true);
    note_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    note_->setMinimumHeight(3 * fontMetrics().lineSpacing());
    note_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    const auto withButton = [this](QLineEdit *line, const QString &what, bool folder) {
        auto *row = new QWidget(this);
        auto *layout = new QHBoxLayout(row);
        layout->setContentsMargins(0, 0, 0, 0);
        auto *button = new QPushButton(tr("Choose…"), row);
        button->setAccessibleName(what);
        button->setAutoDefault(false);
        layout->addWidget(line, 1);
        layout->addWidget(button);
        connect(button, &QPushButton::clicked, this, [this, line, what, folder] {
            const QPointer<TrainDialog> self(this);
            const QString chosen = folder
                                       ? QFileDialog::getExistingDirectory(this, what, line->text())
                                       : QFileDialog::getOpenFileName(this, what, line->text(),
                                                                      tr("Recipes (*.toml)"));
            if (self && !chosen.isEmpty())
                line->setText(chosen);
        });
        connect(line, &QLineEdit::textChanged, this, &TrainDialog::look);
        return row;
    };
    auto *form = new QFormLayout;
    form->addRow(tr("&Recipe"), withButton(recipe_, tr("Choose a recipe"), false));
    form->addRow(tr("&Folder"), withButton(folder_, tr("Choose a folder"), true));
    buttons_->addButton(QDialogButtonBox::Ok);
    buttons_->addButton(QDialogButtonBox::Cancel);
    connect(buttons_, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons_, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto *layout = new QVBoxLayout(this);
    layout->addLayout(form);
    layout->addWidget(note_);
    layout->addWidget(buttons_);
    setMinimumWidth(560);
    look();
}

void TrainDialog::setRecipe(const QString &recipe) {
    recipe_->setText(recipe);
}

void TrainDialog::setFolder(const QString &folder) {
    folder_->setText(folder);
}

TrainRequest TrainDialog::request() const {
    const auto clean = [](const QLineEdit *line) {
        const QString text = line->text().trimmed();
        return text.isEmpty() ? text : QDir::cleanPath(QFileInfo(text).absoluteFilePath());
    };
    TrainRequest request{clean(recipe_), clean(folder_), false};
    request.resume = holdsRun(request.folder);
    return request;
}

void TrainDialog::look() {
    const TrainRequest wanted = request();
    QString text;
    bool good = false;
    if (!missing_.isEmpty()) {
        text = missing_;
    } else if (!QFileInfo(wanted.recipe).isFile()) {
        text = tr("Choose the recipe of the run.");
    } else if (wanted.folder.isEmpty()) {
        text = tr("Choose the folder of the run.");
    } else if (wanted.resume && learn::isHeld(wanted.folder.toStdString())) {
        text = tr("A trainer writes to this folder now. Stop it first, or choose another folder.");
    } else {
        good = true;
        text = wanted.resume ? tr("The folder holds a run: it is gone on with, from its last "
                                  "checkpoint.")
                             : tr("The run goes on when this window is closed; Stop ends it.");
    }
    setTextColor(note_, missing_.isEmpty() ? Theme::instance().colors().muted
                                           : Theme::instance().colors().bad);
    note_->setText(text);
    QPushButton *button = buttons_->button(QDialogButtonBox::Ok);
    button->setText(wanted.resume ? tr("Resume") : tr("Start"));
    button->setEnabled(good);
}

void TrainDialog::done(int result) {
    if (result == Accepted) {
        QSettings settings;
        settings.setValue(recipeKey, recipe_->text());
        settings.setValue(folderKey, folder_->text());
    }
    QDialog::done(result);
}

} // namespace cuda_agent::widgets
