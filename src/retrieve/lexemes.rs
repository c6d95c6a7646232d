//! The lexemes of texts, as PostgreSQL makes them.

use std::collections::{BTreeMap, HashSet};

use crate::error::Result;
use crate::words::{config_oid, each_lexeme};

/// Characters of one text that are read: a tsvector holds 1 MB, and no passage or claim is that long.
pub const LONGEST_TEXT: i32 = 100_000;

/// The lexemes of texts, stemmed and without stop words, as the corpus' configuration reads them; each once, in no order.
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

/// The lexemes of each text with their counts: what the configurations make of it together, each as often as the one that
/// makes it most often.
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
                let most = all.entry(lexeme).or_default();
                *most = count.max(*most);
            }
        }
        all
    };
    Ok(texts.into_iter().map(counts).collect())
}

/// As much of a text as is read.
fn beginning(text: &str) -> &str {
    let end = text
        .char_indices()
        .nth(LONGEST_TEXT.unsigned_abs() as usize);
    end.map_or(text, |(end, _)| &text[..end])
}
