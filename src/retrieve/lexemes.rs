//! Lexemes of texts, made by PostgreSQL's text search.

use std::collections::{BTreeMap, HashSet};

use crate::error::Result;
use crate::words::{config_oid, each_lexeme};

/// Maximum number of characters that are read of a text. A tsvector is limited to 1 MB, and no passage or claim is that long.
pub const LONGEST_TEXT: i32 = 100_000;

/// Returns the lexemes of each text, without duplicates and in no order.
pub fn of(text_config: &str, texts: &[String]) -> Result<Vec<Vec<String>>> {
    let config = config_oid(text_config)?;
    let lexemes = |text: &String| {
        let mut found = HashSet::new();
        each_lexeme(config, beginning(text), |lexeme| {
            let lexeme = String::from_utf8_lossy(lexeme);
            if !found.contains(lexeme.as_ref()) {
                found.insert(lexeme.into_owned());
            }
        });
        found.into_iter().collect()
    };
    Ok(texts.iter().map(lexemes).collect())
}

/// Returns the lexemes of each text with their counts. The lexemes of several configurations are combined; each counts with
/// its maximum among them.
pub fn counted<'a>(
    text_configs: &[String],
    texts: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<BTreeMap<String, u32>>> {
    let configs = text_configs.iter().map(|name| config_oid(name));
    let configs = configs.collect::<Result<Vec<_>>>()?;
    let counts = |text| {
        let mut all: BTreeMap<String, u32> = BTreeMap::new();
        for &config in &configs {
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            each_lexeme(config, beginning(text), |lexeme| {
                let lexeme = String::from_utf8_lossy(lexeme);
                match counts.get_mut(lexeme.as_ref()) {
                    Some(count) => *count += 1,
                    None => drop(counts.insert(lexeme.into_owned(), 1)),
                }
            });
            for (lexeme, count) in counts {
                let maximum = all.entry(lexeme).or_default();
                *maximum = count.max(*maximum);
            }
        }
        all
    };
    Ok(texts.into_iter().map(counts).collect())
}

/// Returns the part of a text that is read.
fn beginning(text: &str) -> &str {
    let end = text
        .char_indices()
        .nth(LONGEST_TEXT.unsigned_abs() as usize);
    end.map_or(text, |(end, _)| &text[..end])
}
