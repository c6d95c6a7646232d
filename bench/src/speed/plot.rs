//! The picture of the report: what each competitor adds to its candidate queries.

use anyhow::{Result, anyhow};
use plotters::prelude::{
    BLACK, ChartBuilder, Color, IntoDrawingArea, IntoFont, RGBColor, Rectangle, SVGBackend, Text,
    WHITE,
};

/// A bar: its name, and parts that stand on one another, in milliseconds.
pub struct Bar {
    /// Who.
    pub name: String,
    /// Name and length of each part.
    pub parts: Vec<(&'static str, f64)>,
}

const SIZE: (u32, u32) = (860, 300);
const COLOURS: [RGBColor; 3] = [
    RGBColor(47, 93, 138),
    RGBColor(217, 131, 36),
    RGBColor(140, 140, 140),
];

/// Horizontal bars as SVG.
///
/// # Errors
/// Those of the drawing library.
pub fn svg(title: &str, bars: &[Bar]) -> Result<String> {
    let mut svg = String::new();
    draw(title, bars, &mut svg).map_err(|error| anyhow!("the plot cannot be drawn: {error}"))?;
    Ok(svg)
}

fn draw(title: &str, bars: &[Bar], svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let longest = bars
        .iter()
        .map(|bar| bar.parts.iter().map(|(_, length)| length).sum::<f64>())
        .fold(1.0, f64::max);
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .margin_left(150)
        .x_label_area_size(36)
        .build_cartesian_2d(0.0..longest * 1.12, 0.0..bars.len() as f64)?;
    chart
        .configure_mesh()
        .disable_y_axis()
        .disable_y_mesh()
        .x_desc("milliseconds")
        .draw()?;
    for (row, bar) in bars.iter().rev().enumerate() {
        let (bottom, top) = (row as f64 + 0.2, row as f64 + 0.8);
        let mut begin = 0.0;
        for ((_, length), colour) in bar.parts.iter().zip(COLOURS) {
            let corners = [(begin, bottom), (begin + length, top)];
            chart.draw_series([Rectangle::new(corners, colour.filled())])?;
            begin += length;
        }
        let label = ("sans-serif", 14).into_font().color(&BLACK);
        chart.draw_series([Text::new(
            format!("{begin:.1}"),
            (begin + longest * 0.01, top - 0.2),
            label.clone(),
        )])?;
        // Left of the axis, beside its bar.
        let height = f64::from(SIZE.1) - 96.0;
        let y = 44.0 + height * (1.0 - (row as f64 + 0.62) / bars.len() as f64);
        root.draw(&Text::new(bar.name.clone(), (12, y as i32), label))?;
    }
    // What the colours mean, under the axis.
    let names = bars
        .first()
        .map(|bar| bar.parts.as_slice())
        .unwrap_or_default();
    for (index, ((name, _), colour)) in names.iter().zip(COLOURS).enumerate() {
        let x = 160 + 180 * i32::try_from(index)?;
        let y = i32::try_from(SIZE.1)? - 18;
        root.draw(&Rectangle::new([(x, y), (x + 12, y + 12)], colour.filled()))?;
        let label = ("sans-serif", 13).into_font().color(&BLACK);
        root.draw(&Text::new((*name).to_owned(), (x + 18, y), label))?;
    }
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bar_is_drawn_with_its_sum() {
        let bars = [
            Bar {
                name: "one".into(),
                parts: vec![("begin", 1.0), ("end", 2.5)],
            },
            Bar {
                name: "two".into(),
                parts: vec![("begin", 10.0), ("end", 20.25)],
            },
        ];
        let svg = svg("title", &bars).unwrap();
        for text in ["one", "two", "3.5", "30.2", "begin", "end", "title"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
