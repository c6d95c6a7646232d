//! The features of each claim: support, its parts, and the first version of support.

use anyhow::{Result, ensure};
use postgres::{Client, GenericClient};
use reground_citations::{Cues, Lexemes, Text, support};

use crate::data::claims::{Item, Set};

/// Names of the printed features.
pub const NAMES: [&str; 5] = ["support", "window", "pairs", "units", "content words"];

/// The features of one claim.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The printed features, in the order of [`NAMES`], each in [0, 1].
    pub shown: [f64; NAMES.len()],
    /// The features with fitted weights: window and pairs, and the numbers of missing numbers and names, negative so that no weight
    /// is below 0.
    pub weighed: [f64; WEIGHED],
}

/// Number of features with fitted weights.
pub const WEIGHED: usize = 4;

/// Texts per query.
const AT_ONCE: usize = 500;

/// The features of claims; 0 for a claim without content.
///
/// # Errors
/// Errors of the server.
pub fn of(client: &mut Client, set: Set, items: &[Item]) -> Result<Vec<Row>> {
    let (configuration, language) = set.language();
    let cues = Cues::built_in(language);
    let texts: Vec<&str> = items
        .iter()
        .flat_map(|item| std::iter::once(&item.claim).chain(&item.texts))
        .map(String::as_str)
        .collect();
    let mut lexemes = stemmed(client, configuration, &texts)?.into_iter();
    let rows = items.iter().map(|item| {
        let claim = lexemes.next().unwrap_or_default();
        let cited: Vec<Lexemes> = lexemes.by_ref().take(item.texts.len()).collect();
        row(item, &claim, &cited, &cues)
    });
    Ok(rows.collect())
}

fn row(item: &Item, claim: &Lexemes, cited: &[Lexemes], cues: &Cues) -> Row {
    let texts: Vec<Text<'_>> = item
        .texts
        .iter()
        .zip(cited)
        .map(|(text, lexemes)| Text { text, lexemes })
        .collect();
    let text = Text {
        text: &item.claim,
        lexemes: claim,
    };
    let parts = support(text, &texts, cues).unwrap_or_default();
    Row {
        shown: [
            parts.support,
            parts.window,
            parts.pairs,
            parts.coverage,
            content_words(claim, cited),
        ],
        weighed: [
            parts.window,
            parts.pairs,
            -(parts.numbers_missing.len() as f64),
            -(parts.names_missing.len() as f64),
        ],
    }
}

/// The first version of support: the share of the claim's lexemes in any text.
fn content_words(claim: &Lexemes, cited: &[Lexemes]) -> f64 {
    let contained = claim
        .iter()
        .filter(|lexeme| cited.iter().any(|text| text.contains(lexeme)));
    match claim.len() {
        0 => 0.0,
        all => contained.count() as f64 / all as f64,
    }
}

/// The lexemes of texts, by the query of the extension.
///
/// # Errors
/// Errors of the server.
pub fn stemmed(
    client: &mut impl GenericClient,
    configuration: &str,
    texts: &[&str],
) -> Result<Vec<Lexemes>> {
    let mut all = Vec::with_capacity(texts.len());
    for some in texts.chunks(AT_ONCE) {
        let rows = client.query(
            "SELECT pg_catalog.tsvector_to_array(pg_catalog.to_tsvector(($1::text)::regconfig, pg_catalog.left(t.text, 100000))) \
             FROM pg_catalog.unnest($2::text[]) WITH ORDINALITY AS t(text, n) ORDER BY t.n",
            &[&configuration, &some],
        )?;
        ensure!(
            rows.len() == some.len(),
            "{} texts came back as {}",
            some.len(),
            rows.len()
        );
        for (text, row) in some.iter().zip(rows) {
            all.push(Lexemes::of(text, row.try_get::<_, Vec<String>>(0)?));
        }
    }
    Ok(all)
}
