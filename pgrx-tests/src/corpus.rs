//! Corpora of generated passages: a vocabulary with few frequent and many rare words, and small vectors.

use anyhow::Result;
use pgvector::Vector;
use postgres::Client;
use serde_json::json;

use crate::chance::Chance;

/// Dimensions of the generated embeddings.
pub const DIMENSIONS: usize = 8;

/// Returns word `number`: syllables of the number, so that all words differ, also after stemming.
#[must_use]
pub fn word(number: usize) -> String {
    const SYLLABLES: [&str; 12] = [
        "bak", "dum", "fir", "gol", "hup", "jok", "lam", "mur", "nog", "pib", "rad", "tuk",
    ];
    let syllable = |n: usize| SYLLABLES.get(n % SYLLABLES.len()).copied().unwrap_or("zo");
    format!(
        "{}{}{}o",
        syllable(number),
        syllable(number / 12),
        syllable(number / 144 + 5)
    )
}

/// Returns a random word of a vocabulary; low numbers are far more frequent.
pub fn any_word(chance: &mut Chance, vocabulary: usize) -> String {
    let bound = chance.below(vocabulary) + 1;
    word(chance.below(bound))
}

/// Returns a text of `length` random words.
pub fn text(chance: &mut Chance, vocabulary: usize, length: usize) -> String {
    let words: Vec<String> = (0..length).map(|_| any_word(chance, vocabulary)).collect();
    words.join(" ")
}

/// Returns a random embedding.
#[expect(
    clippy::cast_possible_truncation,
    reason = "an embedding is of single precision"
)]
pub fn embedding(chance: &mut Chance) -> Vector {
    Vector::from(
        (0..DIMENSIONS)
            .map(|_| chance.unit() as f32)
            .collect::<Vec<_>>(),
    )
}

/// Creates a managed corpus of `documents` documents with 1 to 7 passages each, with pages, a `part` in the metadata, and embeddings for
/// nearly all passages; equal seeds create equal corpora.
///
/// # Errors
/// If a call is refused.
pub fn generate(
    client: &mut Client,
    corpus: &str,
    metric: &str,
    documents: usize,
    seed: u64,
) -> Result<()> {
    let mut chance = Chance::of(seed);
    client.execute(
        "SELECT reground.create_corpus($1, dimensions => $2, metric => $3)",
        &[&corpus, &i32::try_from(DIMENSIONS)?, &metric],
    )?;
    for document in 0..documents {
        let passages: Vec<_> = (0..=chance.below(7))
            .map(|page| {
                let length = 3 + chance.below(40);
                json!({
                    "content": text(&mut chance, 150, length),
                    "page_start": page + 1,
                    "metadata": {"part": chance.below(3)},
                })
            })
            .collect();
        client.execute(
            "SELECT reground.put_document($1, $2, passages => $3, title => $4)",
            &[
                &corpus,
                &format!("doc-{document}"),
                &json!(passages),
                &format!("Document {document}"),
            ],
        )?;
    }
    let pending = client.query(
        "SELECT chunk_id FROM reground.pending_embeddings($1, 100000) ORDER BY chunk_id::bigint",
        &[&corpus],
    )?;
    let mut keys: Vec<String> = Vec::new();
    let mut embeddings = Vec::new();
    for row in pending {
        // A few passages have no embedding.
        let vector = embedding(&mut chance);
        if !chance.happens(4) {
            keys.push(row.get(0));
            embeddings.push(vector);
        }
    }
    client.execute(
        "SELECT reground.put_embeddings($1, $2, $3)",
        &[&corpus, &keys, &embeddings],
    )?;
    Ok(())
}
