// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/plot.h"

#include <qcustomplot.h>

#include <QFileDialog>
#include <QMessageBox>
#include <QSaveFile>
#include <QSvgGenerator>

namespace cuda_agent::widgets {

namespace {

QString quoted(QString text) {
    if (!text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"')) &&
        !text.contains(QLatin1Char('\n')))
        return text;
    return QLatin1Char('"') + text.replace(QLatin1Char('"'), QLatin1String("\"\"")) +
           QLatin1Char('"');
}

} // namespace

QByteArray Plot::csv() const {
    QByteArray text = "series,x,y\n";
    for (const Series &series : series_) {
        const QByteArray name = quoted(series.name).toUtf8() + ',';
        const std::size_t size = std::min(series.x.size(), series.y.size());
        for (std::size_t i = 0; i < size; ++i)
            text += name + QByteArray::number(series.x[i], 'g', 17) + ',' +
                    QByteArray::number(series.y[i], 'g', 17) + '\n';
    }
    return text;
}

bool Plot::exportTo(const QString &file) {
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending == QLatin1String("png"))
        return plot_->savePng(file, 0, 0, 2);
    if (ending == QLatin1String("pdf"))
        return plot_->savePdf(file);
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly))
        return false;
    if (ending == QLatin1String("csv"))
        return out.write(csv()) >= 0 && out.commit();
    if (ending != QLatin1String("svg"))
        return false;
    QBuffer buffer;
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(plot_->size());
    generator.setViewBox(plot_->rect());
    generator.setTitle(accessibleName());
    QCPPainter painter;
    if (!painter.begin(&generator))
        return false;
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    plot_->toPainter(&painter, plot_->width(), plot_->height());
    painter.end();
    return out.write(buffer.data()) >= 0 && out.commit();
}

void Plot::askExport() {
    QSettings settings;
    const QString folder = settings.value(QStringLiteral("folders/plots")).toString();
    QString name = accessibleName();
    name.replace(QLatin1Char('/'), QLatin1Char('-'));
    QString chosen;
    const QString file = QFileDialog::getSaveFileName(
        this, tr("Export Plot"), (folder.isEmpty() ? QString() : folder + QLatin1Char('/')) + name,
        tr("PNG image (*.png);;SVG drawing (*.svg);;PDF document (*.pdf);;CSV values (*.csv)"),
        &chosen);
    if (file.isEmpty())
        return;
    settings.setValue(QStringLiteral("folders/plots"), QFileInfo(file).absolutePath());
    QString wanted = file;
    if (QFileInfo(file).suffix().isEmpty())
        wanted += QLatin1Char('.') + chosen.mid(chosen.indexOf(QLatin1String("*.")) + 2, 3);
    if (!exportTo(wanted))
        QMessageBox::warning(
            this, tr("Export Plot"),
            tr("%1 could not be written. Choose a folder that you may write to and "
               "a name that ends in .png, .svg, .pdf or .csv.")
                .arg(wanted));
}

} // namespace cuda_agent::widgets
