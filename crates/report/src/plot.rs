//! Line plots as inline SVG, and bars for tables. Each line has its own colour, dash and marker. The figures are shown at the
//! markers and in a table below the plot.

use reground_interrupt::check_interrupt;

use crate::html::Html;
use crate::table::{Column, NUMBER, TEXT, row, table};

/// Maximum number of lines in a plot: the number of distinct styles.
pub const MAX_LINES: usize = 3;

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 208.0;
const VIEW_BOX: &str = "0 0 420 208";
const LEFT: f64 = 48.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 48.0;
/// Width of a character on the axis: a digit of a wide font in the largest size of the style sheet, which small plots use.
const LETTER: f64 = 10.0;
/// Minimum distance between two labels.
const LABEL_GAP: f64 = 4.0;
/// Maximum number of intervals between ticks, for counts.
const MAX_INTERVALS: f64 = 5.0;

/// Scale of the y axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// From 0 to 1.
    Share,
    /// From 0 to the largest value.
    Count,
}

/// A line: a value for each position on the x axis. The line has a gap where the value is missing.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// Name in the legend.
    pub name: &'a str,
    /// Values by position.
    pub values: Vec<Option<f64>>,
}

/// A plot.
#[derive(Clone, Debug)]
pub struct Plot<'a> {
    /// Id within the page.
    pub id: &'static str,
    /// Title of the plot.
    pub title: &'a str,
    /// Label of the x axis.
    pub x_label: &'a str,
    /// Names of the positions on the x axis.
    pub names: &'a [String],
    /// Scale of the y axis.
    pub scale: Scale,
    /// Lines. Only the first [`MAX_LINES`] are drawn.
    pub lines: &'a [Line<'a>],
}

impl Plot<'_> {
    /// Draws the plot with its legend and table.
    pub fn draw(&self, html: &mut Html) {
        let axis = Axis::of(self.scale, self.finite().max_by(f64::total_cmp));
        html.element("figure", &[("class", "chart")], |html| {
            html.leaf("figcaption", &[], self.title);
            if self.finite().next().is_none() {
                html.leaf("p", &[("class", "none")], "Nothing to show yet.");
                return;
            }
            self.legend(html);
            self.picture(html, &axis);
            self.table(html);
        });
        html.line();
    }

    fn lines(&self) -> impl Iterator<Item = (usize, &Line<'_>)> {
        self.lines.iter().take(MAX_LINES).enumerate()
    }

    /// Returns the finite values.
    fn finite(&self) -> impl Iterator<Item = f64> {
        let values = self.lines.iter().take(MAX_LINES).flat_map(|l| &l.values);
        values.flatten().copied().filter(|value| value.is_finite())
    }

    fn legend(&self, html: &mut Html) {
        html.element("ul", &[("class", "legend")], |html| {
            for (number, line) in self.lines() {
                html.element("li", &[], |html| {
                    let attributes = [
                        ("class", CLASSES[number]),
                        ("viewBox", "0 0 26 10"),
                        ("aria-hidden", "true"),
                    ];
                    html.element("svg", &attributes, |html| {
                        html.element("path", &[("class", "line"), ("d", "M1 5H25")], |_| {});
                        let shape = marker(number, 13.0, 5.0, 3.2);
                        html.element("path", &[("class", "mark"), ("d", &shape)], |_| {});
                    });
                    html.text(line.name);
                });
            }
        });
    }

    fn picture(&self, html: &mut Html, axis: &Axis) {
        let title = format!("{}-title", self.id);
        let attributes = [
            ("class", "plot"),
            ("viewBox", VIEW_BOX),
            ("role", "img"),
            ("aria-labelledby", &title),
        ];
        html.element("svg", &attributes, |html| {
            let names: Vec<&str> = self.lines().map(|(_, line)| line.name).collect();
            let description = format!("{}: {} by {}", self.title, names.join(", "), self.x_label);
            html.leaf("title", &[("id", &title)], &description);
            self.axes(html, axis);
            for (number, line) in self.lines() {
                html.element("g", &[("class", CLASSES[number])], |html| {
                    self.line(html, axis, number, line);
                });
            }
        });
    }

    fn axes(&self, html: &mut Html, axis: &Axis) {
        for tick in axis.ticks() {
            let (y, name) = (axis.y(tick), axis.name(tick));
            let d = format!("M{LEFT} {y:.1}H{}", WIDTH - RIGHT);
            let class = if tick == 0.0 { "axis" } else { "grid" };
            html.element("path", &[("class", class), ("d", &d)], |_| {});
            label(html, LEFT - 6.0, y + 3.5, "end", &name);
        }
        let base = HEIGHT - BOTTOM;
        for index in self.labelled_positions() {
            let x = self.x(index);
            let d = format!("M{x:.1} {base}v4");
            html.element("path", &[("class", "axis"), ("d", &d)], |_| {});
            label(html, x, base + 18.0, self.anchor(index), &self.names[index]);
        }
        label(
            html,
            f64::midpoint(LEFT, WIDTH - RIGHT),
            HEIGHT - 6.0,
            "middle",
            self.x_label,
        );
    }

    fn line(&self, html: &mut Html, axis: &Axis, number: usize, line: &Line<'_>) {
        let points: Vec<Option<(f64, f64, f64)>> = line
            .values
            .iter()
            .take(self.names.len())
            .enumerate()
            .map(|(index, value)| {
                check_interrupt(1);
                let value = value.filter(|value| value.is_finite())?;
                Some((self.x(index), axis.y(value), value))
            })
            .collect();
        for run in points.split(Option::is_none) {
            let corners: Vec<String> = run
                .iter()
                .flatten()
                .map(|(x, y, _)| format!("{x:.1} {y:.1}"))
                .collect();
            if corners.len() > 1 {
                let d = format!("M{}", corners.join("L"));
                html.element("path", &[("class", "line"), ("d", &d)], |_| {});
            }
        }
        let size = (self.step() / 3.0).clamp(1.2, 3.2);
        for (name, point) in self.names.iter().zip(&points) {
            if let Some((x, y, value)) = *point {
                let shape = marker(number, x, y, size);
                html.element("path", &[("class", "mark"), ("d", &shape)], |html| {
                    let description = format!(
                        "{} {name}: {} {}",
                        self.x_label,
                        line.name,
                        axis.figure(value)
                    );
                    html.leaf("title", &[], &description);
                });
            }
        }
    }

    /// Writes the figures as a table, for screen readers and for copying.
    fn table(&self, html: &mut Html) {
        html.element("details", &[], |html| {
            html.leaf("summary", &[], "Figures");
            let mut columns: Vec<Column<'_>> = vec![(self.x_label, TEXT)];
            columns.extend(self.lines().map(|(_, line)| (line.name, NUMBER)));
            table(html, &columns, |html| {
                for (index, name) in self.names.iter().enumerate() {
                    row(html, &columns, name, |cells| {
                        for (_, line) in self.lines() {
                            let value = line.values.get(index).copied().flatten();
                            let value = value.filter(|value| value.is_finite());
                            let figure = value.map(|v| self.scale.figure(v));
                            cells.text(figure.as_deref().unwrap_or("–"));
                        }
                    });
                }
            });
        });
    }

    /// Returns the distance between two positions.
    fn step(&self) -> f64 {
        (WIDTH - LEFT - RIGHT) / (self.names.len() as f64 - 1.0).max(1.0)
    }

    fn x(&self, index: usize) -> f64 {
        if self.names.len() < 2 {
            f64::midpoint(LEFT, WIDTH - RIGHT)
        } else {
            LEFT + self.step() * index as f64
        }
    }

    /// Returns where a label is anchored. Centred long names would extend beyond the plot at both ends.
    fn anchor(&self, index: usize) -> &'static str {
        let half = width(&self.names[index]) / 2.0;
        let x = self.x(index);
        if self.names.len() > 1 && x - half < LEFT - 6.0 && index == 0 {
            "start"
        } else if x + half > WIDTH {
            "end"
        } else {
            "middle"
        }
    }

    /// Returns the horizontal extent of a label.
    fn extent(&self, index: usize) -> (f64, f64) {
        let (x, width) = (self.x(index), width(&self.names[index]));
        let start = match self.anchor(index) {
            "start" => x,
            "end" => x - width,
            _ => x - width / 2.0,
        };
        (start, start + width)
    }

    /// Returns the positions with a label: evenly spaced, as many as fit.
    fn labelled_positions(&self) -> Vec<usize> {
        let positions = |stride: usize| (0..self.names.len()).step_by(stride);
        let fits = |stride: &usize| {
            let mut free = f64::NEG_INFINITY;
            positions(*stride).all(|index| {
                let (start, end) = self.extent(index);
                let fits = start >= free;
                free = end + LABEL_GAP;
                fits
            })
        };
        let stride = (1..self.names.len()).find(fits);
        positions(stride.unwrap_or(self.names.len().max(1))).collect()
    }
}

/// Returns the largest width of a label.
fn width(label: &str) -> f64 {
    label.chars().count() as f64 * LETTER
}

const CLASSES: [&str; MAX_LINES] = ["s1", "s2", "s3"];

/// Returns the SVG path of a marker: a circle, a square or a triangle.
fn marker(number: usize, x: f64, y: f64, size: f64) -> String {
    match number {
        0 => format!(
            "M{:.1} {y:.1}a{size:.1} {size:.1} 0 1 0 {d:.1} 0a{size:.1} {size:.1} 0 1 0 -{d:.1} 0z",
            x - size,
            d = 2.0 * size
        ),
        1 => format!(
            "M{:.1} {:.1}h{d:.1}v{d:.1}h-{d:.1}z",
            x - size,
            y - size,
            d = 2.0 * size
        ),
        _ => format!(
            "M{x:.1} {:.1}l{size:.1} {h:.1}h-{d:.1}z",
            y - size * 1.2,
            h = 2.1 * size,
            d = 2.0 * size
        ),
    }
}

fn label(html: &mut Html, x: f64, y: f64, anchor: &str, text: &str) {
    let (x, y) = (format!("{x:.1}"), format!("{y:.1}"));
    html.leaf(
        "text",
        &[("x", &x), ("y", &y), ("text-anchor", anchor)],
        text,
    );
}

/// Returns a count in at most five characters.
fn short(count: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")];
    if count >= 1e15 {
        return format!("{count:.0e}");
    }
    match UNITS.into_iter().find(|(least, _)| count >= *least) {
        Some((1e4, unit)) => format!("{}{unit}", count / 1e3),
        Some((size, unit)) => format!("{}{unit}", count / size),
        None => format!("{count:.0}"),
    }
}

impl Scale {
    fn figure(self, value: f64) -> String {
        match self {
            Self::Share => format!("{value:.2}"),
            Self::Count => format!("{value:.0}"),
        }
    }
}

/// The y axis.
struct Axis {
    scale: Scale,
    /// Distance between two ticks.
    step: f64,
    top: f64,
}

impl Axis {
    fn of(scale: Scale, largest: Option<f64>) -> Self {
        let (step, top) = match scale {
            Scale::Share => (0.25, 1.0),
            Scale::Count => {
                // The tick above the largest f64 would be infinite. Values above the top are drawn at the top.
                let largest = largest.unwrap_or(0.0).min(f64::MAX / 2.0);
                // The step is 1, 2 or 5 times a power of ten, and an integer.
                let rough = largest.max(1.0) / MAX_INTERVALS;
                let power = 10_f64.powf(rough.log10().floor());
                let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
                let step = step.into_iter().find(|step| *step >= rough);
                let step = step.unwrap_or(10.0 * power).max(1.0);
                (step, (largest / step).ceil().max(1.0) * step)
            }
        };
        Self { scale, step, top }
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let count = (self.top / self.step).round() as u32;
        (0..=count).map(|tick| f64::from(tick) * self.step)
    }

    /// Returns the label of a tick, without unnecessary digits.
    fn name(&self, tick: f64) -> String {
        match self.scale {
            Scale::Share => format!("{tick}"),
            Scale::Count => short(tick),
        }
    }

    fn figure(&self, value: f64) -> String {
        self.scale.figure(value)
    }

    fn y(&self, value: f64) -> f64 {
        let height = HEIGHT - TOP - BOTTOM;
        TOP + height * (1.0 - (value / self.top).clamp(0.0, 1.0))
    }
}

/// Draws a rate with its confidence interval on a bar from 0 to 1.
pub fn interval_bar(html: &mut Html, rate: f64, low: f64, high: f64) {
    let description = format!("{rate:.2}, between {low:.2} and {high:.2}");
    let attributes = [
        ("class", "interval"),
        ("viewBox", "0 0 100 12"),
        ("role", "img"),
    ];
    let at = |value: f64| {
        if value.is_finite() {
            2.0 + 96.0 * value.clamp(0.0, 1.0)
        } else {
            2.0
        }
    };
    html.element("svg", &attributes, |html| {
        html.leaf("title", &[], &description);
        html.element(
            "path",
            &[("class", "grid"), ("d", "M2 6H98M2 3v6M50 3v6M98 3v6")],
            |_| {},
        );
        let d = format!("M{:.1} 6H{:.1}", at(low), at(high));
        html.element("path", &[("class", "range"), ("d", &d)], |_| {});
        let d = format!("M{:.1} 1v10", at(rate));
        html.element("path", &[("class", "rate"), ("d", &d)], |_| {});
    });
}

/// Draws a share as a bar.
pub fn bar(html: &mut Html, class: &'static str, part: f64) {
    let width = if part.is_finite() {
        100.0 * part.clamp(0.0, 1.0)
    } else {
        0.0
    };
    let attributes = [
        ("class", "bar"),
        ("viewBox", "0 0 100 8"),
        ("preserveAspectRatio", "none"),
        ("aria-hidden", "true"),
    ];
    html.element("svg", &attributes, |html| {
        html.element(
            "path",
            &[("class", "ground"), ("d", "M0 0H100V8H0z")],
            |_| {},
        );
        let d = format!("M0 0H{width:.1}V8H0z");
        html.element("path", &[("class", class), ("d", &d)], |_| {});
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drawn(scale: Scale, values: &[Option<f64>]) -> String {
        let names: Vec<String> = (1..=values.len()).map(|n| n.to_string()).collect();
        let lines = [Line {
            name: "CFS",
            values: values.to_vec(),
        }];
        let mut html = Html::default();
        Plot {
            id: "p",
            title: "Fidelity",
            x_label: "turn",
            names: &names,
            scale,
            lines: &lines,
        }
        .draw(&mut html);
        html.finish()
    }

    /// Counts markers and connected lines in the plot, without the legend.
    fn shapes(html: &str) -> (usize, usize) {
        let picture = html.split("class=\"plot\"").nth(1).unwrap_or_default();
        (
            picture.matches("class=\"mark\"").count(),
            picture.matches("class=\"line\"").count(),
        )
    }

    #[test]
    fn an_empty_plot_shows_a_message() {
        for none in [&[][..], &[None], &[None, Some(f64::NAN)]] {
            let html = drawn(Scale::Share, none);
            assert!(html.contains("Nothing to show"), "{html}");
            assert!(!html.contains("<svg"));
        }
    }

    #[test]
    fn a_single_point_is_in_the_middle() {
        let html = drawn(Scale::Share, &[Some(0.5)]);
        assert_eq!(shapes(&html), (1, 0));
        assert!(html.contains("turn 1: CFS 0.50"));
        // Half of the height and half of the width: 12 + 148 / 2 and (48 + 404) / 2 - 3.2.
        assert!(html.contains("d=\"M222.8 86.0a"), "{html}");
    }

    #[test]
    fn a_gap_interrupts_the_line() {
        let html = drawn(
            Scale::Share,
            &[
                Some(1.0),
                Some(0.5),
                None,
                Some(0.0),
                None,
                Some(0.1),
                Some(0.2),
            ],
        );
        assert_eq!(shapes(&html), (5, 2));
    }

    #[test]
    fn ticks_of_counts_are_round() {
        for (largest, step, top) in [
            (0.0, 1.0, 1.0),
            (3.0, 1.0, 3.0),
            (7.0, 2.0, 8.0),
            (10.0, 2.0, 10.0),
            (4100.0, 1000.0, 5000.0),
        ] {
            let axis = Axis::of(Scale::Count, Some(largest));
            assert_eq!((axis.step, axis.top), (step, top), "{largest}");
        }
        assert_eq!(Axis::of(Scale::Count, Some(9e4)).name(20_000.0), "20k");
        let highest = Axis::of(Scale::Count, Some(f64::MAX));
        assert!(highest.ticks().count() <= 6 && highest.ticks().all(f64::is_finite));
    }

    #[test]
    fn labels_of_counts_are_short() {
        for (count, label) in [
            (0.0, "0"),
            (8000.0, "8000"),
            (20_000.0, "20k"),
            (1_200_000.0, "1.2M"),
            (5e9, "5G"),
            (2e14, "200T"),
            (2e300, "2e300"),
        ] {
            assert_eq!(short(count), label);
        }
    }

    fn labelled(names: &[String]) -> Vec<usize> {
        Plot {
            id: "p",
            title: "",
            x_label: "day",
            names,
            scale: Scale::Share,
            lines: &[],
        }
        .labelled_positions()
    }

    #[test]
    fn long_labels_are_thinned_out() {
        let days: Vec<String> = (1..=28).map(|day| format!("2026-02-{day:02}")).collect();
        assert_eq!(labelled(&days), [0, 12, 24]);
        assert_eq!(labelled(&days[..2]), [0, 1]);
        assert_eq!(labelled(&days[..1]), [0]);
        assert_eq!(labelled(&[]), [0; 0]);
    }

    proptest! {
        #[test]
        fn all_points_are_inside_the_plot(values in prop::collection::vec(prop::option::of(any::<f64>()), 1..80), share in any::<bool>(), length in 1_usize..5) {
            let html = drawn(if share { Scale::Share } else { Scale::Count }, &values);
            prop_assert!(!html.contains("NaN") && !html.contains("inf"), "{}", html);
            for d in html.split("class=\"line\" d=\"M").skip(1) {
                let d = d.split('"').next().unwrap();
                for corner in d.split('L').filter(|corner| corner.contains(' ')) {
                    let (x, y) = corner.split_once(' ').unwrap();
                    if let (Ok(x), Ok(y)) = (x.parse::<f64>(), y.parse::<f64>()) {
                        prop_assert!((LEFT..=WIDTH - RIGHT + 0.1).contains(&x) && (TOP..=HEIGHT - BOTTOM).contains(&y), "{}", corner);
                    }
                }
            }
            let names: Vec<String> = (0..values.len()).map(|n| "x".repeat(length * (n % 3 + 1))).collect();
            let plot = Plot { id: "p", title: "", x_label: "", names: &names, scale: Scale::Count, lines: &[] };
            let extents: Vec<_> = plot.labelled_positions().into_iter().map(|index| plot.extent(index)).collect();
            prop_assert!(extents.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:?}", extents);
            prop_assert!(extents.iter().all(|(start, end)| *start >= 0.0 && *end <= WIDTH), "{:?}", extents);
            let finite = values.iter().flatten().filter(|v| v.is_finite()).count();
            prop_assert_eq!(shapes(&html).0, finite);
        }
    }
}
