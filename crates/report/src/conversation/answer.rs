//! An answer: its text with the citations in their positions, and a list of the citations.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Deserialize;

use super::citation::Citation;
use super::labels::show_tags;
use crate::html::Html;
use crate::page::{counted, rate, share};
use crate::spans::pieces;
use crate::verdict::AnswerVerdict;

/// An answer.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Answer {
    /// Text of the answer; `None` if it was not stored.
    pub answer: Option<String>,
    /// The application's id of the answer.
    pub message_ref: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// The application's tags as (name, value).
    pub tags: Vec<(String, Option<String>)>,
    /// Citation fidelity score.
    pub cfs: Option<f64>,
    /// Decision: accept or regenerate.
    pub decision: String,
    /// Reasons for the decision.
    pub reasons: Vec<String>,
    /// Whether a later answer replaces this one.
    pub superseded: bool,
    /// Citations in order.
    pub citations: Vec<Citation>,
}

impl Answer {
    /// Returns the markers of the citations.
    pub(super) fn cited_markers(&self) -> BTreeSet<&str> {
        let markers = self.citations.iter().filter_map(|c| c.marker.as_deref());
        markers.collect()
    }

    fn verdict(&self) -> AnswerVerdict {
        AnswerVerdict::of(self.citations.iter().map(|citation| citation.holds))
    }

    /// Returns the share of the judged citations that hold.
    pub(super) fn holding_share(&self) -> Option<f64> {
        let verdict = self.verdict();
        let judged = verdict.citations - verdict.unjudged;
        rate(judged - verdict.failing, judged)
    }

    pub(super) fn show(&self, html: &mut Html, turn: u32, superseded: bool) {
        let class = if superseded { "answer old" } else { "answer" };
        html.element("div", &[("class", class)], |html| {
            html.element("div", &[("class", "says"), ("dir", "auto")], |html| {
                self.text(html);
            });
            html.element("p", &[("class", "of")], |html| {
                self.verdict().show(html, &self.decision, &self.reasons);
                html.text(&format!(" · CFS {}", share(self.cfs)));
                if let Some(model) = &self.model {
                    html.text(" · ");
                    html.leaf("bdi", &[("class", "model")], model);
                }
                if let Some(message) = &self.message_ref {
                    html.text(" · message ");
                    html.leaf("bdi", &[], message);
                }
            });
            show_tags(html, &self.tags);
            self.verdicts(html, turn);
        });
        html.line();
    }

    /// Writes the answer with each citation in its position.
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
                // Citations that share a text, or have none, are named after it.
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

    /// Writes the citations as a list with the details of the cards, for print and for screen readers.
    fn verdicts(&self, html: &mut Html, turn: u32) {
        if self.citations.is_empty() {
            html.leaf("p", &[("class", "none")], "No citations.");
            return;
        }
        html.element("details", &[("class", "verdicts")], |html| {
            let many = counted(self.citations.len() as u64, "citation", "citations");
            html.leaf("summary", &[], &format!("{many} in detail"));
            let name = format!("Citations of turn {turn}");
            html.element("ol", &[("aria-label", &name)], |html| {
                for citation in &self.citations {
                    html.element("li", &[], |html| citation.row(html));
                }
            });
        });
    }
}
