// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/endpoint/endpoint_dialog.h"

#include "widgets/base/theme.h"
#include "widgets/endpoint/connection_test.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QGroupBox>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>

namespace cuda_agent::widgets {

namespace {

constexpr double noTemperature = -0.1; ///< shown as the endpoint's own

template <typename Field>
Field *named(Field *field, const char *object, const QString &name) {
    field->setObjectName(QLatin1String(object));
    field->setAccessibleName(name);
    return field;
}

QLabel *words(QWidget *parent, const char *object) {
    auto *label = new QLabel(parent);
    label->setObjectName(QLatin1String(object));
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true); // a form gives words no more than their guess otherwise
    label->setSizePolicy(policy);
    return label;
}

} // namespace

EndpointDialog::EndpointDialog(QWidget *parent) : QDialog(parent), test_(new ConnectionTest(this)) {
    setObjectName(QStringLiteral("endpointDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Language Model Endpoint"));
    makeForm();
    connect(test_, &ConnectionTest::finished, this, [this](const ConnectionAnswer &answer) {
        showBusy();
        if (answer.test)
            return say(testText(*answer.test), answer.test->tools ? Kind::plain : Kind::warning);
        const bool stopped = answer.test.error().kind == ErrorKind::stopped;
        say(stopped ? tr("The test was stopped.")
                    : QString::fromStdString(answer.test.error().message),
            stopped ? Kind::plain : Kind::bad);
    });
    connect(&Theme::instance(), &Theme::changed, this, &EndpointDialog::applyTheme);
    const auto config = policy::readEndpointConfig(policy::endpointConfigFile());
    fill(config ? *config : policy::EndpointConfig());
    if (!config)
        say(QString::fromStdString(config.error().message), Kind::bad);
    findKey();
    showBusy();
    resize(620, sizeHint().height());
}

void EndpointDialog::makeForm() {
    const auto whole = [this](const char *object, const QString &name, int least, int most,
                              int step) {
        auto *box = named(new QSpinBox(this), object, name);
        box->setRange(least, most);
        box->setSingleStep(step);
        box->setGroupSeparatorShown(true);
        return box;
    };
    const auto price = [this](const char *object, const QString &name) {
        auto *box = named(new QDoubleSpinBox(this), object, name);
        box->setRange(0, 1e6);
        box->setDecimals(4);
        box->setSingleStep(0.1);
        return box;
    };
    baseUrl_ = named(new QLineEdit(this), "endpoint.baseUrl", tr("Base URL"));
    baseUrl_->setPlaceholderText(QStringLiteral("https://api.openai.com/v1"));
    model_ = named(new QLineEdit(this), "endpoint.model", tr("Model"));
    model_->setPlaceholderText(tr("as the endpoint names it"));
    key_ = named(new QLineEdit(this), "endpoint.key", tr("Key"));
    key_->setEchoMode(QLineEdit::Password);
    forget_ =
        named(new QPushButton(tr("&Forget Key"), this), "endpoint.forgetKey", tr("Forget the key"));
    keyPlace_ = words(this, "endpoint.keyPlace");
    keyPlace_->setMinimumHeight(2 * fontMetrics().lineSpacing()); // its words change
    keyPlace_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    context_ =
        whole("endpoint.contextTokens", tr("Tokens of prompt and answer"), 1024, 100'000'000, 1024);
    answer_ = whole("endpoint.answerTokens", tr("Tokens of an answer"), 16, 1'000'000, 1024);
    temperature_ = named(new QDoubleSpinBox(this), "endpoint.temperature", tr("Temperature"));
    temperature_->setRange(noTemperature, 10);
    temperature_->setSingleStep(0.1);
    temperature_->setSpecialValueText(tr("the endpoint's own"));
    promptPrice_ = price("endpoint.promptPrice", tr("Price of a million prompt tokens"));
    cachedPrice_ = price("endpoint.cachedPrice", tr("Price of a million cached prompt tokens"));
    answerPrice_ = price("endpoint.answerPrice", tr("Price of a million answer tokens"));
    stream_ = named(new QCheckBox(tr("&Show answers while they are written"), this),
                    "endpoint.stream", tr("Show answers while they are written"));
    stream_->setToolTip(tr("Off for servers that cannot stream"));

    auto *form = new QFormLayout;
    form->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);
    form->addRow(tr("&Base URL:"), baseUrl_);
    form->addRow(tr("&Model:"), model_);
    auto *keyRow = new QHBoxLayout;
    keyRow->addWidget(key_, 1);
    keyRow->addWidget(forget_);
    form->addRow(tr("&Key:"), keyRow);
    qobject_cast<QLabel *>(form->labelForField(keyRow))->setBuddy(key_);
    form->addRow(QString(), keyPlace_);
    form->addRow(tr("&Context tokens:"), context_);
    form->addRow(tr("&Answer tokens:"), answer_);
    form->addRow(tr("&Temperature:"), temperature_);
    form->addRow(QString(), stream_);

    auto *prices = new QGroupBox(tr("Prices of a million tokens, in any currency"), this);
    auto *priceRow = new QHBoxLayout(prices);
    for (const auto &[text, field] :
         {std::pair{tr("&Prompt:"), promptPrice_}, std::pair{tr("Ca&ched:"), cachedPrice_},
          std::pair{tr("Answ&er:"), answerPrice_}}) {
        auto *label = new QLabel(text, prices);
        label->setBuddy(field);
        priceRow->addWidget(label);
        priceRow->addWidget(field, 1);
    }

    start_ = named(new QPushButton(tr("Test Co&nnection"), this), "endpoint.test",
                   tr("Test the connection"));
    stop_ = named(new QPushButton(tr("St&op"), this), "endpoint.stopTest", tr("Stop the test"));
    busy_ = named(new QProgressBar(this), "endpoint.busy", tr("The connection is being tested"));
    busy_->setRange(0, 0);
    busy_->setTextVisible(false);
    busy_->setMaximumHeight(14);
    auto *testRow = new QHBoxLayout;
    testRow->addWidget(start_);
    testRow->addWidget(stop_);
    testRow->addWidget(busy_, 1);
    testRow->addStretch();
    result_ = words(this, "endpoint.result");
    result_->setMinimumHeight(4 * fontMetrics().lineSpacing());
    result_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    result_->setAccessibleName(tr("Result of the test"));

    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel, this);
    buttons->setObjectName(QStringLiteral("endpoint.buttons"));
    auto *column = new QVBoxLayout(this);
    column->addLayout(form);
    column->addWidget(prices);
    column->addLayout(testRow);
    column->addWidget(result_, 1);
    column->addWidget(buttons);

    // Return in a field tests nothing and forgets nothing.
    for (QPushButton *button : {forget_, start_, stop_})
        button->setAutoDefault(false);
    connect(buttons, &QDialogButtonBox::accepted, this, &EndpointDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(start_, &QPushButton::clicked, this, &EndpointDialog::testConnection);
    connect(stop_, &QPushButton::clicked, test_, &ConnectionTest::stop);
    connect(forget_, &QPushButton::clicked, this, &EndpointDialog::forgetKey);
    connect(baseUrl_, &QLineEdit::editingFinished, this, &EndpointDialog::findKey);
}

void EndpointDialog::fill(const policy::EndpointConfig &config) {
    read_ = config;
    read_.key.clear();
    baseUrl_->setText(QString::fromStdString(config.baseUrl));
    model_->setText(QString::fromStdString(config.model));
    context_->setValue(static_cast<int>(std::min<std::int64_t>(config.contextTokens, 100'000'000)));
    answer_->setValue(config.answerTokens);
    temperature_->setValue(config.temperature.value_or(noTemperature));
    promptPrice_->setValue(config.promptPrice);
    cachedPrice_->setValue(config.cachedPrice);
    answerPrice_->setValue(config.answerPrice);
    stream_->setChecked(config.stream);
}

policy::EndpointConfig EndpointDialog::config() const {
    policy::EndpointConfig config = read_;
    config.baseUrl = baseUrl_->text().trimmed().toStdString();
    config.model = model_->text().trimmed().toStdString();
    config.contextTokens = context_->value();
    config.answerTokens = answer_->value();
    config.temperature.reset();
    if (temperature_->value() > noTemperature / 2)
        config.temperature = std::max(0.0, temperature_->value());
    config.promptPrice = promptPrice_->value();
    config.cachedPrice = cachedPrice_->value();
    config.answerPrice = answerPrice_->value();
    config.stream = stream_->isChecked();
    const QString typed = key_->text().trimmed();
    if (!typed.isEmpty()) {
        config.key = typed.toStdString();
        config.keySource = tr("this dialog").toStdString();
    } else if (askedFor_ == config.baseUrl) { // another URL's key goes nowhere
        config.key = found_.key;
        config.keySource = found_.source.toStdString();
    }
    return config;
}

void EndpointDialog::say(const QString &text, Kind kind) {
    saying_ = kind;
    result_->setText(text);
    applyTheme();
}

void EndpointDialog::applyTheme() {
    QPalette palette = QApplication::palette();
    const Colors &colors = Theme::instance().colors();
    if (saying_ != Kind::plain)
        palette.setColor(QPalette::WindowText, saying_ == Kind::bad ? colors.bad : colors.warning);
    result_->setPalette(palette);
}

void EndpointDialog::findKey() {
    const std::string url = baseUrl_->text().trimmed().toStdString();
    if (asked_ > 0 && url == askedFor_)
        return;
    askedFor_ = url;
    found_ = {};
    const int number = ++asked_;
    keyPlace_->setText(tr("Looking for the key…"));
    EndpointSettings::instance().findKey(url, this, [this, number](const FoundKey &key) {
        if (number == asked_)
            showKey(key);
    });
}

void EndpointDialog::showKey(const FoundKey &key) {
    found_ = key;
    keyPlace_->setText(keyText(key));
    const bool ours = key.place == KeyPlace::desktop || key.place == KeyPlace::thisRun;
    // One of everybody's gives way to one that is typed here; others are set elsewhere.
    const bool fixed =
        key.place == KeyPlace::file ||
        (key.place == KeyPlace::environment && key.source != QLatin1String("$OPENAI_API_KEY"));
    forget_->setEnabled(ours);
    key_->setEnabled(!fixed);
    key_->setPlaceholderText(key.place == KeyPlace::none ? tr("none") : QString(12, QChar(0x2022)));
}

void EndpointDialog::forgetKey() {
    key_->clear();
    const int number = ++asked_;
    keyPlace_->setText(tr("Forgetting the key…"));
    EndpointSettings::instance().forgetKey(askedFor_, this, [this, number](const FoundKey &key) {
        if (number == asked_)
            showKey(key);
    });
}

void EndpointDialog::showBusy() {
    const bool busy = test_->busy();
    busy_->setVisible(busy);
    stop_->setVisible(busy);
    start_->setEnabled(!busy);
    if (busy)
        stop_->setFocus();
    else if (focusWidget() == nullptr || focusWidget() == stop_)
        start_->setFocus();
}

void EndpointDialog::testConnection() {
    const policy::EndpointConfig wanted = config();
    if (const auto usable = policy::checkEndpoint(wanted); !usable)
        return say(QString::fromStdString(usable.error().message), Kind::bad);
    say(tr("One small request goes to %1…").arg(baseUrl_->text().trimmed()), Kind::plain);
    test_->start(wanted);
    showBusy();
}

void EndpointDialog::accept() {
    policy::EndpointConfig wanted = config();
    if (const auto usable = policy::checkEndpoint(wanted); !usable)
        return say(QString::fromStdString(usable.error().message), Kind::bad);
    const QString typed = key_->text().trimmed();
    wanted.key.clear();
    EndpointSettings &settings = EndpointSettings::instance();
    if (const auto written = settings.write(wanted); !written)
        return say(QString::fromStdString(written.error().message), Kind::bad);
    if (!typed.isEmpty() && key_->isEnabled())
        settings.keepKey(wanted.baseUrl, typed.toStdString(), this, [](const FoundKey &) {});
    QDialog::accept();
}

void EndpointDialog::done(int result) {
    test_->stop();
    key_->clear();
    QDialog::done(result);
}

} // namespace cuda_agent::widgets
