// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/endpoint/endpoint.h"
#include "widgets/endpoint/secret_store.h"

#include <QObject>
#include <QPointer>
#include <QString>

#include <functional>
#include <map>
#include <memory>

namespace cuda_agent::widgets {

/// Where the key of an endpoint is.
enum class KeyPlace {
    none,
    environment,
    file, ///< a person wrote it into the configuration; this program never does
    desktop,
    thisRun, ///< in this program's memory only
};

struct FoundKey {
    std::string key;
    KeyPlace place = KeyPlace::none;
    QString source;       ///< "$OPENAI_API_KEY", a file
    QString storeProblem; ///< why the desktop's secret store does not help; empty when it does
};

/// The endpoint of language models as the window knows it: the configuration file, which the
/// command line shares, and the keys, which are in no file. One object; GUI thread.
///
/// A key is taken from, first that is there: the variable that `key_env` names,
/// CUDA_AGENT_API_KEY, the file, what was given in this run, the desktop's secret store,
/// OPENAI_API_KEY. That last one goes to whatever endpoint is set, so that one kept for this very
/// URL goes before it.
class EndpointSettings : public QObject {
    Q_OBJECT
  public:
    static EndpointSettings &instance();

    /// Null: keys are kept for this run only. For tests. Forgets the keys of this run.
    void setStore(std::shared_ptr<SecretStore> store);

    /// The configuration with the key as far as it is known without asking the store. Reads a small
    /// file. Errors: request.
    Result<policy::EndpointConfig> known() const;
    /// Writes the file, without the key. Errors: request, machine.
    Result<void> write(const policy::EndpointConfig &config);

    /// Calls `then` with the key for a base URL: at once where no store has to be asked, else when
    /// it has answered; never once `receiver` is gone.
    void findKey(const std::string &baseUrl, QObject *receiver,
                 std::function<void(const FoundKey &)> then);
    /// Keeps a key for this run and, where there is one, in the store.
    void keepKey(const std::string &baseUrl, const std::string &key, QObject *receiver,
                 std::function<void(const FoundKey &)> then);
    void forgetKey(const std::string &baseUrl, QObject *receiver,
                   std::function<void(const FoundKey &)> then);
    /// The whole configuration, key included.
    void resolve(QObject *receiver,
                 std::function<void(const Result<policy::EndpointConfig> &)> then);

  signals:
    /// The file or a key is another.
    void changed();

  private:
    EndpointSettings();
    using StoreAnswer = Result<std::optional<std::string>>;
    void ask(std::function<StoreAnswer(SecretStore &, std::stop_token)> question, QObject *receiver,
             std::function<void(const StoreAnswer &)> then);

    std::shared_ptr<SecretStore> store_;
    std::map<std::string, FoundKey> keys_; ///< of this run, by base URL
    std::stop_source stop_;
};

/// In words, for people: "The key comes from $OPENAI_API_KEY."
QString keyText(const FoundKey &key);

} // namespace cuda_agent::widgets
