//! Lines over turns or days, as inline SVG. Each line has a colour, a dash and a mark of its own; each mark says its figure, and
//! a table beneath says all of them.

use reground_interrupt::check_interrupt;

use crate::html::Html;

/// Lines that look different: what a plot can show.
pub const MOST_LINES: usize = 3;

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 40.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 40.0;
/// Width of a letter on the axis.
const LETTER: f64 = 6.4;
/// Room between two labels.
const ROOM: f64 = 14.0;
/// Ticks of counts, at most.
const TICKS: f64 = 5.0;

/// What the upright axis measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// From 0 to 1.
    Share,
    /// From 0 to the largest.
    Count,
}

/// A line: a figure for each place on the level axis, or none, where it is interrupted.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// What it shows.
    pub name: &'a str,
    /// Its figures.
    pub values: Vec<Option<f64>>,
}

/// A plot.
#[derive(Clone, Debug)]
pub struct Plot<'a> {
    /// Name within the page.
    pub id: &'static str,
    /// What it shows.
    pub title: &'a str,
    /// What the level axis counts.
    pub along: &'a str,
    /// Names of the places on it.
    pub places: &'a [String],
    /// What the upright axis measures.
    pub scale: Scale,
    /// At most [`MOST_LINES`]; others are left out.
    pub lines: &'a [Line<'a>],
}

impl Plot<'_> {
    /// Draws it.
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
        self.lines.iter().take(MOST_LINES).enumerate()
    }

    /// Its figures, without what is none.
    fn finite(&self) -> impl Iterator<Item = f64> {
        let values = self.lines.iter().take(MOST_LINES).flat_map(|l| &l.values);
        values.flatten().copied().filter(|value| value.is_finite())
    }

    fn legend(&self, html: &mut Html) {
        html.element("ul", &[("class", "legend")], |html| {
            for (number, line) in self.lines() {
                html.element("li", &[], |html| {
                    let look = [
                        ("class", CLASSES[number]),
                        ("viewBox", "0 0 26 10"),
                        ("aria-hidden", "true"),
                    ];
                    html.element("svg", &look, |html| {
                        html.element("path", &[("class", "line"), ("d", "M1 5H25")], |_| {});
                        let shape = mark(number, 13.0, 5.0, 3.2);
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
            ("viewBox", "0 0 420 200"),
            ("role", "img"),
            ("aria-labelledby", &title),
        ];
        html.element("svg", &attributes, |html| {
            let names: Vec<&str> = self.lines().map(|(_, line)| line.name).collect();
            let says = format!("{}: {} by {}", self.title, names.join(", "), self.along);
            html.leaf("title", &[("id", &title)], &says);
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
        let shown = self.shown();
        for index in &shown {
            let x = self.x(*index);
            let d = format!("M{x:.1} {base}v4");
            html.element("path", &[("class", "axis"), ("d", &d)], |_| {});
            // Long names at the ends would leave the picture.
            let name = &self.places[*index];
            let long = name.chars().count() > 3;
            let anchor = match *index {
                0 if long && self.places.len() > 1 => "start",
                last if long && last > 0 && last + 1 == self.places.len() => "end",
                _ => "middle",
            };
            label(html, x, base + 18.0, anchor, name);
        }
        label(
            html,
            f64::midpoint(LEFT, WIDTH - RIGHT),
            HEIGHT - 4.0,
            "middle",
            self.along,
        );
    }

    fn line(&self, html: &mut Html, axis: &Axis, number: usize, line: &Line<'_>) {
        let points: Vec<Option<(f64, f64, f64)>> = line
            .values
            .iter()
            .take(self.places.len())
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
        for (place, point) in self.places.iter().zip(&points) {
            if let Some((x, y, value)) = *point {
                let shape = mark(number, x, y, size);
                html.element("path", &[("class", "mark"), ("d", &shape)], |html| {
                    let says = format!(
                        "{} {place}: {} {}",
                        self.along,
                        line.name,
                        axis.figure(value)
                    );
                    html.leaf("title", &[], &says);
                });
            }
        }
    }

    /// What the picture shows, for whoever cannot see it, and for copying.
    fn table(&self, html: &mut Html) {
        html.element("details", &[], |html| {
            html.leaf("summary", &[], "Figures");
            html.element("div", &[("class", "wide")], |html| {
                html.element("table", &[], |html| {
                    html.element("thead", &[], |html| {
                        html.element("tr", &[], |html| {
                            html.leaf("th", &[("scope", "col")], self.along);
                            for (_, line) in self.lines() {
                                let number = [("scope", "col"), ("class", "number")];
                                html.leaf("th", &number, line.name);
                            }
                        });
                    });
                    html.element("tbody", &[], |html| {
                        for (index, place) in self.places.iter().enumerate() {
                            html.element("tr", &[], |html| {
                                html.leaf("th", &[("scope", "row")], place);
                                for (_, line) in self.lines() {
                                    let value = line.values.get(index).copied().flatten();
                                    let value = value.filter(|value| value.is_finite());
                                    let says = value.map(|v| self.scale.figure(v));
                                    html.leaf(
                                        "td",
                                        &[("class", "number")],
                                        says.as_deref().unwrap_or("–"),
                                    );
                                }
                            });
                        }
                    });
                });
            });
        });
    }

    /// Room between two places.
    fn step(&self) -> f64 {
        (WIDTH - LEFT - RIGHT) / (self.places.len() as f64 - 1.0).max(1.0)
    }

    fn x(&self, index: usize) -> f64 {
        if self.places.len() < 2 {
            f64::midpoint(LEFT, WIDTH - RIGHT)
        } else {
            LEFT + self.step() * index as f64
        }
    }

    /// The places that are named: as many as find room, at even distances.
    fn shown(&self) -> Vec<usize> {
        let longest = self.places.iter().map(|place| place.chars().count()).max();
        let width = longest.unwrap_or(0) as f64 * LETTER + ROOM;
        let stride = (width / self.step()).ceil().max(1.0) as usize;
        (0..self.places.len()).step_by(stride).collect()
    }
}

const CLASSES: [&str; MOST_LINES] = ["s1", "s2", "s3"];

/// A circle, a square or a triangle.
fn mark(number: usize, x: f64, y: f64, size: f64) -> String {
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

impl Scale {
    fn figure(self, value: f64) -> String {
        match self {
            Self::Share => format!("{value:.2}"),
            Self::Count => format!("{value:.0}"),
        }
    }
}

/// The upright axis.
struct Axis {
    scale: Scale,
    /// Between two ticks.
    step: f64,
    top: f64,
}

impl Axis {
    fn of(scale: Scale, largest: Option<f64>) -> Self {
        let (step, top) = match scale {
            Scale::Share => (0.25, 1.0),
            Scale::Count => {
                // The tick above the largest number that there is would be infinitely high; figures beyond the top are drawn at it.
                let largest = largest.unwrap_or(0.0).min(f64::MAX / 2.0);
                // 1, 2 or 5 times a power of ten, and whole.
                let rough = largest.max(1.0) / TICKS;
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

    /// Names of ticks say no more digits than they need.
    fn name(&self, tick: f64) -> String {
        match self.scale {
            Scale::Share => format!("{tick}"),
            Scale::Count if tick >= 10_000.0 => format!("{}k", tick / 1000.0),
            Scale::Count => format!("{tick:.0}"),
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

/// A rate and how far it can be trusted, as a bar in a row of a table: the whole range from 0 to 1, the interval, the rate.
pub fn interval(html: &mut Html, rate: f64, low: f64, high: f64) {
    let says = format!("{rate:.2}, between {low:.2} and {high:.2}");
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
        html.leaf("title", &[], &says);
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

/// A part of a whole, as a bar.
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
        let places: Vec<String> = (1..=values.len()).map(|n| n.to_string()).collect();
        let lines = [Line {
            name: "CFS",
            values: values.to_vec(),
        }];
        let mut html = Html::default();
        Plot {
            id: "p",
            title: "Fidelity",
            along: "turn",
            places: &places,
            scale,
            lines: &lines,
        }
        .draw(&mut html);
        html.finish()
    }

    /// Marks and stretches of line in the picture, without the legend's.
    fn shapes(html: &str) -> (usize, usize) {
        let picture = html.split("class=\"plot\"").nth(1).unwrap_or_default();
        (
            picture.matches("class=\"mark\"").count(),
            picture.matches("class=\"line\"").count(),
        )
    }

    #[test]
    fn nothing_is_said_so() {
        for none in [&[][..], &[None], &[None, Some(f64::NAN)]] {
            let html = drawn(Scale::Share, none);
            assert!(html.contains("Nothing to show"), "{html}");
            assert!(!html.contains("<svg"));
        }
    }

    #[test]
    fn a_point_stands_in_the_middle() {
        let html = drawn(Scale::Share, &[Some(0.5)]);
        assert_eq!(shapes(&html), (1, 0));
        assert!(html.contains("turn 1: CFS 0.50"));
        // Half of the height, half of the width: 10 + 150 / 2 and (40 + 404) / 2 - 3.2.
        assert!(html.contains("d=\"M218.8 85.0a"), "{html}");
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
    fn counts_have_round_ticks() {
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
    fn long_names_are_thinned_out() {
        let days: Vec<String> = (1..=28).map(|day| format!("2026-02-{day:02}")).collect();
        let plot = Plot {
            id: "p",
            title: "",
            along: "day",
            places: &days,
            scale: Scale::Share,
            lines: &[],
        };
        assert_eq!(plot.shown(), [0, 6, 12, 18, 24]);
    }

    proptest! {
        #[test]
        fn no_figure_leaves_the_picture(values in prop::collection::vec(prop::option::of(any::<f64>()), 1..80), share in any::<bool>()) {
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
            let finite = values.iter().flatten().filter(|v| v.is_finite()).count();
            prop_assert_eq!(shapes(&html).0, finite);
        }
    }
}
