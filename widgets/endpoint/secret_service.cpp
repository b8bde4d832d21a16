// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/endpoint/secret_service.h"

#include <QDBusArgument>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusMetaType>
#include <QDBusObjectPath>
#include <QDBusPendingCall>
#include <QEventLoop>
#include <QMap>

#include <atomic>

namespace cuda_agent::widgets {

using Attributes = QMap<QString, QString>;

/// A secret as it travels: (oayays).
struct DBusSecret {
    QDBusObjectPath session;
    QByteArray parameters;
    QByteArray value;
    QString type;
};

static QDBusArgument &operator<<(QDBusArgument &argument, const DBusSecret &secret) {
    argument.beginStructure();
    argument << secret.session << secret.parameters << secret.value << secret.type;
    argument.endStructure();
    return argument;
}

static const QDBusArgument &operator>>(const QDBusArgument &argument, DBusSecret &secret) {
    argument.beginStructure();
    argument >> secret.session >> secret.parameters >> secret.value >> secret.type;
    argument.endStructure();
    return argument;
}

} // namespace cuda_agent::widgets

Q_DECLARE_METATYPE(cuda_agent::widgets::DBusSecret)

namespace cuda_agent::widgets {

namespace {

const QString service = QStringLiteral("org.freedesktop.secrets");
const QString servicePath = QStringLiteral("/org/freedesktop/secrets");
const QString defaultCollection = QStringLiteral("/org/freedesktop/secrets/aliases/default");
const QString serviceInterface = QStringLiteral("org.freedesktop.Secret.Service");
const QString collectionInterface = QStringLiteral("org.freedesktop.Secret.Collection");
const QString itemInterface = QStringLiteral("org.freedesktop.Secret.Item");
const QString promptInterface = QStringLiteral("org.freedesktop.Secret.Prompt");
constexpr int callTimeout = 5000;     // milliseconds
constexpr int personTimeout = 120000; // to type a password

Attributes attributesOf(const std::string &baseUrl) {
    return {{QStringLiteral("application"), QStringLiteral("cuda-agent-workbench")},
            {QStringLiteral("base_url"), QString::fromStdString(baseUrl)}};
}

} // namespace

/// Hears how a prompt ended. Lives on the thread that waits.
class PromptListener : public QObject {
    Q_OBJECT
  public:
    bool done = false;
    bool dismissed = false;
    QEventLoop loop;
  public slots:
    void completed(bool wasDismissed, const QDBusVariant &) {
        done = true;
        dismissed = wasDismissed;
        loop.quit();
    }
};

/// One conversation with the service, on a connection of its own: it is used from worker threads.
class SecretConversation {
  public:
    explicit SecretConversation(const QString &address)
        : name_(QStringLiteral("cuda-agent-secrets-%1").arg(++count)),
          bus_(address.isEmpty() ? QDBusConnection::connectToBus(QDBusConnection::SessionBus, name_)
                                 : QDBusConnection::connectToBus(address, name_)) {}
    SecretConversation(const SecretConversation &) = delete;
    SecretConversation &operator=(const SecretConversation &) = delete;
    ~SecretConversation() { QDBusConnection::disconnectFromBus(name_); }

    Result<void> open() {
        if (!bus_.isConnected())
            return machineError("there is no session bus, hence no secret store");
        CUDA_AGENT_ASSIGN(
            answer,
            call(servicePath, serviceInterface, QStringLiteral("OpenSession"),
                 {QStringLiteral("plain"), QVariant::fromValue(QDBusVariant(QString()))}, 2));
        session_ = qvariant_cast<QDBusObjectPath>(answer[1]);
        return {};
    }

    /// Items of these attributes, unlocked. The person at the desktop may be asked for a password.
    Result<QList<QDBusObjectPath>> items(const Attributes &attributes,
                                         const std::stop_token &stop) {
        CUDA_AGENT_ASSIGN(answer, call(servicePath, serviceInterface, QStringLiteral("SearchItems"),
                                       {QVariant::fromValue(attributes)}, 2));
        auto unlocked = qdbus_cast<QList<QDBusObjectPath>>(answer[0]);
        const auto locked = qdbus_cast<QList<QDBusObjectPath>>(answer[1]);
        if (!unlocked.isEmpty() || locked.isEmpty())
            return unlocked;
        CUDA_AGENT_TRY(unlock(locked, stop));
        return locked;
    }

    Result<std::string> secret(const QDBusObjectPath &item) {
        CUDA_AGENT_ASSIGN(answer, call(item.path(), itemInterface, QStringLiteral("GetSecret"),
                                       {QVariant::fromValue(session_)}, 1));
        return qdbus_cast<DBusSecret>(answer[0]).value.toStdString();
    }

    Result<void> create(const Attributes &attributes, const std::string &label,
                        const std::string &value, const std::stop_token &stop) {
        CUDA_AGENT_TRY(unlock({QDBusObjectPath(defaultCollection)}, stop));
        const QVariantMap properties{
            {QStringLiteral("org.freedesktop.Secret.Item.Label"), QString::fromStdString(label)},
            {QStringLiteral("org.freedesktop.Secret.Item.Attributes"),
             QVariant::fromValue(attributes)}};
        const DBusSecret secret{session_,
                                {},
                                QByteArray::fromStdString(value),
                                QStringLiteral("text/plain; charset=utf8")};
        CUDA_AGENT_ASSIGN(answer,
                          call(defaultCollection, collectionInterface, QStringLiteral("CreateItem"),
                               {properties, QVariant::fromValue(secret), true}, 2));
        return prompt(qvariant_cast<QDBusObjectPath>(answer[1]), stop);
    }

    Result<void> remove(const QDBusObjectPath &item, const std::stop_token &stop) {
        CUDA_AGENT_ASSIGN(answer,
                          call(item.path(), itemInterface, QStringLiteral("Delete"), {}, 1));
        return prompt(qvariant_cast<QDBusObjectPath>(answer[0]), stop);
    }

  private:
    Result<QVariantList> call(const QString &path, const QString &interface, const QString &method,
                              const QVariantList &arguments, int results) {
        auto message = QDBusMessage::createMethodCall(service, path, interface, method);
        message.setArguments(arguments);
        const QDBusMessage reply = bus_.call(message, QDBus::Block, callTimeout);
        if (reply.type() == QDBusMessage::ErrorMessage)
            return machineError("the desktop's secret store does not help: {}",
                                reply.errorMessage().toStdString());
        if (reply.arguments().size() < results)
            return machineError("the desktop's secret store answers {} in a way of its own",
                                method.toStdString());
        return reply.arguments();
    }

    Result<void> unlock(const QList<QDBusObjectPath> &objects, const std::stop_token &stop) {
        CUDA_AGENT_ASSIGN(answer, call(servicePath, serviceInterface, QStringLiteral("Unlock"),
                                       {QVariant::fromValue(objects)}, 2));
        return prompt(qvariant_cast<QDBusObjectPath>(answer[1]), stop);
    }

    /// Shows the store's own dialog, if it wants one, and waits for the person.
    Result<void> prompt(const QDBusObjectPath &path, const std::stop_token &stop) {
        if (path.path().isEmpty() || path.path() == QLatin1String("/"))
            return {};
        PromptListener listener;
        if (!bus_.connect(service, path.path(), promptInterface, QStringLiteral("Completed"),
                          &listener, SLOT(completed(bool, QDBusVariant))))
            return machineError("the desktop's secret store cannot ask for its password");
        CUDA_AGENT_TRY(
            call(path.path(), promptInterface, QStringLiteral("Prompt"), {QString()}, 0));
        QTimer look;
        int waited = 0;
        QObject::connect(&look, &QTimer::timeout, &listener, [&] {
            waited += look.interval();
            if (stop.stop_requested() || waited > personTimeout)
                listener.loop.quit();
        });
        look.start(100);
        if (!listener.done)
            listener.loop.exec();
        if (stop.stop_requested())
            return stoppedError();
        if (!listener.done)
            return machineError("the desktop's secret store waits for its password");
        if (listener.dismissed)
            return machineError("the desktop's secret store stayed locked");
        return {};
    }

    static inline std::atomic<int> count = 0;
    QString name_;
    QDBusConnection bus_;
    QDBusObjectPath session_;
};

namespace {

class SecretService : public SecretStore {
  public:
    explicit SecretService(QString address) : address_(std::move(address)) {
        qDBusRegisterMetaType<DBusSecret>();
        qDBusRegisterMetaType<Attributes>();
    }

    Result<std::optional<std::string>> find(const std::string &baseUrl,
                                            std::stop_token stop) override {
        SecretConversation conversation(address_);
        CUDA_AGENT_TRY(conversation.open());
        CUDA_AGENT_ASSIGN(items, conversation.items(attributesOf(baseUrl), stop));
        if (items.isEmpty())
            return std::optional<std::string>();
        CUDA_AGENT_ASSIGN(secret, conversation.secret(items.first()));
        return std::optional<std::string>(std::move(secret));
    }

    Result<void> keep(const std::string &baseUrl, const std::string &key,
                      std::stop_token stop) override {
        SecretConversation conversation(address_);
        CUDA_AGENT_TRY(conversation.open());
        return conversation.create(attributesOf(baseUrl), "CUDA Agent Workbench: " + baseUrl, key,
                                   stop);
    }

    Result<void> forget(const std::string &baseUrl, std::stop_token stop) override {
        SecretConversation conversation(address_);
        CUDA_AGENT_TRY(conversation.open());
        CUDA_AGENT_ASSIGN(items, conversation.items(attributesOf(baseUrl), stop));
        for (const QDBusObjectPath &item : items)
            CUDA_AGENT_TRY(conversation.remove(item, stop));
        return {};
    }

  private:
    QString address_;
};

} // namespace

std::unique_ptr<SecretStore> makeSecretService(const QString &busAddress) {
    return std::make_unique<SecretService>(busAddress);
}

} // namespace cuda_agent::widgets

#include "secret_service.moc"
