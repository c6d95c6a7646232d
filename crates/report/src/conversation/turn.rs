//! A turn: what was asked, what the model was given, and the answers.

use reground_documents::PageRange;
use reground_grounding::passage::CharRange;
use reground_grounding::prompt::locate;
use serde::Deserialize;

use super::{Answer, listed, tags};
use crate::html::Html;
use crate::page::counted;
use crate::verdict::words;

/// A turn.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Turn {
    /// Position in the conversation, from 1.
    pub number: u32,
    /// deferred, open, ended or abandoned.
    pub state: String,
    /// The user's words.
    pub query: String,
    /// Where it searched.
    pub corpus: String,
    /// What it was taken for.
    pub intent: String,
    /// Whether it searched.
    pub retrieved: bool,
    /// Tokens of its passages.
    pub context_tokens: u64,
    /// Tokens of its history.
    pub history_tokens: Option<u64>,
    /// Share of the sources (D1).
    pub attribution_share: Option<f64>,
    /// What the model predicts (D2).
    pub predicted_accuracy: Option<f64>,
    /// What was degraded.
    pub warnings: Vec<String>,
    /// The application's tags: names and values.
    pub tags: Vec<(String, Option<String>)>,
    /// What the model was given, in prompt order.
    pub sources: Vec<Source>,
    /// Its answers, oldest first.
    pub answers: Vec<Answer>,
    /// Number of the turn that it follows.
    #[serde(default)]
    pub follows: Option<u32>,
    /// Whether the conversation has gone back behind it.
    #[serde(default)]
    pub superseded: bool,
    /// Whether another system answered it.
    #[serde(default)]
    pub imported: bool,
    /// What it was searched for after it had begun; nothing for passages that were handed over.
    #[serde(default)]
    pub retrievals: Vec<Option<String>>,
}

impl Turn {
    /// The answer that stands.
    pub(super) fn standing(&self) -> Option<&Answer> {
        self.answers.iter().rev().find(|answer| !answer.superseded)
    }

    pub(super) fn show(&self, html: &mut Html) {
        let id = format!("turn-{}", self.number);
        html.element("section", &[("class", "turn"), ("id", &id)], |html| {
            html.element("h2", &[], |html| {
                html.element("a", &[("href", &format!("#{id}"))], |html| {
                    html.text(&format!("Turn {}", self.number));
                });
                for tag in self.marks() {
                    html.leaf("span", &[("class", "tag")], &tag);
                }
            });
            html.leaf("p", &[("class", "query"), ("dir", "auto")], &self.query);
            for retrieval in &self.retrievals {
                let also = match retrieval {
                    Some(query) => format!("Searched again: {query}"),
                    None => "Was handed passages from outside the corpora.".to_owned(),
                };
                html.leaf("p", &[("class", "none"), ("dir", "auto")], &also);
            }
            tags(html, &self.tags);
            let standing = self.standing();
            match standing {
                Some(answer) => answer.show(html, self.number, false),
                None => html.leaf("p", &[("class", "none")], self.unanswered()),
            }
            self.sources(html, standing);
            if !self.warnings.is_empty() {
                html.element("p", &[("class", "warnings")], |html| {
                    html.leaf("b", &[], "⚠ Degraded: ");
                    html.text(&listed(&self.warnings));
                });
            }
            let superseded: Vec<&Answer> = self.answers.iter().filter(|a| a.superseded).collect();
            if !superseded.is_empty() {
                html.element("details", &[("class", "superseded")], |html| {
                    let many = superseded.len() as u64;
                    let says = counted(many, "earlier answer", "earlier answers");
                    html.leaf("summary", &[], &format!("{says}, superseded"));
                    for answer in superseded {
                        answer.show(html, self.number, true);
                    }
                });
            }
        });
        html.line();
    }

    /// What is to be said of it in a word or two.
    fn marks(&self) -> Vec<String> {
        let mut marks = Vec::new();
        if self.imported {
            marks.push("answered elsewhere".to_owned());
        } else {
            marks.push(words(&self.intent));
            if !self.retrieved && self.retrievals.is_empty() {
                marks.push("kept its sources".to_owned());
            }
        }
        // Where it does not follow the one before it, the reader must know.
        match self.follows {
            Some(parent) if parent + 1 != self.number => {
                marks.push(format!("follows turn {parent}"))
            }
            None if self.number > 1 => marks.push("begins anew".to_owned()),
            _ => {}
        }
        if self.superseded {
            marks.push("superseded".to_owned());
        }
        marks
    }

    fn unanswered(&self) -> &'static str {
        match self.state.as_str() {
            "abandoned" => "Given up: it has no answer.",
            "deferred" => "No answer yet: it waits for a rerank.",
            _ => "No answer yet.",
        }
    }

    fn sources(&self, html: &mut Html, standing: Option<&Answer>) {
        if self.sources.is_empty() {
            html.leaf("p", &[("class", "none")], "Nothing was found for it.");
            return;
        }
        let cited = standing.map(Answer::cited).unwrap_or_default();
        html.element("details", &[("class", "sources"), ("open", "")], |html| {
            let many = counted(self.sources.len() as u64, "source", "sources");
            html.leaf("summary", &[], &format!("{many} in the context"));
            html.element("ol", &[], |html| {
                for source in &self.sources {
                    source.show(
                        html,
                        cited.contains(source.marker.as_str()),
                        standing.is_some(),
                    );
                }
            });
        });
    }
}

/// A source of a context.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Source {
    /// Its marker.
    pub marker: String,
    /// The application's id of the document.
    pub doc_id: String,
    /// Title of the document.
    pub title: Option<String>,
    /// Where a reader finds it.
    pub uri: Option<String>,
    /// Pages that it stands on.
    pub pages: Option<PageRange>,
    /// Characters that it covers.
    pub chars: Option<CharRange>,
    /// fresh, carried, pinned or graph.
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
                if let Some(place) = locate(self.pages, self.chars) {
                    html.leaf("span", &[("class", "place")], &place);
                }
                if let Some(uri) = &self.uri {
                    html.element("bdi", &[("class", "where")], |html| html.address(uri));
                }
            });
            html.leaf("span", &[("class", "tag")], &words(&self.origin));
            let says = match (answered, cited) {
                (true, true) => "● cited",
                (true, false) => "○ not cited",
                (false, _) => "",
            };
            html.leaf("span", &[("class", "use")], says);
        });
    }
}
