//! Scoring and fitting as a picture: one dot for each method and set.

use anyhow::Result;
use plotters::prelude::*;

use super::{Entry, MADE_UP, OURS};
use crate::picture::{self, Area, BLUE as THEM, Drawn, ORANGE as US};

const SIZE: (u32, u32) = (1080, 380);
const INK: RGBColor = RGBColor(43, 47, 54);

/// A panel of scoring and one of fitting.
///
/// # Errors
/// If it cannot be drawn.
pub fn svg(entries: &[Entry]) -> Result<String> {
    picture::svg(SIZE, |area| draw(area, entries))
}

/// A set in few letters, so that those of close dots can be read.
fn mark(set: &str) -> &str {
    if set == MADE_UP.0 { "10M" } else { set.get(..2).unwrap_or(set) }
}

fn draw(area: &Area, entries: &[Entry]) -> Drawn {
    let mut methods: Vec<&str> = Vec::new();
    for entry in entries {
        if !methods.contains(&entry.method.as_str()) {
            methods.push(&entry.method);
        }
    }
    type Figure = fn(&Entry) -> Option<f64>;
    let panels: [(&str, Figure); 2] = [
        ("rows scored a second", |entry| Some(entry.found?.scored)),
        ("seconds of a fit", |entry| Some(entry.found?.fit_seconds)),
    ];
    for (panel, (title, figure)) in area.split_evenly((1, 2)).into_iter().zip(panels) {
        let all: Vec<f64> = entries.iter().filter_map(figure).collect();
        if all.is_empty() {
            continue;
        }
        let low = all.iter().copied().fold(f64::INFINITY, f64::min) / 2.0;
        let high = all.iter().copied().fold(0.0, f64::max) * 2.0;
        let mut chart = ChartBuilder::on(&panel)
            .caption(title, ("sans-serif", 16))
            .margin(8)
            .x_label_area_size(30)
            .y_label_area_size(120)
            .build_cartesian_2d((low..high).log_scale(), -0.5..methods.len() as f64 - 0.5)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .light_line_style(WHITE)
            .y_labels(methods.len())
            .y_label_formatter(&|place| {
                let nearest = place.round();
                let name =
                    methods.get(methods.len() - 1 - (nearest.max(0.0) as usize).min(methods.len() - 1));
                if (place - nearest).abs() < 1e-6 {
                    name.map_or(String::new(), ToString::to_string)
                } else {
                    String::new()
                }
            })
            .x_label_formatter(&|value| format!("{value}"))
            .draw()?;
        for entry in entries {
            let (Some(value), Some(place)) = (figure(entry), methods.iter().position(|m| *m == entry.method))
            else {
                continue;
            };
            let (colour, up) =
                (if entry.method == OURS { US } else { THEM }, (methods.len() - 1 - place) as f64);
            chart.draw_series([Circle::new((value, up), 4, colour.filled())])?;
            let style = ("sans-serif", 9).into_font().color(&INK);
            chart.draw_series([Text::new(mark(&entry.set).to_owned(), (value, up + 0.42), style)])?;
        }
    }
    Ok(())
}
