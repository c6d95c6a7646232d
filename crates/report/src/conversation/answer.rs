//! An answer: its text with the citations in their places, and the citations once more, a row each.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Deserialize;

use super::{Citation, listed, tags};
use crate::html::Html;
use crate::page::{counted, share};
use crate::spans::pieces;
use crate::verdict::words;

/// An answer.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Answer {
    /// What the model wrote; `None` where its words were not kept.
    pub answer: Option<String>,
    /// The application's id.
    pub message: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The application's tags: names and values.
    pub tags: Vec<(String, Option<String>)>,
    /// Citation fidelity score.
    pub cfs: Option<f64>,
    /// accept or regenerate.
    pub decision: String,
    /// Why it should be regenerated.
    pub reasons: Vec<String>,
    /// Whether a later one took its place.
    pub superseded: bool,
    /// Its citations, in order.
    pub citations: Vec<Citation>,
}

impl Answer {
    /// Markers that it cites.
    pub(super) fn cited(&self) -> BTreeSet<&str> {
        let markers = self.citations.iter().filter_map(|c| c.marker.as_deref());
        markers.collect()
    }

    pub(super) fn show(&self, html: &mut Html, turn: u32, superseded: bool) {
        let class = if superseded { "answer old" } else { "answer" };
        html.element("div", &[("class", class)], |html| {
            html.element("div", &[("class", "says"), ("dir", "auto")], |html| {
                self.text(html);
            });
            html.element("p", &[("class", "of")], |html| {
                if let Some(model) = &self.model {
                    html.leaf("bdi", &[("class", "model")], model);
                    html.text(" · ");
                }
                if let Some(message) = &self.message {
                    html.text("message ");
                    html.leaf("bdi", &[], message);
                    html.text(" · ");
                }
                html.text(&format!("CFS {} · ", share(self.cfs)));
                let accepted = self.decision == "accept";
                let class = if accepted { "holds" } else { "content" };
                html.element("span", &[("class", class)], |html| {
                    html.text(if accepted { "✓ " } else { "! " });
                    html.text(&words(&self.decision));
                    if !self.reasons.is_empty() {
                        html.text(&format!(": {}", listed(&self.reasons)));
                    }
                });
            });
            tags(html, &self.tags);
            self.verdicts(html, turn);
        });
        html.line();
    }

    /// The answer, each citation in its place.
    fn text(&self, html: &mut Html) {
        let Some(answer) = &self.answer else {
            html.leaf("span", &[("class", "none")], "The answer was not stored.");
            for citation in &self.citations {
                html.text(" ");
                citation.show(html, &citation.name());
            }
            return;
        };
        let ranges: Vec<Range<usize>> = self.citations.iter().map(Citation::range).collect();
        for piece in pieces(answer, &ranges) {
            let citations: Vec<&Citation> = piece
                .citations
                .iter()
                .filter_map(|index| self.citations.get(*index))
                .collect();
            match citations.as_slice() {
                [] => html.text(piece.text),
                [one] if !piece.text.is_empty() => one.show(html, piece.text),
                // Several share a stretch, or stand where there is none: each is named beside it.
                several => {
                    let worst = several.iter().map(|citation| citation.kind()).max();
                    if let (false, Some(worst)) = (piece.text.is_empty(), worst) {
                        let class = format!("shared {}", worst.class());
                        html.leaf("span", &[("class", &class)], piece.text);
                    }
                    for citation in several {
                        citation.show(html, &citation.name());
                    }
                }
            }
        }
    }

    /// The citations once more, a row each: what stands in the cards, for paper and for whoever reads in order.
    fn verdicts(&self, html: &mut Html, turn: u32) {
        if self.citations.is_empty() {
            html.leaf("p", &[("class", "none")], "It cites nothing.");
            return;
        }
        html.element("details", &[("class", "verdicts")], |html| {
            let many = counted(self.citations.len() as u64, "citation", "citations");
            html.leaf("summary", &[], &format!("{many}, one by one"));
            let name = format!("Citations of turn {turn}");
            html.element("ol", &[("aria-label", &name)], |html| {
                for citation in &self.citations {
                    html.element("li", &[], |html| citation.row(html));
                }
            });
        });
    }
}
