// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/transformer/transformer_form.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"

#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QFutureWatcher>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QtConcurrent>

namespace cuda_agent::widgets {

namespace fs = std::filesystem;

namespace {

constexpr double usualTemperature = -0.05; ///< shown in words

template <typename Field>
Field *named(Field *field, const char *object, const QString &name) {
    field->setObjectName(QLatin1String(object));
    field->setAccessibleName(name);
    return field;
}

QString shown(const fs::path &path) {
    return QDir::toNativeSeparators(QString::fromStdString(path.string()));
}

} // namespace

QString weightsProblem(const Result<policy::Weights> &found, const fs::path &folder, bool named) {
    if (found)
        return {};
    std::error_code error;
    if (fs::exists(folder, error))
        return QString::fromStdString(found.error().message);
    return named ? TransformerForm::tr("There is no folder %1.").arg(shown(folder))
                 : TransformerForm::tr("There are no weights in %1, the default. Choose a folder, "
                                       "such as actor/ in a checkpoint of a training run.")
                       .arg(shown(folder));
}

TransformerForm::TransformerForm(const agent::TransformerConfig &config, Fields fields,
                                 QWidget *parent)
    : QWidget(parent),
      weights_(named(new QLineEdit(this), "transformer.weights", tr("Folder of the weights"))),
      found_(named(new QLabel(this), "transformer.found", tr("The weights"))) {
    weights_->setText(shown(config.weights));
    weights_->setPlaceholderText(tr("the default"));
    weights_->setClearButtonEnabled(true);
    weights_->setToolTip(tr("A folder with config.json, model.safetensors and tokenizer.json, such "
                            "as actor/ in a checkpoint of a training run. Empty: "
                            "$CUDA_AGENT_WEIGHTS, else the weights that came with the program"));
    auto *choose = named(new QPushButton(tr("C&hoose…"), this), "transformer.choose",
                         tr("Choose the folder of the weights"));
    choose->setAutoDefault(false);
    found_->setWordWrap(true);
    found_->setTextFormat(Qt::PlainText);
    found_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true); // a form gives words no more than their guess otherwise
    found_->setSizePolicy(policy);
    found_->setMinimumHeight(4 * fontMetrics().lineSpacing()); // its words change
    found_->setAlignment(Qt::AlignTop | Qt::AlignLeft);

    auto *form = new QFormLayout(this);
    form->setContentsMargins(0, 0, 0, 0);
    form->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);
    auto *row = new QHBoxLayout;
    row->addWidget(weights_, 1);
    row->addWidget(choose);
    form->addRow(tr("&Weights:"), row);
    qobject_cast<QLabel *>(form->labelForField(row))->setBuddy(weights_);
    form->addRow(QString(), found_);
    if (fields == Fields::all)
        addDrawing(config, form);

    connect(choose, &QPushButton::clicked, this, &TransformerForm::choose);
    connect(weights_, &QLineEdit::editingFinished, this, &TransformerForm::look);
    connect(&Theme::instance(), &Theme::changed, this, &TransformerForm::applyTheme);
    look();
}

void TransformerForm::addDrawing(const agent::TransformerConfig &config, QFormLayout *form) {
    temperature_ = named(new QDoubleSpinBox(this), "transformer.temperature", tr("Temperature"));
    temperature_->setRange(usualTemperature, 10);
    temperature_->setSingleStep(0.05);
    temperature_->setSpecialValueText(tr("0, from the second attempt on 1"));
    temperature_->setValue(config.temperature.value_or(usualTemperature));
    temperature_->setToolTip(tr("How freely the model writes; 0: always the likeliest token"));
    topP_ = named(new QDoubleSpinBox(this), "transformer.topP", tr("Top-p"));
    topP_->setRange(0.01, 1);
    topP_->setSingleStep(0.05);
    topP_->setToolTip(tr("Tokens are among the likeliest that make this probability together"));
    topP_->setValue(config.topP.value_or(policy::Drawing().topP));
    longestTurn_ = named(new QSpinBox(this), "transformer.longestTurn", tr("Longest turn"));
    longestTurn_->setRange(1, 1'000'000);
    longestTurn_->setSingleStep(512);
    longestTurn_->setGroupSeparatorShown(true);
    longestTurn_->setSuffix(tr(" tokens"));
    longestTurn_->setToolTip(tr("Tokens that the model writes in a turn at most"));
    longestTurn_->setValue(static_cast<int>(std::clamp<std::int64_t>(
        config.longestTurn.value_or(policy::Drawing().longestTurn), 1, 1'000'000)));
    form->addRow(tr("&Temperature:"), temperature_);
    form->addRow(tr("Top-&p:"), topP_);
    form->addRow(tr("&Longest turn:"), longestTurn_);
}

agent::TransformerConfig TransformerForm::config() const {
    agent::TransformerConfig config;
    config.weights = QDir::fromNativeSeparators(weights_->text().trimmed()).toStdString();
    if (!temperature_)
        return config;
    const policy::Drawing usual;
    if (temperature_->value() > usualTemperature / 2)
        config.temperature = std::max(0.0, temperature_->value());
    if (topP_->value() < usual.topP)
        config.topP = topP_->value();
    if (longestTurn_->value() != usual.longestTurn)
        config.longestTurn = longestTurn_->value();
    return config;
}

void TransformerForm::restoreDefaults() {
    weights_->clear();
    if (temperature_) {
        const policy::Drawing usual;
        temperature_->setValue(usualTemperature);
        topP_->setValue(usual.topP);
        longestTurn_->setValue(static_cast<int>(usual.longestTurn));
    }
    look();
}

void TransformerForm::choose() {
    auto *ask = new QFileDialog(this, tr("Folder of the Weights"), weights_->text());
    ask->setObjectName(QStringLiteral("transformer.ask"));
    ask->setAttribute(Qt::WA_DeleteOnClose);
    ask->setFileMode(QFileDialog::Directory);
    ask->setOption(QFileDialog::ShowDirsOnly);
    connect(ask, &QFileDialog::fileSelected, this, [this](const QString &folder) {
        weights_->setText(QDir::toNativeSeparators(folder));
        look();
    });
    ask->open();
}

void TransformerForm::look() {
    const QString text = weights_->text().trimmed();
    if (asked_ > 0 && text == looking_)
        return;
    looking_ = text;
    pending_ = true;
    const int number = ++asked_;
    const fs::path given = config().weights;
    const fs::path folder = given.empty() ? policy::defaultWeights() : given;
    using Answer = Result<policy::Weights>;
    auto *watcher = new QFutureWatcher<Answer>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, number] {
        watcher->deleteLater();
        if (number == asked_)
            show(watcher->future().takeResult());
    });
    watcher->setFuture(QtConcurrent::run([folder] { return policy::findWeights(folder); }));
}

void TransformerForm::show(const Result<policy::Weights> &found) {
    pending_ = false;
    const fs::path given = config().weights;
    const QString problem =
        weightsProblem(found, given.empty() ? policy::defaultWeights() : given, !given.empty());
    bad_ = !problem.isEmpty();
    if (bad_) {
        found_->setText(problem);
    } else {
        QStringList facts{QString::fromStdString(found->name),
                          bytesText(static_cast<double>(found->bytes))};
        if (found->vocabulary > 0)
            facts += tr("a vocabulary of %1 tokens")
                         .arg(QLocale().toString(qlonglong(found->vocabulary)));
        const QString what = facts.join(QStringLiteral(", "));
        found_->setText((given.empty() ? tr("By default: %1").arg(what) : what) +
                        QLatin1Char('\n') + shown(found->folder));
    }
    applyTheme();
    const auto usable = std::exchange(usable_, nullptr);
    if (bad_ && usable)
        weights_->setFocus();
    else if (usable)
        usable();
    emit looked(problem);
}

void TransformerForm::applyTheme() {
    const Colors &colors = Theme::instance().colors();
    setTextColor(found_, bad_ ? colors.bad : colors.muted);
}

void TransformerForm::whenUsable(std::function<void()> then) {
    look();
    usable_ = std::move(then);
    if (pending_)
        return; // show() goes on
    if (bad_) {
        usable_ = nullptr;
        weights_->setFocus();
        return;
    }
    std::exchange(usable_, nullptr)();
}

} // namespace cuda_agent::widgets
