// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/endpoint/endpoint_settings.h"

#include "widgets/endpoint/secret_service.h"

#include <QCoreApplication>
#include <QFutureWatcher>
#include <QtConcurrent>

namespace cuda_agent::widgets {

namespace {

const std::string everybodysKey = fmt::format("${}", policy::lastKeyVariable);

FoundKey given(const policy::EndpointConfig &config) {
    if (config.key.empty())
        return {};
    return {config.key,
            config.keySource.starts_with("$") ? KeyPlace::environment : KeyPlace::file,
            QString::fromStdString(config.keySource),
            {}};
}

/// The key of the environment or the file, and whether it goes before all others.
std::pair<FoundKey, bool> keyGiven() {
    const auto config = policy::readEndpointConfig(policy::endpointConfigFile());
    if (!config)
        return {};
    return {given(*config), !config->key.empty() && config->keySource != everybodysKey};
}

} // namespace

EndpointSettings &EndpointSettings::instance() {
    static EndpointSettings *const settings = new EndpointSettings; // outlives late answers
    return *settings;
}

EndpointSettings::EndpointSettings() : store_(makeSecretService()) {
    connect(QCoreApplication::instance(), &QCoreApplication::aboutToQuit, this,
            [this] { stop_.request_stop(); });
}

void EndpointSettings::setStore(std::shared_ptr<SecretStore> store) {
    store_ = std::move(store);
    keys_.clear();
}

Result<policy::EndpointConfig> EndpointSettings::known() const {
    CUDA_AGENT_ASSIGN(config, policy::readEndpointConfig(policy::endpointConfigFile()));
    if (!config.key.empty() && config.keySource != everybodysKey)
        return config;
    if (const auto found = keys_.find(policy::trimmedBaseUrl(config.baseUrl));
        found != keys_.end()) {
        config.key = found->second.key;
        config.keySource = found->second.place == KeyPlace::desktop ? "the desktop's secret store"
                                                                    : "the settings of the window";
    }
    return config;
}

Result<void> EndpointSettings::write(const policy::EndpointConfig &config) {
    CUDA_AGENT_TRY(policy::writeEndpointConfig(policy::endpointConfigFile(), config));
    Q_EMIT changed();
    return {};
}

/// Asks the store on another thread.
void EndpointSettings::ask(std::function<StoreAnswer(SecretStore &, std::stop_token)> question,
                           QObject *receiver, std::function<void(const StoreAnswer &)> then) {
    auto *watcher = new QFutureWatcher<StoreAnswer>(this);
    connect(watcher, &QFutureWatcherBase::finished, this,
            [watcher, then = std::move(then), alive = QPointer<QObject>(receiver)] {
                watcher->deleteLater();
                if (alive)
                    then(watcher->future().takeResult());
            });
    watcher->setFuture(
        QtConcurrent::run([store = store_, question = std::move(question),
                           stop = stop_.get_token()] { return question(*store, stop); }));
}

void EndpointSettings::findKey(const std::string &baseUrl, QObject *receiver,
                               std::function<void(const FoundKey &)> then) {
    const std::string url = policy::trimmedBaseUrl(baseUrl);
    const auto [fromOutside, first] = keyGiven();
    const auto found = keys_.find(url);
    if (first)
        return then(fromOutside);
    if (found != keys_.end())
        return then(found->second);
    if (!store_ || url.empty()) {
        FoundKey key = fromOutside;
        if (!store_)
            key.storeProblem = tr("there is none");
        return then(key);
    }
    ask([url](SecretStore &store, std::stop_token stop) { return store.find(url, stop); }, receiver,
        [this, url, then = std::move(then), otherwise = fromOutside](const StoreAnswer &answer) {
            FoundKey key = otherwise;
            if (!answer) {
                key.storeProblem = QString::fromStdString(answer.error().message);
            } else if (answer->has_value()) {
                key = {**answer, KeyPlace::desktop, {}, {}};
                keys_[url] = key;
                Q_EMIT changed();
            }
            then(key);
        });
}

void EndpointSettings::keepKey(const std::string &baseUrl, const std::string &key,
                               QObject *receiver, std::function<void(const FoundKey &)> then) {
    const std::string url = policy::trimmedBaseUrl(baseUrl);
    FoundKey kept{key, KeyPlace::thisRun, {}, store_ ? QString() : tr("there is none")};
    keys_[url] = kept;
    Q_EMIT changed();
    if (!store_)
        return then(kept);
    // The answer is noted whoever asked; only `then` needs its receiver.
    ask(
        [url, key](SecretStore &store, std::stop_token stop) -> StoreAnswer {
            CUDA_AGENT_TRY(store.keep(url, key, stop));
            return std::optional<std::string>();
        },
        this,
        [this, url, kept, then = std::move(then),
         alive = QPointer<QObject>(receiver)](const StoreAnswer &answer) {
            FoundKey now = kept;
            if (answer)
                now.place = KeyPlace::desktop;
            else
                now.storeProblem = QString::fromStdString(answer.error().message);
            if (const auto found = keys_.find(url);
                found != keys_.end() && found->second.key == now.key)
                found->second = now; // else a newer one was given meanwhile
            Q_EMIT changed();
            if (alive)
                then(now);
        });
}

void EndpointSettings::forgetKey(const std::string &baseUrl, QObject *receiver,
                                 std::function<void(const FoundKey &)> then) {
    const std::string url = policy::trimmedBaseUrl(baseUrl);
    keys_.erase(url);
    Q_EMIT changed();
    FoundKey left = keyGiven().first;
    if (!store_)
        return then(left);
    ask(
        [url](SecretStore &store, std::stop_token stop) -> StoreAnswer {
            CUDA_AGENT_TRY(store.forget(url, stop));
            return std::optional<std::string>();
        },
        receiver,
        [left, then = std::move(then)](const StoreAnswer &answer) {
            FoundKey now = left;
            if (!answer)
                now.storeProblem = QString::fromStdString(answer.error().message);
            then(now);
        });
}

void EndpointSettings::resolve(QObject *receiver,
                               std::function<void(const Result<policy::EndpointConfig> &)> then) {
    const auto config = known();
    if (!config || (!config->key.empty() && config->keySource != everybodysKey))
        return then(config);
    findKey(config->baseUrl, receiver,
            [this, then = std::move(then)](const FoundKey &) { then(known()); });
}

QString keyText(const FoundKey &key) {
    switch (key.place) {
    case KeyPlace::environment:
        return EndpointSettings::tr("The key comes from the environment: %1.").arg(key.source);
    case KeyPlace::file:
        return EndpointSettings::tr("The key stands in %1. It is safer in the environment or "
                                    "here.")
            .arg(key.source);
    case KeyPlace::desktop:
        return EndpointSettings::tr("The key is in the desktop's secret store.");
    case KeyPlace::thisRun:
        return key.storeProblem.isEmpty()
                   ? EndpointSettings::tr("The key is kept until this program ends.")
                   : EndpointSettings::tr("The key is kept until this program ends; the desktop's "
                                          "secret store: %1.")
                         .arg(key.storeProblem);
    case KeyPlace::none:
        break;
    }
    return key.storeProblem.isEmpty()
               ? EndpointSettings::tr("There is no key. One given here goes to the desktop's "
                                      "secret store.")
               : EndpointSettings::tr("There is no key. One given here is kept until this program "
                                      "ends; the desktop's secret store: %1.")
                     .arg(key.storeProblem);
}

} // namespace cuda_agent::widgets
