//! Pictures as SVG text.

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

/// The two colours of the pictures.
pub const ORANGE: RGBColor = RGBColor(194, 87, 12);
/// The other one.
pub const BLUE: RGBColor = RGBColor(37, 99, 168);

/// Where plotters draws.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What drawing ends with.
pub type Drawn = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// A white picture of that size, as `draw` fills it.
///
/// # Errors
/// If it cannot be drawn.
pub fn svg(size: (u32, u32), draw: impl FnOnce(&Area) -> Drawn) -> Result<String> {
    let mut text = String::new();
    let drawn = || -> Drawn {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE)?;
        draw(&area)?;
        Ok(area.present()?)
    };
    drawn().map_err(|error| anyhow!("cannot draw: {error}"))?;
    Ok(text)
}
