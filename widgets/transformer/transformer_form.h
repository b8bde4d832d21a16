// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/transformer.h"
#include "core/policy/transformer/weights.h"

#include <QWidget>

#include <functional>

class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace cuda_agent::widgets {

/// Fields of the trained model: the folder of its weights, and how its turns are drawn. What is
/// left as it is has the defaults of the command line. The folder is looked at on another thread
/// whenever it is another, and what is wrong with it is said below. GUI thread.
class TransformerForm : public QWidget {
    Q_OBJECT
  public:
    enum class Fields {
        all,
        weights ///< of a session that has begun: its log says how its turns are drawn
    };
    explicit TransformerForm(const agent::TransformerConfig &config, Fields fields = Fields::all,
                             QWidget *parent = nullptr);

    /// The fields as they are now; weights that are the default are empty.
    agent::TransformerConfig config() const;
    /// Calls `then` once the folder is found to hold a model; otherwise it goes to that field.
    void whenUsable(std::function<void()> then);
    /// As without a configuration.
    void restoreDefaults();

  signals:
    /// The folder has been looked at; `problem` is empty where it holds a model.
    void looked(const QString &problem);

  private:
    void addDrawing(const agent::TransformerConfig &config, QFormLayout *form);
    void choose();
    void look();
    void show(const Result<policy::Weights> &found);
    void applyTheme();

    QLineEdit *weights_;
    QLabel *found_;
    QDoubleSpinBox *temperature_ = nullptr, *topP_ = nullptr; ///< null with Fields::weights
    QSpinBox *longestTurn_ = nullptr;
    QString looking_;              ///< the folder that is, or was, looked at
    int asked_ = 0;                ///< looks; the last one counts
    bool pending_ = false;         ///< its answer is not there yet
    bool bad_ = false;             ///< what it found
    std::function<void()> usable_; ///< waits for it
};

/// What happens to folders that are no model, in words for people at the window; empty for one
/// that is. `named`: somebody chose it.
QString weightsProblem(const Result<policy::Weights> &found, const std::filesystem::path &folder,
                       bool named);

} // namespace cuda_agent::widgets
