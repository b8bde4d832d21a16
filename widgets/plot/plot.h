// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QVector>
#include <QWidget>

#include <functional>
#include <vector>

class QCustomPlot;
class QCPGraph;
class QLabel;

namespace cuda_agent::widgets {

/// A curve of up to some millions of points. x ascends.
struct Series {
    QString name;
    std::vector<double> x, y;
    int color = 0;       ///< number in Colors::series
    bool faint = false;  ///< drawn thin and pale (raw values under a smoothed curve)
    bool points = false; ///< marks at the points
    bool line = true;
    bool step = false; ///< horizontal steps instead of straight lines
    bool inLegend = true;
};

/// A themed plot around QCustomPlot, as every pane uses it: wheel zooms (Shift: x only, Ctrl: y
/// only), dragging pans, double click shows everything, a readout follows the mouse; a context menu
/// and `exportTo` write PNG, SVG, PDF and CSV. Long curves are drawn from per-pixel extremes, so
/// that a spike is never lost. GUI thread.
class Plot : public QWidget {
    Q_OBJECT
  public:
    explicit Plot(const QString &accessibleName, QWidget *parent = nullptr);
    ~Plot() override;

    void setTitles(const QString &x, const QString &y);
    void setLogarithmic(bool x, bool y);
    /// Replaces all curves. Keeps the visible range when `follow()` is false.
    void setSeries(std::vector<Series> series);
    const std::vector<Series> &series() const { return series_; }
    /// Shown instead of curves while there is nothing to draw.
    void setEmptyText(const QString &text);

    /// The range follows the data until the user zooms or pans; `showAll` follows again.
    bool follow() const { return follow_; }
    void showAll();

    /// For what curves cannot show (bars, labels, regions): called after each change of data,
    /// colours or size, with the plot cleared of earlier items.
    void setDecoration(std::function<void(QCustomPlot &)> decorate);
    QCustomPlot &canvas() { return *plot_; }
    /// What the readout says of a point, instead of its two values.
    void setReadout(std::function<QString(int series, int point)> text);
    /// Off for charts that name their curves themselves. On by default, for more than one name.
    void setLegendAllowed(bool allowed);
    /// False for charts that are read, not searched: the wheel scrolls what is around them.
    void setZoomable(bool zoomable);

    /// By the ending: .png (at twice the resolution), .svg, .pdf, .csv (series, x, y). False when
    /// the file cannot be written.
    bool exportTo(const QString &file);

  signals:
    void followChanged(bool follow);
    /// The nearest point to a click, when one is within reach.
    void pointClicked(int series, int point);
    /// The point under the mouse is another one; -1, -1 when there is none.
    void pointHovered(int series, int point);

  protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

    void resizeEvent(QResizeEvent *event) override;

  private:
    struct Hit {
        int series = -1;
        int point = -1;
    };
    void makeActions();
    void rebuild();
    void applyTheme();
    void updateVisible();
    void fitAxes();
    void fitFrame();
    void setFollow(bool follow);
    void zoom(double factor, const QPoint &at, bool x, bool y);
    void pan(double x, double y);
    Hit nearest(const QPointF &at) const;
    void showReadout(const QPoint &at);
    void askExport();
    QByteArray csv() const;
    void describe();

    QCustomPlot *plot_ = nullptr;
    QLabel *empty_ = nullptr;
    std::vector<Series> series_;
    std::vector<QCPGraph *> graphs_; ///< one a series; owned by the plot
    std::function<void(QCustomPlot &)> decorate_;
    std::function<QString(int series, int point)> readout_;
    QString xTitle_, yTitle_; ///< drawn where there is room for them
    bool named_ = false;      ///< curves need a legend
    bool legendAllowed_ = true;
    Hit hovered_;
    QPoint pressed_;
    bool zoomable_ = true;
    bool follow_ = true;
    bool ownChange_ = false; ///< the ranges are being set by us, not by the user
};

/// Values drawn for a range of x of `pixels` columns: at most four points a column (first, least,
/// greatest, last), so that the picture is the same as from all points. `from` and `to` are x.
/// On a logarithmic scale values that are not positive are passed over.
struct Thinned {
    QVector<double> x, y;
};
struct Scales {
    bool logX = false;
    bool logY = false;
};
Thinned thin(const std::vector<double> &x, const std::vector<double> &y, double from, double to,
             int pixels, Scales scales = {});

} // namespace cuda_agent::widgets
