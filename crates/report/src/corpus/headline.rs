//! The headline of the report: the share of citations that hold, and its change.

use reground_metrics::comparison::{Answer, Comparison, Samples, shares};
use serde::Deserialize;

use crate::html::Html;
use crate::page::{count, percent, rate};
use crate::plot::bar;

/// Changes with a smaller p-value are called changes.
const SIGNIFICANCE: f64 = 0.05;

/// The test is not valid with fewer judged citations in one of the periods.
const LEAST_JUDGED: u64 = 20;

/// Answers with the same numbers of citations.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Holding {
    /// Whether the answers are of the period before.
    pub previous: bool,
    /// Number of citations of each answer that can be judged.
    pub judged: u64,
    /// Number of these that hold.
    pub holding: u64,
    /// Number of answers.
    pub answers: u64,
}

/// Judged citations of a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Held {
    judged: u64,
    holding: u64,
}

impl Held {
    fn of(groups: &[Holding], previous: bool) -> Self {
        let mut held = Self::default();
        for group in groups.iter().filter(|group| group.previous == previous) {
            held.judged += group.judged.saturating_mul(group.answers);
            held.holding += group.holding.saturating_mul(group.answers);
        }
        held
    }

    fn share(self) -> Option<f64> {
        rate(self.holding, self.judged)
    }
}

/// Writes the share that holds, with its counts and its change from the period before.
pub(super) fn show(html: &mut Html, groups: &[Holding]) {
    let (now, before) = (Held::of(groups, false), Held::of(groups, true));
    html.element("section", &[("class", "headline")], |html| {
        html.leaf("h2", &[], "Citations that hold");
        html.leaf("p", &[("class", "figure")], &percent(now.share()));
        html.element("div", &[], |html| {
            bar(html, "holds", now.share().unwrap_or(0.0));
            let counts = match now.judged {
                0 => "No citation can be judged.".to_owned(),
                judged => format!(
                    "{} of {} judged citations.",
                    count(now.holding),
                    count(judged)
                ),
            };
            html.leaf("p", &[], &counts);
            if let Some(change) = change(groups, now, before) {
                html.leaf("p", &[("class", "of")], &change);
            }
        });
    });
    html.line();
}

/// Describes the change from the period before; `None` if one of the periods has no judged citation.
fn change(groups: &[Holding], now: Held, before: Held) -> Option<String> {
    let compared = compared(groups)?;
    let points = |share: f64| format!("{:.1}", share * 100.0).replace('-', "−");
    let by = points(compared.difference.abs());
    let change = if by == "0.0" {
        "As many as".to_owned()
    } else if compared.difference < 0.0 {
        format!("{by} points fewer than")
    } else {
        format!("{by} points more than")
    };
    let verdict = if now.judged.min(before.judged) < LEAST_JUDGED {
        "too few to tell"
    } else if compared.p_value < SIGNIFICANCE {
        "more than chance"
    } else {
        "within chance"
    };
    let (low, high) = (points(compared.low), points(compared.high));
    Some(format!(
        "{change} in the period before ({}, {} of {}): {verdict}, 95 % interval of the change {low} to {high} points.",
        percent(before.share()),
        count(before.holding),
        count(before.judged),
    ))
}

/// Compares the period with the period before. The citations of an answer depend on each other, so the test is clustered by answer.
fn compared(groups: &[Holding]) -> Option<Comparison> {
    let answers: Vec<Answer> = groups
        .iter()
        .flat_map(|group| {
            let samples = Samples {
                sum: group.holding as f64,
                count: group.judged,
            };
            let none = Samples::default();
            let answer = if group.previous {
                [none, samples]
            } else {
                [samples, none]
            };
            std::iter::repeat_n(answer, usize::try_from(group.answers).unwrap_or(0))
        })
        .collect();
    shares(&answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers with `judged` citations each, of which `holding` hold.
    fn group(previous: bool, judged: u64, holding: u64, answers: u64) -> Holding {
        Holding {
            previous,
            judged,
            holding,
            answers,
        }
    }

    fn shown(groups: &[Holding]) -> String {
        let mut html = Html::default();
        show(&mut html, groups);
        html.finish()
    }

    #[test]
    fn the_share_has_its_counts() {
        let html = shown(&[group(false, 4, 1, 1), group(false, 2, 2, 2)]);
        assert!(html.contains(">62.5 %</p>") && html.contains("5 of 8 judged citations."));
        assert!(!html.contains("period before"));
        let html = shown(&[group(false, 0, 0, 3), group(true, 4, 1, 1)]);
        assert!(html.contains(">–</p>") && html.contains("No citation can be judged."));
    }

    #[test]
    fn a_change_is_called_chance_unless_it_is_significant() {
        // 735 of 1,000 after 900 of 1,000.
        let fall = [
            group(false, 1, 1, 735),
            group(false, 1, 0, 265),
            group(true, 1, 1, 900),
            group(true, 1, 0, 100),
        ];
        let html = shown(&fall);
        let change = "16.5 points fewer than in the period before (90 %, 900 of 1,000): more than chance, 95 % interval of the change −19.8 to −13.2 points.";
        assert!(html.contains(change), "{html}");
        // 7 of 10 after 9 of 10, and ten times as many of these.
        let fall = |times| {
            [
                group(false, 1, 1, 7 * times),
                group(false, 1, 0, 3 * times),
                group(true, 1, 1, 9 * times),
                group(true, 1, 0, times),
            ]
        };
        let few = fall(1);
        assert!(shown(&few).contains("20.0 points fewer than"));
        assert!(shown(&few).contains("too few to tell"));
        assert!(shown(&fall(2)).contains("within chance"));
        assert!(shown(&fall(10)).contains("more than chance"));
        let same = [group(false, 1, 1, 5), group(true, 2, 2, 9)];
        assert!(shown(&same).contains("As many as in the period before"));
        let rise = [group(false, 2, 2, 500), group(true, 2, 1, 500)];
        assert!(shown(&rise).contains("50.0 points more than"));
    }
}
