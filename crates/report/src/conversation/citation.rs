//! A citation: its sign in the answer, and its details.

use std::ops::Range;

use serde::Deserialize;

use crate::html::{Html, shortened};
use crate::page::share;
use crate::verdict::{VerdictKind, words};

/// A citation and its verdict.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Citation {
    /// Position in the answer, from 1.
    pub citation_no: u32,
    /// Marker of the source, or the marker that the citation claims.
    pub marker: Option<String>,
    /// Text of the citation in the answer.
    pub raw: String,
    /// Document of the source.
    pub doc_id: Option<String>,
    /// Title of the document.
    pub title: Option<String>,
    /// Address of the document.
    pub uri: Option<String>,
    /// Position within the document.
    pub locator: Option<String>,
    /// The claim that the citation supports.
    pub claim: Option<String>,
    /// The sentence of the source that supports the claim best.
    pub quote: Option<String>,
    /// Status of the verdict.
    pub status: String,
    /// Whether the citation holds.
    pub holds: Option<bool>,
    /// Fidelity score.
    pub score: Option<f64>,
    /// Support of the claim by the source.
    pub support: Option<f64>,
    /// Reason for the verdict.
    pub detail: Option<String>,
    /// Marker of another source that supports the claim better.
    pub best_other_marker: Option<String>,
    /// Stage at which the citation was lost.
    pub lost_stage: Option<String>,
    /// Start in the answer, in characters.
    pub answer_start: usize,
    /// End in the answer (exclusive).
    pub answer_end: usize,
}

impl Citation {
    pub(crate) fn kind(&self) -> VerdictKind {
        VerdictKind::of(&self.status, self.holds)
    }

    /// Returns a short name: the marker, the text, or the number.
    pub(super) fn name(&self) -> String {
        let named = [self.marker.as_deref(), Some(self.raw.as_str())];
        let mut named = named.into_iter().flatten().filter(|name| !name.is_empty());
        named
            .next()
            .map_or_else(|| self.citation_no.to_string(), |name| shortened(name, 24))
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.answer_start..self.answer_end
    }

    /// Shows the citation in the answer: its text, its sign, and a card with the details.
    pub(super) fn show(&self, html: &mut Html, text: &str) {
        let kind = self.kind();
        let class = format!("cite {}", kind.class());
        let label = format!("citation {}: {}", self.citation_no, words(&self.status));
        let attributes = [
            ("class", class.as_str()),
            ("tabindex", "0"),
            ("role", "note"),
            ("aria-label", &label),
        ];
        html.element("span", &attributes, |html| {
            html.leaf("bdi", &[], text);
            html.leaf("span", &[("class", "sign")], kind.sign());
            html.element("span", &[("class", "card")], |html| {
                self.details(html);
            });
        });
    }

    /// Shows the citation as a row of the list below the answer.
    pub(super) fn row(&self, html: &mut Html) {
        html.element("div", &[("class", self.kind().class())], |html| {
            html.leaf("bdi", &[("class", "raw")], &shortened(&self.raw, 120));
            self.details(html);
        });
    }

    /// Shows the verdict: its sign and its status.
    pub(crate) fn verdict(&self, html: &mut Html) {
        html.element("span", &[("class", "verdict")], |html| {
            html.leaf("b", &[], self.kind().sign());
            html.text(" ");
            html.leaf("b", &[], &words(&self.status));
        });
    }

    fn details(&self, html: &mut Html) {
        self.verdict(html);
        if self.title.is_some() || self.doc_id.is_some() || self.locator.is_some() {
            html.element("span", &[("class", "source")], |html| {
                if let Some(marker) = &self.marker {
                    html.leaf("span", &[("class", "marker")], marker);
                }
                let title = self.title.as_deref().or(self.doc_id.as_deref());
                if let Some(title) = title {
                    html.leaf("bdi", &[("class", "title")], title);
                }
                if let Some(place) = &self.locator {
                    html.leaf("bdi", &[("class", "place")], place);
                }
                if let Some(uri) = &self.uri {
                    html.element("bdi", &[("class", "where")], |html| html.address(uri));
                }
            });
        }
        for (class, name, text) in [
            ("claim", "Claim", &self.claim),
            ("quote", "Source says", &self.quote),
            ("detail", "Reason", &self.detail.as_deref().map(words)),
        ] {
            if let Some(text) = text {
                html.element("span", &[("class", class)], |html| {
                    html.leaf("span", &[("class", "name")], name);
                    html.leaf("bdi", &[], text);
                });
            }
        }
        html.element("span", &[("class", "figures")], |html| {
            html.text(&format!(
                "support {} · score {}",
                share(self.support),
                share(self.score)
            ));
            if let Some(stage) = &self.lost_stage {
                html.text(&format!(" · lost at {}", words(stage)));
            }
            if let Some(other) = &self.best_other_marker {
                html.text(&format!(" · better: {other}"));
            }
        });
    }
}
