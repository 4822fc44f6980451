//! The growth as a picture: one panel for each thing that grows, both axes logarithmic.

use anyhow::Result;
use plotters::prelude::*;

use super::{GROWN, Point};
use crate::picture::{self, Area, BLUE as FIT, Drawn, ORANGE as SCORE};

const SIZE: (u32, u32) = (1080, 340);
const LINEAR: RGBColor = RGBColor(154, 161, 171);

/// Seconds of a fit in blue, seconds to score a million rows in orange, and what linear growth would be in grey.
///
/// # Errors
/// If it cannot be drawn.
pub fn svg(points: &[Point]) -> Result<String> {
    picture::svg(SIZE, |area| draw(area, points))
}

fn draw(area: &Area, points: &[Point]) -> Drawn {
    for (panel, (what, _)) in area.split_evenly((1, GROWN.len())).into_iter().zip(GROWN) {
        let points: Vec<&Point> = points.iter().filter(|point| point.what == what).collect();
        let [first, .., last] = &points[..] else { continue };
        let fit = |point: &Point| point.read_seconds + point.train_seconds;
        let score = |point: &Point| 1e6 / point.scored;
        let all = points.iter().flat_map(|point| [fit(point), score(point)]);
        let low = all.clone().fold(f64::INFINITY, f64::min) / 2.0;
        let high = all.fold(0.0, f64::max) * 2.0;
        let (from, to) = (first.size as f64, last.size as f64);
        let mut chart = ChartBuilder::on(&panel)
            .caption(what.name(), ("sans-serif", 16))
            .margin(8)
            .x_label_area_size(34)
            .y_label_area_size(52)
            .build_cartesian_2d((from..to).log_scale(), (low..high).log_scale())?;
        chart
            .configure_mesh()
            .x_desc(what.name())
            .y_desc("seconds")
            .light_line_style(WHITE)
            .x_label_formatter(&|size| format!("{size:.0}"))
            .y_label_formatter(&|seconds| format!("{seconds}"))
            .draw()?;
        let linear = [(from, fit(first)), (to, (fit(first) * to / from).min(high))];
        chart.draw_series(LineSeries::new(linear, LINEAR))?;
        for (colour, name, seconds) in
            [(FIT, "a fit", &fit as &dyn Fn(&Point) -> f64), (SCORE, "scoring a million rows", &score)]
        {
            let line: Vec<(f64, f64)> =
                points.iter().map(|point| (point.size as f64, seconds(point))).collect();
            chart.draw_series(line.iter().map(|&place| Circle::new(place, 3, colour.filled())))?;
            chart
                .draw_series(LineSeries::new(line, colour.stroke_width(2)))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], colour.stroke_width(2)));
        }
        chart.configure_series_labels().position(SeriesLabelPosition::UpperLeft).draw()?;
    }
    Ok(())
}
