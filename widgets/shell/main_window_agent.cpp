// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

/// The window's part in what agents need: who writes the kernels, with which endpoint, budget,
/// permissions and skills.
#include "widgets/shell/main_window.h"

#include "widgets/attempts/attempts_dialog.h"
#include "widgets/budget/budget_dialog.h"
#include "widgets/endpoint/endpoint_dialog.h"
#include "widgets/shell/session_view.h"
#include "widgets/skills/skills_dialog.h"
#include "widgets/tools/permissions_dialog.h"
#include "widgets/transformer/transformer_dialog.h"

#include "core/agent/best_of.h"

#include <QActionGroup>
#include <QFileDialog>
#include <QMenu>

#include <algorithm>
#include <tuple>

namespace cuda_agent::widgets {

namespace {

bool isModel(const QString &policy) {
    return policy == QLatin1String("endpoint");
}

/// Language models take more turns than the others: each has a number of its own.
QString turnsKey(const QString &policy) {
    return isModel(policy) ? QStringLiteral("choices/turnsOfModel")
                           : QStringLiteral("choices/turns");
}

bool endpointUsable() {
    const auto config = EndpointSettings::instance().known();
    return config && policy::checkEndpoint(*config);
}

bool isTrained(const QString &policy) {
    return policy == QLatin1String("transformer");
}

/// Whether the weights that a session would take are there.
bool weightsThere(const agent::TransformerConfig &config) {
    std::error_code error;
    return std::filesystem::exists(
        config.weights.empty() ? policy::defaultWeights() : config.weights, error);
}

/// What can start by itself the next time, too.
bool startsByItself(const Choices &choices) {
    if (isModel(choices.policy))
        return endpointUsable();
    return choices.policy == QLatin1String("planner") ||
           (isTrained(choices.policy) && weightsThere(choices.transformer));
}

// What is as usual is not in the settings.

void rememberTransformer(const agent::TransformerConfig &config) {
    QSettings settings;
    const auto remember = [&](const char *key, const auto &value) {
        const QString name = QLatin1String(key);
        if (value)
            settings.setValue(name, QVariant::fromValue(*value));
        else
            settings.remove(name);
    };
    std::optional<QString> weights;
    if (!config.weights.empty())
        weights = QString::fromStdString(config.weights.string());
    std::optional<qlonglong> longestTurn = config.longestTurn;
    remember("choices/weights", weights);
    remember("choices/temperature", config.temperature);
    remember("choices/topP", config.topP);
    remember("choices/longestTurn", longestTurn);
}

agent::TransformerConfig rememberedTransformer() {
    const QSettings settings;
    agent::TransformerConfig config;
    config.weights = settings.value(QStringLiteral("choices/weights")).toString().toStdString();
    const auto number = [&](const char *key, double least, double most) {
        bool ok = false;
        const double value = settings.value(QLatin1String(key)).toDouble(&ok);
        return ok && value >= least && value <= most ? std::optional(value) : std::nullopt;
    };
    config.temperature = number("choices/temperature", 0, 10);
    config.topP = number("choices/topP", 0.01, 1);
    if (const auto tokens = number("choices/longestTurn", 1, 1e6))
        config.longestTurn = static_cast<std::int64_t>(*tokens);
    return config;
}

} // namespace

void MainWindow::makeAgentActions() {
    endpoint_ = command("session.endpoint", tr("Language Model &Endpoint…"), {},
                        [this] { openEndpointSettings(); });
    transformer_ =
        command("session.transformer", tr("Tra&ined Model…"), {}, [this] { openTransformer(); });
    policySettings_ = command("session.policySettings", tr("Settings of the Po&licy…"), {},
                              [this] { openPolicySettings(); });
    policySettings_->setIconText(QStringLiteral("…")); // on its button
    budget_ = command("session.budget", tr("&Budget…"), {}, [this] { openBudget(); });
    permissions_ =
        command("session.tools", tr("Tools That &Ask First…"), {}, [this] { openPermissions(); });
    skills_ = command("session.skills", tr("S&kills of the Agent…"), Qt::CTRL | Qt::Key_K,
                      [this] { openSkills(); });
    quarantineAction_ = command("session.quarantine", tr("&Devices in Quarantine…"), {},
                                [this] { openQuarantine({}); });
    memory_ = command("session.memory", tr("Re&member What Works"), {}, [this] {
        QSettings().setValue(QStringLiteral("choices/memory"), memory_->isChecked());
    });
    memory_->setCheckable(true);
    memory_->setChecked(QSettings().value(QStringLiteral("choices/memory"), true).toBool());
    memory_->setToolTip(tr("Sessions add to a record of what worked on which operators and device, "
                           "and begin with what it offers"));
}

/// What a run is told beyond what the toolbar has room for.
void MainWindow::makeRunOptions() {
    options_ = new QMenu(tr("Run &Options"), this);
    rules_ = new QActionGroup(this);
    const std::tuple<const char *, QString, QString> kinds[] = {
        {"published", tr("&Published Rules"),
         tr("Modules compute by their own kernels; cuBLAS for products and cuDNN for convolutions "
            "are allowed")},
        {"kernelbench", tr("&KernelBench Rules"),
         tr("Modules may use what that benchmark allows; what looks odd becomes a remark")}};
    for (const auto &[name, text, about] : kinds) {
        QAction *action =
            command(QByteArray("session.rules.").append(name).constData(), text, {}, [] {});
        action->setCheckable(true);
        action->setData(QString::fromLatin1(name));
        action->setToolTip(about);
        action->setStatusTip(about);
        rules_->addAction(action);
        connect(action, &QAction::triggered, this, &MainWindow::takeChoices);
    }
    maxAutotune_ =
        command("session.maxAutotune", tr("Time &max-autotune Too"), {}, [this] { takeChoices(); });
    maxAutotune_->setToolTip(tr("Also time torch.compile with max-autotune"));
    maxAutotune_->setCheckable(true);
    attemptsAction_ = command("session.attempts", tr("&Attempts…"), {}, [this] { openAttempts(); });
    options_->addActions(rules_->actions());
    options_->addSeparator();
    options_->addActions({maxAutotune_, attemptsAction_});
}

void MainWindow::openAttempts() {
    const QPointer<SessionView> view = current();
    if (!view || view->begun())
        return;
    const Choices &now = view->choices();
    std::optional<agent::TransformerConfig> model;
    if (isTrained(now.policy))
        model = now.transformer;
    auto *dialog = new AttemptsDialog(now.attempts, now.atOnce, model, this);
    connect(dialog, &QDialog::accepted, this, [this, dialog, view] {
        if (!view)
            return;
        Choices choices = view->choices();
        choices.attempts = dialog->attempts();
        choices.atOnce = dialog->atOnce();
        choices.transformer = dialog->model().value_or(choices.transformer);
        rememberChoices(choices);
        view->setChoices(choices);
    });
    dialog->open();
}

int MainWindow::turnsOf(const QString &policy) {
    return std::clamp(
        QSettings().value(turnsKey(policy), agent::usualTurns(policy.toStdString())).toInt(), 1,
        1000);
}

Choices MainWindow::rememberedChoices() {
    const QSettings settings;
    Choices choices;
    const auto text = [&](const char *key, const QString &otherwise) {
        return settings.value(QLatin1String(key), otherwise).toString();
    };
    const auto number = [&](const char *key, double most) {
        const double value = settings.value(QLatin1String(key), 0).toDouble();
        return value > 0 ? std::min(value, most) : 0.0; // also when it is none
    };
    choices.device = text("choices/device", choices.device);
    choices.numerics = text("choices/numerics", choices.numerics);
    if (const QString rules = text("choices/rules", choices.rules);
        modules::rulesFromName(rules.toStdString()))
        choices.rules = rules;
    choices.attempts =
        std::max(1, static_cast<int>(number("choices/attempts", agent::mostAttempts)));
    choices.atOnce = static_cast<int>(number("choices/atOnce", agent::mostAttempts));
    for (const auto &model : {QStringLiteral("endpoint"), QStringLiteral("transformer")})
        if (text("choices/policy", choices.policy) == model)
            choices.policy = model;
    choices.transformer = rememberedTransformer();
    choices.budget = {turnsOf(choices.policy), number("choices/seconds", 1e6),
                      static_cast<std::int64_t>(number("choices/tokens", 1e12)),
                      number("choices/cost", 1e9)};
    return choices;
}

void MainWindow::rememberChoices(const Choices &choices) {
    QSettings settings;
    settings.setValue(QStringLiteral("choices/device"), choices.device);
    settings.setValue(QStringLiteral("choices/numerics"), choices.numerics);
    settings.setValue(QStringLiteral("choices/rules"), choices.rules);
    settings.setValue(QStringLiteral("choices/attempts"), choices.attempts);
    settings.setValue(QStringLiteral("choices/atOnce"), choices.atOnce);
    settings.setValue(turnsKey(choices.policy), choices.budget.turns);
    settings.setValue(QStringLiteral("choices/seconds"), choices.budget.seconds);
    settings.setValue(QStringLiteral("choices/tokens"),
                      static_cast<qlonglong>(choices.budget.tokens));
    settings.setValue(QStringLiteral("choices/cost"), choices.budget.cost);
    rememberTransformer(choices.transformer);
    // What cannot start by itself is chosen each time.
    settings.setValue(QStringLiteral("choices/policy"),
                      startsByItself(choices) ? choices.policy : QStringLiteral("planner"));
}

/// Another policy than before: it has its own number of turns, and may need something first.
void MainWindow::policyChosen(Choices &choices) {
    choices.budget.turns = turnsOf(choices.policy);
    const QPointer<SessionView> view = current();
    // After the combo box is done with its own event.
    if (isModel(choices.policy) && !endpointUsable())
        QTimer::singleShot(0, this, [this] { openEndpointSettings(); });
    else if (isTrained(choices.policy) && !weightsThere(choices.transformer))
        QTimer::singleShot(0, this, [this] { openTransformer(); });
    else if (choices.policy == QLatin1String("replay") && choices.recorded.isEmpty())
        QTimer::singleShot(0, this, [this, view] {
            if (view)
                askRecorded(view);
        });
}

void MainWindow::openEndpointSettings() {
    if (auto *open = findChild<EndpointDialog *>(QString(), Qt::FindDirectChildrenOnly))
        return open->raise();
    (new EndpointDialog(this))->open();
}

/// Of the session that is shown, where it has not begun or is to go on; else of those to come.
void MainWindow::openTransformer() {
    if (auto *open = findChild<TransformerDialog *>(QString(), Qt::FindDirectChildrenOnly))
        return open->raise();
    const QPointer<SessionView> view = current();
    const bool open = view && !view->begun();
    const bool goesOn = view && view->begun() && !view->busy() && isTrained(view->choices().policy);
    Choices choices = open || goesOn ? view->choices() : rememberedChoices();
    using Fields = TransformerForm::Fields;
    auto *dialog =
        new TransformerDialog(choices.transformer, goesOn ? Fields::weights : Fields::all, this);
    connect(dialog, &QDialog::accepted, this, [=, this]() mutable {
        if (goesOn) {
            if (view)
                view->setWeights(dialog->config().weights);
            return;
        }
        choices.transformer = dialog->config();
        rememberTransformer(choices.transformer);
        if (open && view && !view->begun())
            view->setChoices(choices);
    });
    dialog->open();
}

/// What the policy that is chosen can be told besides.
void MainWindow::openPolicySettings() {
    SessionView *view = current();
    const QString policy = view ? view->choices().policy : QString();
    if (isModel(policy))
        openEndpointSettings();
    else if (isTrained(policy))
        openTransformer();
    else if (view && policy == QLatin1String("replay"))
        askRecorded(view);
}

/// Whether there are any, and what they are.
void MainWindow::showPolicySettings(const Choices &choices, bool open) {
    const SessionView *view = current();
    QString about = tr("The planner has no settings");
    bool has = true;
    if (isModel(choices.policy))
        about = tr("Endpoint of the language model");
    else if (isTrained(choices.policy))
        about = choices.transformer.weights.empty()
                    ? tr("Weights and temperature of the trained model (now: the default weights)")
                    : tr("Weights and temperature of the trained model (now: %1)")
                          .arg(QDir::toNativeSeparators(
                              QString::fromStdString(choices.transformer.weights.string())));
    else if (choices.policy == QLatin1String("replay"))
        about = choices.recorded.isEmpty()
                    ? tr("The session that is followed (none yet)")
                    : tr("The session that is followed (now: %1)").arg(choices.recorded);
    else
        has = false;
    policySettings_->setEnabled(has && view && (open || !view->busy()));
    policySettings_->setToolTip(about);
    policySettings_->setStatusTip(about);
}

void MainWindow::openBudget() {
    SessionView *view = current();
    const bool open = view && !view->begun();
    Choices choices = open ? view->choices() : rememberedChoices();
    auto *dialog = new BudgetDialog(choices.budget, this);
    connect(dialog, &QDialog::accepted, this,
            [this, dialog, choices, open, view = QPointer<SessionView>(view)]() mutable {
                choices.budget = dialog->budget();
                rememberChoices(choices);
                if (open && view)
                    view->setChoices(choices);
                updateActions();
            });
    dialog->open();
}

void MainWindow::openPermissions() {
    (new PermissionsDialog(this))->open();
}

void MainWindow::openSkills() {
    if (!skillsDialog_)
        skillsDialog_ = new SkillsDialog(this);
    skillsDialog_->show();
    skillsDialog_->raise();
    skillsDialog_->activateWindow();
}

/// Which session the replay policy follows.
void MainWindow::askRecorded(SessionView *view) {
    auto *ask = new QFileDialog(this, tr("Session That Is Followed"),
                                QSettings().value(QStringLiteral("folders/sessions")).toString());
    ask->setObjectName(QStringLiteral("askRecorded"));
    ask->setAttribute(Qt::WA_DeleteOnClose);
    ask->setFileMode(QFileDialog::Directory);
    ask->setOption(QFileDialog::ShowDirsOnly);
    connect(ask, &QFileDialog::fileSelected, this,
            [this, view = QPointer<SessionView>(view)](const QString &folder) {
                if (!QFileInfo::exists(folder + QStringLiteral("/session.jsonl")))
                    return refuse(tr("There is no session in %1: a session folder holds a file "
                                     "session.jsonl.")
                                      .arg(QDir::toNativeSeparators(folder)));
                if (view)
                    view->setRecorded(folder);
            });
    ask->open();
}

} // namespace cuda_agent::widgets
