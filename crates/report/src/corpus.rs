//! The answers of a corpus over a period, to look at: what holds, where it is lost, how it goes, and what to read first.

use reground_metrics::proportion::wilson;
use serde::{Deserialize, Serialize};

use crate::html::{Html, shortened};
use crate::page::{count, counted, page, percent, rate, share, totals};
use crate::plot::{Line, Plot, Scale, bar, interval};
use crate::verdict::{Kind, words};

/// What a column holds: the class of its cells.
const NUMBER: &str = "number";
const TEXT: &str = "text";
/// Rows of a list: documents, answers.
pub const MOST_ROWS: i32 = 12;
/// The low tail of the scores: the 5th percentile.
pub const TAIL: f64 = 0.05;
/// Of the intervals.
const CONFIDENCE: f64 = 0.95;
/// Seconds up to which a period is shown by the hour, and up to which by the day.
const BY_HOUR: f64 = 3.0 * 86_400.0;
const BY_DAY: f64 = 120.0 * 86_400.0;

/// What scores are put together by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// An hour.
    Hour,
    /// A day.
    #[default]
    Day,
    /// A week.
    Week,
}

impl Unit {
    /// The unit that answers over so many seconds are shown by.
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

    /// Its name, as SQL has it too.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
        }
    }
}

/// The answers of a corpus over a period.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Corpus {
    /// Its name.
    pub corpus: String,
    /// Whose answers alone are shown; `None`: all that the reader may see.
    pub tenant: Option<String>,
    /// Beginning of the period.
    pub since: Option<String>,
    /// Its end.
    pub until: Option<String>,
    /// Conversations with an answer.
    pub conversations: u64,
    /// Answers that stand.
    pub answers: u64,
    /// Of these, those to be written anew.
    pub refused: u64,
    /// Mean of their scores.
    pub cfs: Option<f64>,
    /// 5th percentile of their scores.
    pub cfs_p5: Option<f64>,
    /// Citations whose document has changed or gone since.
    pub stale: u64,
    /// Citations by model.
    pub models: Vec<Model>,
    /// Citations by stage, in order.
    pub stages: Vec<Stage>,
    /// Citations by verdict, the most frequent first.
    pub statuses: Vec<Status>,
    /// What `scores` are put together by.
    pub unit: Unit,
    /// Scores over time, without gaps between the first and the last.
    pub scores: Vec<Score>,
    /// Documents that are cited most.
    pub documents: Vec<Document>,
    /// Documents that are shown most, and never cited.
    pub idle: Vec<Document>,
    /// How many such there are.
    pub idle_documents: u64,
    /// Answers with the lowest scores.
    pub worst: Vec<Worst>,
}

/// The citations of a model.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Model {
    /// Its name.
    pub model: Option<String>,
    /// Its citations.
    pub citations: u64,
    /// Those of which it can be said whether they hold.
    pub judged: u64,
    /// Those that do.
    pub held: u64,
    /// How far the sources support what they are cited for.
    pub support: Option<f64>,
}

/// A stage of the pipeline.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Citations that reached it.
    pub reached: u64,
    /// Citations that it let through.
    pub survived: u64,
}

/// Citations of one verdict.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Status {
    /// The verdict.
    pub status: String,
    /// Whether it means that a citation stands.
    pub holds: Option<bool>,
    /// What it says.
    pub meaning: String,
    /// How many.
    pub citations: u64,
}

/// The scores of an hour, a day or a week.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Score {
    /// When it begins (UTC).
    pub begins: String,
    /// Mean; `None` without answers.
    pub mean: Option<f64>,
    /// 5th percentile.
    pub p5: Option<f64>,
    /// Answers with a score.
    pub answers: u64,
}

/// A document.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Document {
    /// The application's id.
    pub doc_id: String,
    /// Its title.
    pub title: Option<String>,
    /// Contexts that it was in.
    pub contexts: u64,
    /// Citations of it.
    pub citations: u64,
    /// Those that hold.
    pub held: u64,
}

/// An answer that should be read.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Worst {
    /// The application's id of the conversation.
    pub conversation: String,
    /// Whose it is.
    pub tenant: String,
    /// Number of the turn.
    pub turn: u32,
    /// The question.
    pub query: String,
    /// Who wrote the answer.
    pub model: Option<String>,
    /// Its score.
    pub cfs: f64,
    /// The verdicts in it that do not hold, each once.
    pub statuses: Vec<String>,
}

impl Corpus {
    /// The page.
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
            let cited = "Cited most";
            documents(
                html,
                cited,
                "No document was cited.",
                &self.documents,
                self.documents.len() as u64,
            );
            let idle = "Shown, and never cited";
            documents(
                html,
                idle,
                "Every document that was shown was cited.",
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
        let (all, judged, held) = (sum(|m| m.citations), sum(|m| m.judged), sum(|m| m.held));
        totals(
            html,
            &[
                (
                    "Answers",
                    count(self.answers),
                    format!(
                        "{}; {} to be written anew",
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
                    "documents changed or gone since".to_owned(),
                ),
            ],
        );
    }

    fn scores(&self, html: &mut Html) {
        let places: Vec<String> = self
            .scores
            .iter()
            .map(|score| score.begins.clone())
            .collect();
        let line = |name, value: fn(&Score) -> Option<f64>| Line {
            name,
            values: self.scores.iter().map(value).collect(),
        };
        let along = format!("{} (UTC)", self.unit.name());
        html.element(
            "section",
            &[("class", "charts"), ("aria-label", "Plots")],
            |html| {
                Plot {
                    id: "cfs",
                    title: "Fidelity over time",
                    along: &along,
                    places: &places,
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
                    along: &along,
                    places: &places,
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
                    model.model.as_deref().unwrap_or("(not said)"),
                    |html| {
                        for figure in [model.citations, model.judged, model.held] {
                            html.leaf("td", &[("class", NUMBER)], &count(figure));
                        }
                        let rate = rate(model.held, model.judged);
                        html.leaf("td", &[("class", NUMBER)], &percent(rate));
                        html.element("td", &[("class", "drawn")], |html| {
                            match wilson(model.held, model.judged, CONFIDENCE) {
                                Some(bounds) => {
                                    interval(html, bounds.mean, bounds.low, bounds.high)
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
        let most = self
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
            ("Left of all", TEXT),
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
                        bar(html, "holds", rate(stage.survived, most).unwrap_or(0.0));
                    });
                    html.element("td", &[("class", "drawn")], |html| {
                        match wilson(stage.survived, stage.reached, CONFIDENCE) {
                            Some(bounds) => interval(html, bounds.mean, bounds.low, bounds.high),
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
            ("It says", TEXT),
        ];
        table(html, "Verdicts", &columns, |html| {
            for status in &self.statuses {
                let kind = Kind::of(&status.status, status.holds);
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
                                html.leaf("bdi", &[], &answer.conversation);
                                html.text(&format!(", turn {} · tenant ", answer.turn));
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

/// Documents of which there are `all` of the kind.
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
                    for figure in [document.contexts, document.citations, document.held] {
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

/// A section with a table; of its columns, names and what they hold.
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

/// A row with its name.
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
    fn units_fit_the_period() {
        assert_eq!(Unit::of(0.0), Unit::Hour);
        assert_eq!(Unit::of(86_400.0 * 7.0), Unit::Day);
        assert_eq!(Unit::of(86_400.0 * 365.0), Unit::Week);
        assert_eq!(serde_json::to_value(Unit::Week).unwrap(), Unit::Week.name());
    }
}
