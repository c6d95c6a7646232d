//! Report of a corpus over a period: the share of citations that hold and its change, the answers to read first, citations by model,
//! document type, stage and verdict, documents, and fidelity scores.

mod headline;
mod tables;
mod worst;

use serde::{Deserialize, Serialize};

use crate::html::{Html, shortened};
use crate::page::{count, counted, page, percent, rate, share, totals};
use crate::plot::{Line, Plot, Scale};

pub use headline::Holding;
pub use tables::{CitationGroup, Document, Stage, Status};
pub use worst::{FailingCitation, MAX_FAILING, WorstAnswer};

/// Maximum number of rows in a list.
pub const MAX_ROWS: i32 = 12;
/// The low percentile of the scores.
pub const LOW_PERCENTILE: f64 = 0.05;
/// Periods up to this many seconds are shown by the hour.
const BY_HOUR: f64 = 3.0 * 86_400.0;
/// Periods up to this many seconds are shown by the day, and longer ones by the week.
const BY_DAY: f64 = 120.0 * 86_400.0;

/// The unit of time by which scores are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    /// An hour.
    Hour,
    /// A day.
    #[default]
    Day,
    /// A week.
    Week,
}

impl TimeUnit {
    /// Returns the unit for a period of this many seconds.
    #[must_use]
    pub fn of(seconds: f64) -> Self {
        if seconds <= BY_HOUR {
            Self::Hour
        } else if seconds <= BY_DAY {
            Self::Day
        } else {
            Self::Week
        }
    }

    /// Returns the name, which SQL uses, too.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
        }
    }
}

/// Answers of a corpus over a period.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Corpus {
    /// Name of the corpus.
    pub corpus: String,
    /// Tenant whose answers are shown; `None` for all answers that the reader can see.
    pub tenant: Option<String>,
    /// Start of the period.
    pub since: Option<String>,
    /// End of the period.
    pub until: Option<String>,
    /// Number of conversations with an answer.
    pub conversations: u64,
    /// Number of current answers.
    pub answers: u64,
    /// Number of current answers with the decision `regenerate`.
    pub refused: u64,
    /// Number of current answers with a citation that does not hold.
    pub failing: u64,
    /// Number of current answers that contradict a source.
    pub contradicting: u64,
    /// Answers of the period and of the period before, grouped by their citations.
    pub held: Vec<Holding>,
    /// Mean fidelity score.
    pub cfs: Option<f64>,
    /// 5th percentile of the fidelity scores.
    pub cfs_p5: Option<f64>,
    /// Number of citations whose document has changed or was removed since.
    pub stale: u64,
    /// Citations by model.
    pub models: Vec<CitationGroup>,
    /// Citations of a document by the type of the document, the most frequent first.
    pub document_types: Vec<CitationGroup>,
    /// Number of document types, listed or not.
    pub all_document_types: u64,
    /// Citations by stage, in order.
    pub stages: Vec<Stage>,
    /// Citations by status, the most frequent first.
    pub statuses: Vec<Status>,
    /// The unit by which `scores` are grouped.
    pub unit: TimeUnit,
    /// Answers over time, without gaps.
    pub scores: Vec<Score>,
    /// The most cited documents.
    pub documents: Vec<Document>,
    /// Documents that are most often in a context and never cited.
    pub idle: Vec<Document>,
    /// Number of documents that are in a context and never cited.
    pub idle_documents: u64,
    /// Answers whose citations fail or whose decision is `regenerate`, the worst first.
    pub worst: Vec<WorstAnswer>,
}

/// Answers of an hour, a day or a week.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Score {
    /// Start (UTC).
    pub begins: String,
    /// Mean; `None` without scores.
    pub mean: Option<f64>,
    /// 5th percentile.
    pub p5: Option<f64>,
    /// Number of answers.
    pub answers: u64,
    /// Number of their citations that can be judged.
    pub judged: u64,
    /// Number of their citations that hold.
    pub holding: u64,
}

impl Corpus {
    /// Renders the page.
    #[must_use]
    pub fn page(&self) -> String {
        let title = format!("Corpus {}", shortened(&self.corpus, 80));
        page(&title, |html| {
            self.heading(html);
            if self.answers == 0 {
                html.leaf("p", &[("class", "none")], "No answer in this period.");
                return;
            }
            headline::show(html, &self.held);
            self.totals(html);
            worst::show(html, &self.worst);
            self.history(html);
            let models = self.models.len() as u64;
            tables::groups(html, "Model", "(unknown)", &self.models, models);
            tables::groups(
                html,
                "Document type",
                "(none)",
                &self.document_types,
                self.all_document_types,
            );
            tables::stages(html, &self.stages);
            tables::statuses(html, &self.statuses);
            tables::documents(
                html,
                "Most cited",
                "No document was cited.",
                &self.documents,
                self.documents.len() as u64,
            );
            tables::documents(
                html,
                "Shown but never cited",
                "Every document shown was cited.",
                &self.idle,
                self.idle_documents,
            );
            self.fidelity(html);
        })
    }

    fn heading(&self, html: &mut Html) {
        html.element("header", &[], |html| {
            html.leaf("p", &[("class", "kind")], "Corpus");
            html.leaf("h1", &[("dir", "auto")], &self.corpus);
            html.element("p", &[("class", "of")], |html| {
                html.text(match (&self.since, &self.until) {
                    (None, None) => "All answers",
                    _ => "Answers ",
                });
                if let Some(since) = &self.since {
                    html.text(&format!("from {since} "));
                }
                if let Some(until) = &self.until {
                    html.text(&format!("until {until}"));
                }
                if let Some(tenant) = &self.tenant {
                    html.text(" · tenant ");
                    html.leaf("bdi", &[], tenant);
                }
            });
        });
    }

    fn totals(&self, html: &mut Html) {
        let sum = |of: fn(&CitationGroup) -> u64| self.models.iter().map(of).sum::<u64>();
        totals(
            html,
            &[
                (
                    "Failing answers",
                    count(self.failing),
                    format!(
                        "with a citation that does not hold; {} of all",
                        percent(rate(self.failing, self.answers))
                    ),
                ),
                (
                    "Contradictions",
                    count(self.contradicting),
                    "answers that contradict a source".to_owned(),
                ),
                (
                    "Answers",
                    count(self.answers),
                    format!(
                        "{}; {} to regenerate",
                        counted(self.conversations, "conversation", "conversations"),
                        count(self.refused)
                    ),
                ),
                (
                    "Citations",
                    count(sum(|group| group.citations)),
                    format!("{} judged", count(sum(|group| group.judged))),
                ),
                (
                    "Stale",
                    count(self.stale),
                    "documents changed or removed since".to_owned(),
                ),
            ],
        );
    }

    /// Draws the share that holds, and the number of answers, over time.
    fn history(&self, html: &mut Html) {
        let share = |score: &Score| rate(score.holding, score.judged);
        self.charts(
            html,
            &[
                (
                    "holding",
                    "Citations that hold",
                    Scale::Share,
                    &[("share that holds", &share)],
                ),
                (
                    "answers",
                    "Answers",
                    Scale::Count,
                    &[("answers", &|score| Some(score.answers as f64))],
                ),
            ],
        );
    }

    /// Writes the fidelity scores, which judge the coordinates of citations and not their content.
    fn fidelity(&self, html: &mut Html) {
        html.element("section", &[], |html| {
            html.leaf("h2", &[], "Fidelity of the coordinates (CFS)");
            html.leaf(
                "p",
                &[("class", "of")],
                &format!(
                    "Whether citations name places that exist and were in the context, whatever these say: mean {}, 5th percentile {}.",
                    share(self.cfs),
                    share(self.cfs_p5)
                ),
            );
            self.charts(
                html,
                &[(
                    "cfs",
                    "Fidelity over time",
                    Scale::Share,
                    &[("mean CFS", &|s| s.mean), ("5th percentile", &|s| s.p5)],
                )],
            );
        });
    }

    fn charts(&self, html: &mut Html, charts: &[Chart<'_>]) {
        let names: Vec<String> = self
            .scores
            .iter()
            .map(|score| score.begins.clone())
            .collect();
        let x_label = format!("{} (UTC)", self.unit.name());
        let attributes = [("class", "charts"), ("aria-label", "Plots")];
        html.element("section", &attributes, |html| {
            for (id, title, scale, lines) in charts {
                let lines: Vec<Line<'_>> = lines
                    .iter()
                    .map(|(name, value)| Line {
                        name,
                        values: self.scores.iter().map(value).collect(),
                    })
                    .collect();
                Plot {
                    id,
                    title,
                    x_label: &x_label,
                    names: &names,
                    scale: *scale,
                    lines: &lines,
                }
                .draw(html);
            }
        });
        html.line();
    }
}

/// A line of a chart: its name, and its value for an hour, a day or a week.
type ChartLine<'a> = (&'static str, &'a dyn Fn(&Score) -> Option<f64>);

/// A chart: its id, title, scale and lines.
type Chart<'a> = (&'static str, &'static str, Scale, &'a [ChartLine<'a>]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_depend_on_the_period() {
        assert_eq!(TimeUnit::of(0.0), TimeUnit::Hour);
        assert_eq!(TimeUnit::of(86_400.0 * 7.0), TimeUnit::Day);
        assert_eq!(TimeUnit::of(86_400.0 * 365.0), TimeUnit::Week);
        assert_eq!(
            serde_json::to_value(TimeUnit::Week).unwrap(),
            TimeUnit::Week.name()
        );
    }
}
