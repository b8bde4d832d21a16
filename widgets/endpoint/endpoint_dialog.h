// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/endpoint/endpoint_settings.h"

#include <QDialog>

class QCheckBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSpinBox;

namespace cuda_agent::widgets {

class ConnectionTest;

/// The settings of the language model endpoint: what the configuration file holds, the key, which
/// it never holds, and a test of the connection. GUI thread.
class EndpointDialog : public QDialog {
    Q_OBJECT
  public:
    explicit EndpointDialog(QWidget *parent = nullptr);

    /// The fields as they are now, with the key that would be used.
    policy::EndpointConfig config() const;
    ConnectionTest &test() { return *test_; }

  public slots:
    void testConnection();
    void accept() override;
    void done(int result) override;

  private:
    void makeForm();
    void fill(const policy::EndpointConfig &config);
    enum class Kind { plain, warning, bad };
    void say(const QString &text, Kind kind);
    void findKey();
    void showKey(const FoundKey &key);
    void forgetKey();
    void showBusy();
    void applyTheme();

    ConnectionTest *test_;
    policy::EndpointConfig read_; ///< what the fields do not show stays as it is
    FoundKey found_;
    int asked_ = 0;             ///< keys asked for: only the last answer counts
    std::string askedFor_;      ///< the base URL of `found_`
    Kind saying_ = Kind::plain; ///< of what was said last
    QLineEdit *baseUrl_ = nullptr, *model_ = nullptr, *key_ = nullptr;
    QLabel *keyPlace_ = nullptr, *result_ = nullptr;
    QPushButton *forget_ = nullptr, *start_ = nullptr, *stop_ = nullptr;
    QSpinBox *context_ = nullptr, *answer_ = nullptr;
    QDoubleSpinBox *temperature_ = nullptr;
    QDoubleSpinBox *promptPrice_ = nullptr, *cachedPrice_ = nullptr, *answerPrice_ = nullptr;
    QCheckBox *stream_ = nullptr;
    QProgressBar *busy_ = nullptr;
};

} // namespace cuda_agent::widgets
