//! A turn: the question, the sources of its context, and the answers.

use reground_documents::PageRange;
use reground_grounding::passage::{CharRange, locator};
use serde::Deserialize;

use super::answer::Answer;
use super::labels::show_tags;
use crate::html::Html;
use crate::page::counted;
use crate::verdict::{join_words, words};

/// A turn.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Turn {
    /// Position in the conversation, from 1.
    pub turn_no: u32,
    /// State: deferred, open, ended or abandoned.
    pub state: String,
    /// The user's question.
    pub query: String,
    /// Corpus that the turn searched.
    pub corpus: String,
    /// Intent of the question.
    pub intent: String,
    /// Whether the turn searched.
    pub retrieved: bool,
    /// Tokens of the passages in the prompt.
    pub context_tokens: u64,
    /// Tokens of the history in the prompt.
    pub history_tokens: Option<u64>,
    /// Share of the model's attention that the sources get, α.
    pub attribution_share: Option<f64>,
    /// Predicted accuracy.
    pub predicted_accuracy: Option<f64>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// The application's tags as (name, value).
    pub tags: Vec<(String, Option<String>)>,
    /// Sources of the context, in prompt order.
    pub sources: Vec<Source>,
    /// Answers, the oldest first.
    pub answers: Vec<Answer>,
    /// Number of the parent turn.
    #[serde(default)]
    pub follows: Option<u32>,
    /// Whether the conversation has returned to a turn before this one.
    #[serde(default)]
    pub superseded: bool,
    /// Whether the turn was imported from another system.
    #[serde(default)]
    pub imported: bool,
    /// Additional retrievals of the turn: their queries, or `None` for passages that the application added.
    #[serde(default)]
    pub retrievals: Vec<Option<String>>,
}

impl Turn {
    /// Returns the answer that is not superseded.
    pub(super) fn current_answer(&self) -> Option<&Answer> {
        self.answers.iter().rev().find(|answer| !answer.superseded)
    }

    pub(super) fn show(&self, html: &mut Html) {
        let id = format!("turn-{}", self.turn_no);
        html.element("section", &[("class", "turn"), ("id", &id)], |html| {
            html.element("h2", &[], |html| {
                html.element("a", &[("href", &format!("#{id}"))], |html| {
                    html.text(&format!("Turn {}", self.turn_no));
                });
                for label in self.labels() {
                    html.leaf("span", &[("class", "tag")], &label);
                }
            });
            html.leaf("p", &[("class", "query"), ("dir", "auto")], &self.query);
            for retrieval in &self.retrievals {
                let line = match retrieval {
                    Some(query) => format!("Searched again: {query}"),
                    None => "Passages from outside the corpora were added.".to_owned(),
                };
                html.leaf("p", &[("class", "none"), ("dir", "auto")], &line);
            }
            show_tags(html, &self.tags);
            let current = self.current_answer();
            match current {
                Some(answer) => answer.show(html, self.turn_no, false),
                None => html.leaf("p", &[("class", "none")], self.unanswered()),
            }
            self.sources(html, current);
            if !self.warnings.is_empty() {
                html.element("p", &[("class", "warnings")], |html| {
                    html.leaf("b", &[], "⚠ Degraded: ");
                    html.text(&join_words(&self.warnings));
                });
            }
            let superseded: Vec<&Answer> = self.answers.iter().filter(|a| a.superseded).collect();
            if !superseded.is_empty() {
                html.element("details", &[("class", "superseded")], |html| {
                    let number = superseded.len() as u64;
                    let number = counted(number, "earlier answer", "earlier answers");
                    html.leaf("summary", &[], &format!("{number}, superseded"));
                    for answer in superseded {
                        answer.show(html, self.turn_no, true);
                    }
                });
            }
        });
        html.line();
    }

    /// Returns short labels for the heading.
    fn labels(&self) -> Vec<String> {
        let mut labels = Vec::new();
        if self.imported {
            labels.push("imported".to_owned());
        } else {
            labels.push(words(&self.intent));
            if !self.retrieved && self.retrievals.is_empty() {
                labels.push("kept its sources".to_owned());
            }
        }
        // A turn that does not follow the previous one is labelled.
        match self.follows {
            Some(parent) if parent + 1 != self.turn_no => {
                labels.push(format!("follows turn {parent}"))
            }
            None if self.turn_no > 1 => labels.push("new start".to_owned()),
            _ => {}
        }
        if self.superseded {
            labels.push("superseded".to_owned());
        }
        labels
    }

    fn unanswered(&self) -> &'static str {
        match self.state.as_str() {
            "abandoned" => "Abandoned without an answer.",
            "deferred" => "No answer yet: waiting for a reranker.",
            _ => "No answer yet.",
        }
    }

    fn sources(&self, html: &mut Html, current: Option<&Answer>) {
        if self.sources.is_empty() {
            html.leaf("p", &[("class", "none")], "No sources were found.");
            return;
        }
        let cited = current.map(Answer::cited_markers).unwrap_or_default();
        html.element("details", &[("class", "sources"), ("open", "")], |html| {
            let many = counted(self.sources.len() as u64, "source", "sources");
            html.leaf("summary", &[], &format!("{many} in the context"));
            html.element("ol", &[], |html| {
                for source in &self.sources {
                    source.show(
                        html,
                        cited.contains(source.marker.as_str()),
                        current.is_some(),
                    );
                }
            });
        });
    }
}

/// A source of a context.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Source {
    /// Marker of the source.
    pub marker: String,
    /// The application's id of the document.
    pub doc_id: String,
    /// Title of the document.
    pub title: Option<String>,
    /// Address of the document.
    pub uri: Option<String>,
    /// Structured locator of the passage.
    pub structured_locator: Option<String>,
    /// Pages of the passage.
    pub pages: Option<PageRange>,
    /// Characters of the passage.
    pub chars: Option<CharRange>,
    /// Origin: fresh, carried, pinned or graph.
    pub origin: String,
}

impl Source {
    fn show(&self, html: &mut Html, cited: bool, answered: bool) {
        let class = if cited { "cited" } else { "idle" };
        html.element("li", &[("class", class)], |html| {
            html.leaf("span", &[("class", "marker")], &self.marker);
            html.element("span", &[("class", "what")], |html| {
                let title = self.title.as_deref().unwrap_or(&self.doc_id);
                html.leaf("bdi", &[("class", "title")], title);
                let place = locator(self.structured_locator.as_deref(), self.pages, self.chars);
                if let Some(place) = place {
                    html.leaf("span", &[("class", "place")], &place);
                }
                if let Some(uri) = &self.uri {
                    html.element("bdi", &[("class", "where")], |html| html.address(uri));
                }
            });
            html.leaf("span", &[("class", "tag")], &words(&self.origin));
            let label = match (answered, cited) {
                (true, true) => "● cited",
                (true, false) => "○ not cited",
                (false, _) => "",
            };
            html.leaf("span", &[("class", "use")], label);
        });
    }
}
