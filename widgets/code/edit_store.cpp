// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/code/edit_store.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QStandardPaths>

#include <utility>

namespace cuda_agent::widgets {

EditStore::EditStore(QObject *parent) : QObject(parent) {
    delay_.setSingleShot(true);
    delay_.setInterval(1000);
    connect(&delay_, &QTimer::timeout, this, &EditStore::flush);
}

EditStore::~EditStore() {
    flush();
}

QString EditStore::fileOf(const std::filesystem::path &session) {
    std::error_code ignored;
    const std::string name = std::filesystem::absolute(session, ignored).lexically_normal();
    const QByteArray hash =
        QCryptographicHash::hash(QByteArray::fromStdString(name), QCryptographicHash::Sha1).toHex();
    return QStringLiteral("%1/edits/%2.json")
        .arg(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation),
             QString::fromLatin1(hash));
}

Edits EditStore::load(const std::filesystem::path &session) {
    Edits edits;
    QFile file(fileOf(session));
    if (!file.open(QIODevice::ReadOnly))
        return edits;
    const QJsonObject files =
        QJsonDocument::fromJson(file.readAll()).object().value(QLatin1String("files")).toObject();
    for (auto it = files.begin(); it != files.end(); ++it) {
        const QJsonObject edit = it.value().toObject();
        if (edit.value(QLatin1String("text")).isString())
            edits[it.key().toStdString()] = {
                edit.value(QLatin1String("text")).toString(),
                edit.value(QLatin1String("base")).toString().toStdString()};
    }
    return edits;
}

void EditStore::keep(const std::filesystem::path &session, Edits edits) {
    if (session != session_)
        flush();
    session_ = session;
    edits_ = std::move(edits);
    waiting_ = true;
    delay_.start();
}

void EditStore::flush() {
    delay_.stop();
    if (!std::exchange(waiting_, false))
        return;
    if (session_.empty())
        return;
    const QString name = fileOf(session_);
    if (edits_.empty()) {
        if (QFile::exists(name) && !QFile::remove(name))
            Q_EMIT failed(tr("The kept edits in %1 could not be removed.").arg(name));
        return;
    }
    QJsonObject files;
    for (const auto &[path, edit] : edits_)
        files.insert(QString::fromStdString(path),
                     QJsonObject{{QStringLiteral("text"), edit.text},
                                 {QStringLiteral("base"), QString::fromStdString(edit.base)}});
    const QJsonObject all{{QStringLiteral("session"), QString::fromStdString(session_.string())},
                          {QStringLiteral("files"), files}};
    QDir().mkpath(QFileInfo(name).path());
    QSaveFile file(name);
    if (!file.open(QIODevice::WriteOnly) || file.write(QJsonDocument(all).toJson()) < 0 ||
        !file.commit())
        Q_EMIT failed(tr("Unsaved edits cannot be kept in %1 (%2): they would be lost in a crash.")
                          .arg(name, file.errorString()));
}

} // namespace cuda_agent::widgets
