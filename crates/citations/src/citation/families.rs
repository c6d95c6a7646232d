//! The families of citation forms that a corpus or a conversation reads.

use serde::{Deserialize, Serialize};

use super::Family;

/// The families of citation forms, each on or off. A missing field is on.
///
/// All are on by default, because ambiguous forms have rules that are narrow enough for prose. A short id must be
/// known, or hexadecimal with a digit and a letter. `ref3` must be a separate word in lower case. `Source 1` must be
/// capitalised and no part of a longer name. Locators, mentions and patterns match nothing until they are configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Families {
    /// reground markers: `[A1]`, `[A1, B2]`, `[A1, p. 12]`.
    pub marker: bool,
    /// Numbers: `[1]`, `[1, 2]`, `[1-3]`, `【1】`, `[[1]]`, `[1](url)`.
    pub ordinal: bool,
    /// Circled and superscript numbers: `①`, `¹²`.
    pub raised: bool,
    /// RAGFlow: `[ID:3]`, `ref3`.
    pub ragflow: bool,
    /// Prefixes of ids: `[e41ac2d]`.
    pub short_id: bool,
    /// Daggers: `【4:0†source】`, `【85†L261-269】`.
    pub dagger: bool,
    /// `turn0search0`, with or without private-use characters.
    pub turn: bool,
    /// Gemini: `[cite: 1, 2]`, `[span_1](start_span)`.
    pub gemini: bool,
    /// Numbers after a label: `[citation:1]`, `{{citation:1}}`, `[web:1]`, `[doc1]`.
    pub labelled: bool,
    /// Markup around a fact: `<co: 0>…</co: 0>`, `<source id="1">`, `<cite>…</cite>`.
    pub tag: bool,
    /// Footnotes: `[^1]`.
    pub footnote: bool,
    /// `Source 1`.
    pub source_number: bool,
    /// Documents by name: `[Source: report.pdf, pp. 12–14]`.
    pub document: bool,
    /// Author and year: `(Smith et al., 2020)`.
    pub author_year: bool,
    /// Structured locators, if a schema is configured.
    pub locator: bool,
    /// Titles mentioned in prose, if titles are configured.
    pub mention: bool,
    /// Patterns of the user, if there are any.
    pub custom: bool,
}

impl Families {
    /// All families.
    pub const ALL: Self = Self::all(true);
    /// Only reground markers.
    pub const MARKERS: Self = Self {
        marker: true,
        ..Self::all(false)
    };

    const fn all(on: bool) -> Self {
        Self {
            marker: on,
            ordinal: on,
            raised: on,
            ragflow: on,
            short_id: on,
            dagger: on,
            turn: on,
            gemini: on,
            labelled: on,
            tag: on,
            footnote: on,
            source_number: on,
            document: on,
            author_year: on,
            locator: on,
            mention: on,
            custom: on,
        }
    }

    /// Returns whether a family is on.
    pub fn includes(&self, family: Family) -> bool {
        match family {
            Family::Marker => self.marker,
            Family::Ordinal => self.ordinal,
            Family::Raised => self.raised,
            Family::Ragflow => self.ragflow,
            Family::ShortId => self.short_id,
            Family::Dagger => self.dagger,
            Family::Turn => self.turn,
            Family::Gemini => self.gemini,
            Family::Labelled => self.labelled,
            Family::Tag => self.tag,
            Family::Footnote => self.footnote,
            Family::SourceNumber => self.source_number,
            Family::Document => self.document,
            Family::AuthorYear => self.author_year,
            Family::Locator => self.locator,
            Family::Mention => self.mention,
            Family::Custom => self.custom,
        }
    }
}

impl Default for Families {
    fn default() -> Self {
        Self::ALL
    }
}
