//! Which kinds of citation a corpus or a conversation looks for.

use serde::{Deserialize, Serialize};

use super::Family;

/// The families of citation formats, each switched on or off. A field that is left out is on.
///
/// Everything is on by default: what could be mistaken for something else is read by rules narrow enough for prose. A
/// short id has to be hexadecimal with a digit and a letter unless it is known, `ref3` a word of its own in lower case,
/// `Source 1` capitalised and no part of a longer name; locators, mentions and patterns read nothing until they are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Families {
    /// Our own markers: `[A1]`, `[A1, B2]`, `[A1, p. 12]`.
    pub marker: bool,
    /// Numbers: `[1]`, `[1, 2]`, `[1-3]`, `【1】`, `[[1]]`, `[1](url)`.
    pub ordinal: bool,
    /// Circled and raised numbers: `①`, `¹²`.
    pub raised: bool,
    /// RAGFlow: `[ID:3]`, `ref3`.
    pub ragflow: bool,
    /// Beginnings of ids: `[e41ac2d]`.
    pub short_id: bool,
    /// Daggers: `【4:0†source】`, `【85†L261-269】`.
    pub dagger: bool,
    /// `turn0search0`, with its private-use signs and without.
    pub turn: bool,
    /// Gemini: `[cite: 1, 2]`, `[span_1](start_span)`.
    pub gemini: bool,
    /// Numbers behind a label: `[citation:1]`, `{{citation:1}}`, `[web:1]`, `[doc1]`.
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
    /// Structured locators, where a schema is given.
    pub locator: bool,
    /// Mentions in prose, where titles are given.
    pub mention: bool,
    /// The user's patterns, where any are given.
    pub custom: bool,
}

impl Families {
    /// Everything that can be read.
    pub const ALL: Self = Self::all(true);
    /// Nothing but our own markers.
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

    /// Whether a family is on.
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
