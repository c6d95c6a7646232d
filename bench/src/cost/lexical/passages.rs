//! Generates passages from sentences of MTRAG. Word frequencies and co-occurrence within a sentence are those of real text; the
//! sentences of a passage are chosen at random.

use std::io::Write as _;

use anyhow::Result;
use postgres::Client;
use sha2::{Digest, Sha256};
use unicode_segmentation::UnicodeSegmentation;

use crate::data::corpus::Passage;
use crate::data::{Domain, Folder, json_lines};
use crate::progress::Progress;
use crate::statistics::random::SplitMix;

/// Least words of a passage.
const WORDS: usize = 45;
/// Words of a usable sentence.
const SENTENCE: std::ops::RangeInclusive<usize> = 5..=60;

/// All sentences of the original domains, with their numbers of words.
fn sentences(folder: &Folder) -> Result<Vec<(String, usize)>> {
    let mut sentences = Vec::new();
    for domain in Domain::ORIGINAL {
        let file = folder.file(&format!("corpus/{}.jsonl.gz", domain.name()));
        let passages: Vec<Passage> = json_lines(&file)?;
        for sentence in passages
            .iter()
            .flat_map(|passage| passage.text.unicode_sentences())
        {
            let words = sentence.split_whitespace().count();
            if SENTENCE.contains(&words) {
                sentences.push((
                    sentence.split_whitespace().collect::<Vec<_>>().join(" "),
                    words,
                ));
            }
        }
    }
    Ok(sentences)
}

/// Creates the table; returns the SHA-256 of its content, in hex.
///
/// # Errors
/// Unreadable data, errors of the server.
pub fn load(client: &mut Client, folder: &Folder, count: usize) -> Result<String> {
    client.batch_execute(
        "DROP SCHEMA IF EXISTS lexical CASCADE; CREATE SCHEMA lexical; \
         CREATE TABLE lexical.passages (id bigint PRIMARY KEY, body text NOT NULL)",
    )?;
    let sentences = sentences(folder)?;
    let task = format!("{count} passages of {} sentences", sentences.len());
    let progress = Progress::new(&task, count);
    let (mut random, mut digest) = (SplitMix(1), Sha256::new());
    let mut copy = client.copy_in("COPY lexical.passages FROM STDIN")?;
    for id in 0..count {
        let (mut body, mut words) = (String::new(), 0);
        while words < WORDS {
            // The published digest of the passages is of these numbers.
            let drawn = (random.bits() >> 1) as usize % sentences.len().max(1);
            let (sentence, length) = &sentences[drawn];
            if words > 0 {
                body.push(' ');
            }
            body.push_str(sentence);
            words += length;
        }
        digest.update(body.as_bytes());
        let escaped = body.replace('\\', "\\\\").replace('\t', " ");
        writeln!(copy, "{id}\t{escaped}")?;
        progress.step(1);
    }
    copy.finish()?;
    progress.finish();
    Ok(digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// Inserts copies of `count` passages, each in its own transaction, into the table of one competitor.
///
/// # Errors
/// Errors of the server.
pub fn insert(client: &mut Client, count: usize) -> Result<()> {
    let rows = client.query(
        "SELECT body FROM lexical.passages ORDER BY id LIMIT $1",
        &[&i64::try_from(count)?],
    )?;
    let statement = client.prepare("INSERT INTO lexical.inserted (body) VALUES ($1)")?;
    for row in rows {
        client.execute(&statement, &[&row.get::<_, String>(0)])?;
    }
    Ok(())
}
