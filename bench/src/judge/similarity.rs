//! The two baselines: how much of a claim is in its passage, by words and by embeddings.

use anyhow::{Context, Result, ensure};
use postgres::GenericClient;
use serde::Deserialize;
use serde_json::json;

use crate::data::claims::Set;
use crate::progress::Progress;

/// A baseline.
#[derive(Clone, Debug)]
pub enum Judge {
    /// The share of the claim's lexemes that the passage contains.
    Words,
    /// The cosine similarity of the embeddings of claim and passage.
    Embeddings {
        /// Address of the worker that embeds.
        worker: String,
        /// Name of its model.
        model: String,
    },
}

/// A passage and a claim.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The passage.
    pub premise: String,
    /// The claim.
    pub hypothesis: String,
}

/// Texts of one call of the worker.
const AT_ONCE: usize = 16;
/// Characters of a text that are embedded. The model reads 256 tokens; the worker refuses texts far above that.
const MAX_CHARS: usize = 4000;

/// The share of the lexemes of `hypothesis` that `premise` contains; 0 without a lexeme.
const SHARED_WORDS: &str = "CREATE FUNCTION pg_temp.shared_words(config regconfig, premise text, hypothesis text) RETURNS double precision LANGUAGE sql
    RETURN (SELECT coalesce(avg((word IN (SELECT unnest(tsvector_to_array(to_tsvector(config, premise)))))::integer), 0)
            FROM unnest(tsvector_to_array(to_tsvector(config, hypothesis))) AS word)";

#[derive(Deserialize)]
struct Embeddings {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: usize,
    embedding: Vec<f64>,
}

/// Creates the SQL function of the judge of words, for the session.
///
/// # Errors
/// Errors of the server.
pub fn create_function(client: &mut impl GenericClient) -> Result<()> {
    Ok(client.batch_execute(SHARED_WORDS)?)
}

impl Judge {
    /// Its name in the report and in the database.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Embeddings { .. } => "embeddings",
        }
    }

    /// The similarity of each pair.
    ///
    /// # Errors
    /// Errors of the server or of the worker.
    pub fn similarities(
        &self,
        client: &mut impl GenericClient,
        set: Set,
        pairs: &[Pair],
    ) -> Result<Vec<f64>> {
        match self {
            Self::Words => by_words(client, set, pairs),
            Self::Embeddings { worker, model } => by_embeddings(worker, model, pairs),
        }
    }
}

/// The text search configuration that the guide recommends for the language of a set.
pub fn text_config(set: Set) -> &'static str {
    match set.language() {
        (_, "zh") => "reground.bigrams",
        (config, _) => config,
    }
}

fn by_words(client: &mut impl GenericClient, set: Set, pairs: &[Pair]) -> Result<Vec<f64>> {
    let config = text_config(set);
    let premises: Vec<&str> = pairs.iter().map(|pair| pair.premise.as_str()).collect();
    let hypotheses: Vec<&str> = pairs.iter().map(|pair| pair.hypothesis.as_str()).collect();
    let rows = client.query(
        "SELECT pg_temp.shared_words(($1::text)::regconfig, premise, hypothesis) \
         FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS pair(premise, hypothesis, n) ORDER BY n",
        &[&config, &premises, &hypotheses],
    )?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

fn by_embeddings(worker: &str, model: &str, pairs: &[Pair]) -> Result<Vec<f64>> {
    // Texts of one length are faster together.
    let premises = embed_all(worker, model, pairs.iter().map(|pair| &pair.premise))?;
    let hypotheses = embed_all(worker, model, pairs.iter().map(|pair| &pair.hypothesis))?;
    let both = premises.iter().zip(&hypotheses);
    Ok(both
        .map(|(premise, hypothesis)| cosine(premise, hypothesis))
        .collect())
}

fn embed_all<'a>(
    worker: &str,
    model: &str,
    texts: impl Iterator<Item = &'a String>,
) -> Result<Vec<Vec<f64>>> {
    let texts: Vec<String> = texts
        .map(|text| text.chars().take(MAX_CHARS).collect())
        .collect();
    let progress = Progress::new("embedding", texts.len());
    let mut embeddings = Vec::with_capacity(texts.len());
    for some in texts.chunks(AT_ONCE) {
        embeddings.extend(embed(worker, model, some)?);
        progress.step(some.len());
    }
    progress.finish();
    Ok(embeddings)
}

fn embed(worker: &str, model: &str, texts: &[String]) -> Result<Vec<Vec<f64>>> {
    let address = format!("{}/v1/embeddings", worker.trim_end_matches('/'));
    let mut response = ureq::post(&address)
        .send_json(json!({"model": model, "input": texts, "input_type": "document"}))
        .with_context(|| format!("{address} gives no embeddings"))?;
    let mut data = response.body_mut().read_json::<Embeddings>()?.data;
    ensure!(
        data.len() == texts.len(),
        "{} texts, {} embeddings",
        texts.len(),
        data.len()
    );
    data.sort_by_key(|one| one.index);
    Ok(data.into_iter().map(|one| one.embedding).collect())
}

fn cosine(one: &[f64], other: &[f64]) -> f64 {
    let product =
        |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(left, right)| left * right).sum() };
    let lengths = (product(one, one) * product(other, other)).sqrt();
    if lengths > 0.0 {
        product(one, other) / lengths
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::cosine;

    #[test]
    fn the_cosine_ignores_lengths() {
        assert!((cosine(&[3.0, 4.0], &[4.0, 3.0]) - 0.96).abs() < 1e-12);
        assert!((cosine(&[0.3, 0.4], &[40.0, 30.0]) - 0.96).abs() < 1e-12);
        assert_eq!(cosine(&[1.0, 0.0], &[0.0, 2.0]), 0.0);
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 2.0]), 0.0);
    }
}
