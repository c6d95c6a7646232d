//! A citation: its sign in the answer, and what is known of it.

use std::ops::Range;

use serde::Deserialize;

use crate::html::{Html, shortened};
use crate::page::share;
use crate::verdict::{Kind, words};

/// A citation and its verdict.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Citation {
    /// Position in the answer, from 1.
    pub citation_no: u32,
    /// The marker that it resolved to, or claims.
    pub marker: Option<String>,
    /// As it stands in the answer.
    pub raw: String,
    /// Document of the source.
    pub doc_id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Where a reader finds it.
    pub uri: Option<String>,
    /// Place within it.
    pub locator: Option<String>,
    /// What it stands on.
    pub claim: Option<String>,
    /// The sentence of the source that supports that best.
    pub quote: Option<String>,
    /// Verdict.
    pub status: String,
    /// Whether it stands.
    pub holds: Option<bool>,
    /// Fidelity of the coordinates.
    pub score: Option<f64>,
    /// How far the text supports the claim.
    pub support: Option<f64>,
    /// What the verdict rests on.
    pub detail: Option<String>,
    /// Marker of the other source that supports the claim best.
    pub best_other: Option<String>,
    /// The stage that lost it.
    pub lost_at: Option<String>,
    /// First character in the answer.
    pub char_start: usize,
    /// One past the last.
    pub char_end: usize,
}

impl Citation {
    pub(super) fn kind(&self) -> Kind {
        Kind::of(&self.status, self.holds)
    }

    /// What it is called where there is no room: its marker, or what it says, or where it stands.
    pub(super) fn name(&self) -> String {
        let named = [self.marker.as_deref(), Some(self.raw.as_str())];
        let mut named = named.into_iter().flatten().filter(|name| !name.is_empty());
        named
            .next()
            .map_or_else(|| self.citation_no.to_string(), |name| shortened(name, 24))
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.char_start..self.char_end
    }

    /// In the answer: what stands there, its sign, and a card with the rest.
    pub(super) fn show(&self, html: &mut Html, text: &str) {
        let kind = self.kind();
        let class = format!("cite {}", kind.class());
        let says = format!("citation {}: {}", self.citation_no, words(&self.status));
        let attributes = [
            ("class", class.as_str()),
            ("tabindex", "0"),
            ("role", "note"),
            ("aria-label", &says),
        ];
        html.element("span", &attributes, |html| {
            html.leaf("bdi", &[], text);
            html.leaf("span", &[("class", "sign")], kind.sign());
            html.element("span", &[("class", "card")], |html| {
                self.record(html);
            });
        });
    }

    pub(super) fn row(&self, html: &mut Html) {
        html.element("div", &[("class", self.kind().class())], |html| {
            html.leaf("bdi", &[("class", "raw")], &shortened(&self.raw, 120));
            self.record(html);
        });
    }

    /// All that is known of it.
    fn record(&self, html: &mut Html) {
        let kind = self.kind();
        html.element("span", &[("class", "verdict")], |html| {
            html.leaf("b", &[], kind.sign());
            html.text(" ");
            html.leaf("b", &[], &words(&self.status));
        });
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
            ("detail", "Because", &self.detail),
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
            if let Some(stage) = &self.lost_at {
                html.text(&format!(" · lost at {}", words(stage)));
            }
            if let Some(other) = &self.best_other {
                html.text(&format!(" · better: {other}"));
            }
        });
    }
}
