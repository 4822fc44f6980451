//! Plots as PNG pictures.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// DejaVu Sans, see `assets/vendor/README.md`: text looks the same where no fonts are installed.
const FONT: &[u8] = include_bytes!("../assets/vendor/DejaVuSans.ttf");
/// Pixels of a PNG for each unit of the SVG.
const ENLARGED: f32 = 2.0;

/// Makes pictures of plots.
#[derive(Debug)]
pub struct Renderer {
    fonts: Arc<fontdb::Database>,
}

impl Default for Renderer {
    fn default() -> Self {
        Self::new()
    }
}

impl Renderer {
    /// A renderer with its own font, and those of the system for characters that it lacks.
    pub fn new() -> Self {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(FONT.to_vec());
        fonts.load_system_fonts();
        Self { fonts: Arc::new(fonts) }
    }

    /// A plot as PNG.
    ///
    /// # Errors
    /// If the text is not an SVG that can be drawn.
    pub fn png(&self, svg: &str) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
        let options = Options { fontdb: Arc::clone(&self.fonts), ..Options::default() };
        let tree = Tree::from_str(svg, &options)?;
        let size = tree.size();
        let pixels = |length: f32| (length * ENLARGED).round() as u32;
        let mut picture =
            Pixmap::new(pixels(size.width()), pixels(size.height())).ok_or("the plot is empty")?;
        resvg::render(&tree, Transform::from_scale(ENLARGED, ENLARGED), &mut picture.as_mut());
        Ok(picture.encode_png()?)
    }
}
