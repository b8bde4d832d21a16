// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/endpoint/secret_store.h"

#include <QString>

#include <memory>

namespace cuda_agent::widgets {

/// The desktop's secret store (GNOME Keyring, KWallet, KeePassXC): the Secret Service of
/// freedesktop.org over the session bus, or over the bus of that address. Secrets cross the user's
/// own bus unencrypted ("plain"), as libsecret does where nothing else is agreed on.
/// https://specifications.freedesktop.org/secret-service-spec/latest/
std::unique_ptr<SecretStore> makeSecretService(const QString &busAddress = {});

} // namespace cuda_agent::widgets
