// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/tasks/task_query.h"

#include <QScrollArea>

class QComboBox;
class QDoubleSpinBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QSpinBox;
class QStringListModel;

namespace cuda_agent::widgets {

class BarChart;

/// Filters of a task set and how its tasks are spread: fields above, a chart a facet below. Owns
/// no tasks; shows what it is given and says what is asked for. GUI thread.
class FilterPanel : public QScrollArea {
    Q_OBJECT
  public:
    explicit FilterPanel(QWidget *parent = nullptr);

    /// What the charts and the fields show.
    void display(const QVector<Distribution> &spread, const TaskQuery &query);
    /// What the field for an operator's name proposes.
    void setOperators(const QStringList &names);
    /// Null while the set says nothing of it.
    BarChart *chart(Facet facet) const;

  signals:
    /// The user asks for something else. The words are as they were.
    void asked(const TaskQuery &query);

  protected:
    void resizeEvent(QResizeEvent *event) override;

  private:
    struct Card {
        QWidget *box = nullptr;
        QLabel *title = nullptr;
        BarChart *chart = nullptr;
        bool used = false;
    };
    QWidget *makeForm();
    void makeCard(Facet facet);
    void arrange();
    void takeFields();
    void showFields(const QVector<Distribution> &spread);

    TaskQuery query_;
    QVector<Distribution> spread_;
    std::array<Card, facetCount> cards_;
    QGridLayout *grid_ = nullptr;
    std::array<QComboBox *, facetCount> boxes_{};
    std::array<QLabel *, facetCount> boxNames_{};
    QSpinBox *fewest_ = nullptr, *most_ = nullptr;
    QDoubleSpinBox *from_ = nullptr, *to_ = nullptr;
    QLineEdit *operator_ = nullptr;
    QStringListModel *operators_ = nullptr;
    int columns_ = 0;
    bool showing_ = false;
};

} // namespace cuda_agent::widgets
