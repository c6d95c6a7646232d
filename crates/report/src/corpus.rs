//! Report of a corpus over a period: rates of citations that hold, stages that lose citations, scores over time, documents, and the
//! answers to read first.

use reground_metrics::proportion::wilson;
use serde::{Deserialize, Serialize};

use crate::html::{Html, shortened};
use crate::page::{count, counted, page, percent, rate, share, totals};
use crate::plot::{Line, Plot, Scale, bar, interval_bar};
use crate::verdict::{VerdictKind, words};

/// CSS classes of table cells.
const NUMBER: &str = "number";
const TEXT: &str = "text";
/// Maximum number of rows in a list of documents or answers.
pub const MAX_ROWS: i32 = 12;
/// The low percentile of the scores.
pub const LOW_PERCENTILE: f64 = 0.05;
/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;
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
    /// Mean fidelity score.
    pub cfs: Option<f64>,
    /// 5th percentile of the fidelity scores.
    pub cfs_p5: Option<f64>,
    /// Number of citations whose document has changed or was removed since.
    pub stale: u64,
    /// Citations by model.
    pub models: Vec<Model>,
    /// Citations by stage, in order.
    pub stages: Vec<Stage>,
    /// Citations by status, the most frequent first.
    pub statuses: Vec<Status>,
    /// The unit by which `scores` are grouped.
    pub unit: TimeUnit,
    /// Scores over time, without gaps.
    pub scores: Vec<Score>,
    /// The most cited documents.
    pub documents: Vec<Document>,
    /// Documents that are most often in a context and never cited.
    pub idle: Vec<Document>,
    /// Number of documents that are in a context and never cited.
    pub idle_documents: u64,
    /// Answers with the lowest scores.
    pub worst: Vec<WorstAnswer>,
}

/// Citations of a model's answers.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Model {
    /// Name of the model.
    pub model: Option<String>,
    /// Number of citations.
    pub citations: u64,
    /// Number of citations that can be judged.
    pub judged: u64,
    /// Number of citations that hold.
    pub holding: u64,
    /// Mean support of the claims by their sources.
    pub support: Option<f64>,
}

/// A stage of the pipeline.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Stage {
    /// Name of the stage.
    pub name: String,
    /// Number of citations that reached the stage.
    pub reached: u64,
    /// Number of citations that passed the stage.
    pub survived: u64,
}

/// Citations with one status.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Status {
    /// The status.
    pub status: String,
    /// Whether citations with this status hold.
    pub holds: Option<bool>,
    /// Meaning of the status.
    pub meaning: String,
    /// Number of citations.
    pub citations: u64,
}

/// Scores of an hour, a day or a week.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Score {
    /// Start (UTC).
    pub begins: String,
    /// Mean; `None` without scores.
    pub mean: Option<f64>,
    /// 5th percentile.
    pub p5: Option<f64>,
    /// Number of answers with a score.
    pub answers: u64,
}

/// A document.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Document {
    /// The application's id of the document.
    pub doc_id: String,
    /// Title of the document.
    pub title: Option<String>,
    /// Number of contexts that contain the document.
    pub contexts: u64,
    /// Number of citations of the document.
    pub citations: u64,
    /// Number of its citations that hold.
    pub holding: u64,
}

/// An answer with a low score.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct WorstAnswer {
    /// The application's id of the conversation.
    pub conversation_ref: String,
    /// Tenant of the conversation.
    pub tenant: String,
    /// Number of the turn.
    pub turn_no: u32,
    /// The user's question.
    pub query: String,
    /// Model that wrote the answer.
    pub model: Option<String>,
    /// Fidelity score of the answer.
    pub cfs: f64,
    /// Distinct statuses of the citations that do not hold.
    pub statuses: Vec<String>,
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
            self.scores(html);
            self.models(html);
            self.stages(html);
            self.statuses(html);
            self.worst(html);
            let cited = "Most cited";
            documents(
                html,
                cited,
                "No document was cited.",
                &self.documents,
                self.documents.len() as u64,
            );
            let idle = "Shown but never cited";
            documents(
                html,
                idle,
                "Every document shown was cited.",
                &self.idle,
                self.idle_documents,
            );
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
        let sum = |of: fn(&Model) -> u64| self.models.iter().map(of).sum::<u64>();
        let (all, judged, held) = (sum(|m| m.citations), sum(|m| m.judged), sum(|m| m.holding));
        totals(
            html,
            &[
                (
                    "Answers",
                    count(self.answers),
                    format!(
                        "{}; {} to regenerate",
                        counted(self.conversations, "conversation", "conversations"),
                        count(self.refused)
                    ),
                ),
                ("Citations", count(all), format!("{} judged", count(judged))),
                (
                    "Held",
                    percent(rate(held, judged)),
                    format!("{} of {}", count(held), count(judged)),
                ),
                (
                    "CFS",
                    share(self.cfs),
                    format!("mean; 5th percentile {}", share(self.cfs_p5)),
                ),
                (
                    "Stale",
                    count(self.stale),
                    "documents changed or removed since".to_owned(),
                ),
            ],
        );
    }

    fn scores(&self, html: &mut Html) {
        let names: Vec<String> = self
            .scores
            .iter()
            .map(|score| score.begins.clone())
            .collect();
        let line = |name, value: fn(&Score) -> Option<f64>| Line {
            name,
            values: self.scores.iter().map(value).collect(),
        };
        let x_label = format!("{} (UTC)", self.unit.name());
        html.element(
            "section",
            &[("class", "charts"), ("aria-label", "Plots")],
            |html| {
                Plot {
                    id: "cfs",
                    title: "Fidelity over time",
                    x_label: &x_label,
                    names: &names,
                    scale: Scale::Share,
                    lines: &[
                        line("mean CFS", |s| s.mean),
                        line("5th percentile", |s| s.p5),
                    ],
                }
                .draw(html);
                Plot {
                    id: "answers",
                    title: "Answers with a score",
                    x_label: &x_label,
                    names: &names,
                    scale: Scale::Count,
                    lines: &[line("answers", |score| Some(score.answers as f64))],
                }
                .draw(html);
            },
        );
        html.line();
    }

    fn models(&self, html: &mut Html) {
        let columns = [
            ("Model", TEXT),
            ("Citations", NUMBER),
            ("Judged", NUMBER),
            ("Held", NUMBER),
            ("Rate", NUMBER),
            ("95 % interval", TEXT),
            ("Support", NUMBER),
        ];
        table(html, "Citations that hold, by model", &columns, |html| {
            for model in &self.models {
                row(
                    html,
                    model.model.as_deref().unwrap_or("(unknown)"),
                    |html| {
                        for figure in [model.citations, model.judged, model.holding] {
                            html.leaf("td", &[("class", NUMBER)], &count(figure));
                        }
                        let rate = rate(model.holding, model.judged);
                        html.leaf("td", &[("class", NUMBER)], &percent(rate));
                        html.element("td", &[("class", "drawn")], |html| {
                            match wilson(model.holding, model.judged, CONFIDENCE) {
                                Some(bounds) => {
                                    interval_bar(html, bounds.mean, bounds.low, bounds.high)
                                }
                                None => html.text("–"),
                            }
                        });
                        html.leaf("td", &[("class", NUMBER)], &share(model.support));
                    },
                );
            }
        });
    }

    fn stages(&self, html: &mut Html) {
        let largest = self
            .stages
            .iter()
            .map(|stage| stage.reached)
            .max()
            .unwrap_or(0);
        let columns = [
            ("Stage", TEXT),
            ("Reached", NUMBER),
            ("Survived", NUMBER),
            ("Rate", NUMBER),
            ("Share of all", TEXT),
            ("95 % interval", TEXT),
        ];
        table(html, "Where citations are lost", &columns, |html| {
            for stage in &self.stages {
                row(html, &stage.name, |html| {
                    for figure in [stage.reached, stage.survived] {
                        html.leaf("td", &[("class", NUMBER)], &count(figure));
                    }
                    html.leaf(
                        "td",
                        &[("class", NUMBER)],
                        &percent(rate(stage.survived, stage.reached)),
                    );
                    html.element("td", &[("class", "drawn")], |html| {
                        bar(html, "holds", rate(stage.survived, largest).unwrap_or(0.0));
                    });
                    html.element("td", &[("class", "drawn")], |html| {
                        match wilson(stage.survived, stage.reached, CONFIDENCE) {
                            Some(bounds) => {
                                interval_bar(html, bounds.mean, bounds.low, bounds.high)
                            }
                            None => html.text("–"),
                        }
                    });
                });
            }
        });
    }

    fn statuses(&self, html: &mut Html) {
        let all: u64 = self.statuses.iter().map(|status| status.citations).sum();
        let columns = [
            ("Verdict", TEXT),
            ("Citations", NUMBER),
            ("Share", NUMBER),
            ("", TEXT),
            ("Meaning", TEXT),
        ];
        table(html, "Verdicts", &columns, |html| {
            for status in &self.statuses {
                let kind = VerdictKind::of(&status.status, status.holds);
                html.element("tr", &[], |html| {
                    html.element("th", &[("scope", "row"), ("class", kind.class())], |html| {
                        html.leaf("b", &[], kind.sign());
                        html.text(&format!(" {}", words(&status.status)));
                    });
                    html.leaf("td", &[("class", NUMBER)], &count(status.citations));
                    let share = rate(status.citations, all);
                    html.leaf("td", &[("class", NUMBER)], &percent(share));
                    html.element("td", &[("class", "drawn")], |html| {
                        bar(html, kind.class(), share.unwrap_or(0.0));
                    });
                    html.leaf("td", &[("class", TEXT)], &status.meaning);
                });
            }
        });
    }

    fn worst(&self, html: &mut Html) {
        if self.worst.is_empty() {
            return;
        }
        html.element("section", &[], |html| {
            html.leaf("h2", &[], "Answers to read first");
            html.element("ol", &[("class", "worst")], |html| {
                for answer in &self.worst {
                    html.element("li", &[], |html| {
                        html.leaf("span", &[("class", "figure")], &share(Some(answer.cfs)));
                        html.element("div", &[], |html| {
                            let query = shortened(&answer.query, 300);
                            html.leaf("p", &[("class", "query"), ("dir", "auto")], &query);
                            html.element("p", &[("class", "of")], |html| {
                                html.leaf("bdi", &[], &answer.conversation_ref);
                                html.text(&format!(", turn {} · tenant ", answer.turn_no));
                                html.leaf("bdi", &[], &answer.tenant);
                                if let Some(model) = &answer.model {
                                    html.text(" · ");
                                    html.leaf("bdi", &[], model);
                                }
                                for status in &answer.statuses {
                                    html.text(" · ");
                                    html.text(&words(status));
                                }
                            });
                        });
                    });
                }
            });
        });
        html.line();
    }
}

/// Writes a list of documents. `all` is the number of documents of this kind, listed or not.
fn documents(html: &mut Html, title: &str, none: &str, documents: &[Document], all: u64) {
    if documents.is_empty() {
        html.element("section", &[], |html| {
            html.leaf("h2", &[], title);
            html.leaf("p", &[("class", "none")], none);
        });
        return;
    }
    let columns = [
        ("Document", TEXT),
        ("Contexts", NUMBER),
        ("Citations", NUMBER),
        ("Held", NUMBER),
    ];
    table(html, title, &columns, |html| {
        for document in documents {
            row(
                html,
                document.title.as_deref().unwrap_or(&document.doc_id),
                |html| {
                    for figure in [document.contexts, document.citations, document.holding] {
                        html.leaf("td", &[("class", NUMBER)], &count(figure));
                    }
                },
            );
        }
    });
    let more = all.saturating_sub(documents.len() as u64);
    if more > 0 {
        html.leaf(
            "p",
            &[("class", "none")],
            &format!("And {} more.", count(more)),
        );
    }
}

/// Writes a section with a table. Columns are given as (name, CSS class).
fn table(
    html: &mut Html,
    title: &str,
    columns: &[(&str, &'static str)],
    rows: impl FnOnce(&mut Html),
) {
    html.element("section", &[], |html| {
        html.leaf("h2", &[], title);
        html.element("div", &[("class", "wide")], |html| {
            html.element("table", &[], |html| {
                html.element("thead", &[], |html| {
                    html.element("tr", &[], |html| {
                        for (column, class) in columns {
                            html.leaf("th", &[("scope", "col"), ("class", class)], column);
                        }
                    });
                });
                html.element("tbody", &[], rows);
            });
        });
    });
    html.line();
}

/// Writes a row with its name.
fn row(html: &mut Html, name: &str, cells: impl FnOnce(&mut Html)) {
    html.element("tr", &[], |html| {
        html.element("th", &[("scope", "row")], |html| {
            html.leaf("bdi", &[], &shortened(name, 120));
        });
        cells(html);
    });
}

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
