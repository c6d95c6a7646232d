//! Contexts before and after near twins are removed.
//!
//! A near twin of a relevant passage says the same, so it counts as relevant, too. Which passages are near twins is the judgement of the
//! extension, which its own tests check; the relevance is that of the human judgements.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use pgvector::Vector;
use postgres::{Client, GenericClient};

use super::corpora::JudgedCorpus;
use super::replay::arm::{Arm, CONTEXT};
use crate::data::Domain;
use crate::data::queries::{Form, Query};
use crate::parallel;
use crate::progress::Progress;

/// Forms of the queries.
pub const FORMS: [Form; 2] = [Form::LastTurn, Form::Rewrite];

/// Figures of one context, or their means.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// Passages that have a near twin before them.
    pub repeated: f64,
    /// Share of the passages that are relevant.
    pub precision: f64,
    /// The same, but of near twins only the first counts as relevant.
    pub distinct_precision: f64,
    /// Share of the relevant passages that the context contains, itself or by a near twin.
    pub recall: f64,
}

/// The contexts of one domain with queries of one form.
#[derive(Debug)]
pub struct Measured {
    /// The domain.
    pub domain: Domain,
    /// The form of its queries.
    pub form: Form,
    /// Number of contexts.
    pub contexts: usize,
    /// Contexts that had near twins.
    pub with_near_twins: usize,
    /// Means with near twins.
    pub before: Figures,
    /// Means without them.
    pub after: Figures,
}

/// Begins a turn with each judged query, and compares its context with the one that it would have with near twins.
///
/// # Errors
/// Errors of the server.
pub fn measure(
    clients: &mut [Client],
    corpus: &JudgedCorpus,
    form: Form,
    queries: &[Query],
) -> Result<Measured> {
    let task = format!("near twins, {}, {}", corpus.domain.name(), form.name());
    let progress = Progress::new(&task, queries.len());
    let pairs = parallel::over(clients, queries, |client, query| {
        let gold = corpus.gold(&query.id);
        let mut transaction = client.transaction()?;
        let found = begin(&mut transaction, corpus, query)?;
        transaction.rollback()?;
        progress.step(1);
        Ok((!gold.is_empty()).then(|| compare(&found, &gold)))
    })?;
    progress.finish();
    let pairs: Vec<(Figures, Figures)> = pairs.into_iter().flatten().collect();
    let (before, after): (Vec<Figures>, Vec<Figures>) = pairs.into_iter().unzip();
    Ok(Measured {
        domain: corpus.domain,
        form,
        contexts: before.len(),
        with_near_twins: before.iter().filter(|one| one.repeated > 0.0).count(),
        before: mean(&before),
        after: mean(&after),
    })
}

/// A passage of the context, or a near twin of one.
#[derive(Debug, Clone)]
struct Found {
    class: String,
    score: f64,
    in_context: bool,
    /// The class of the passage that it is a near twin of.
    near_twin_of: Option<String>,
}

fn begin(
    client: &mut impl GenericClient,
    corpus: &JudgedCorpus,
    query: &Query,
) -> Result<Vec<Found>> {
    let embedding = Vector::from(query.embedding.clone());
    let row = client.query(
        "SELECT turn_id FROM reground.begin_turn($1, $2, corpus => $3, embedding => $4, settings => $5)",
        &[
            &format!("near-twins-{}", query.id),
            &query.text,
            &corpus.name,
            &embedding,
            &Arm::None.settings(),
        ],
    )?;
    let turn_id: i64 = row.first().context("begin_turn returned no row")?.get(0);
    let rows = client.query(
        "SELECT chunk_id, fused_score::float8, in_context, CASE WHEN drop_reason = 'near_twin' THEN replaced_by END \
         FROM reground.explain_turn($1) WHERE in_context OR drop_reason = 'near_twin'",
        &[&turn_id],
    )?;
    let class = |chunk_id: &str| corpus.duplicates.class(chunk_id);
    let found = rows.iter().map(|row| Found {
        class: class(row.get(0)),
        score: row.get::<_, Option<f64>>(1).unwrap_or_default(),
        in_context: row.get(2),
        near_twin_of: row.get::<_, Option<&str>>(3).map(class),
    });
    Ok(found.collect())
}

/// The figures of the context with and without near twins. With them, it has the best of both.
fn compare(found: &[Found], gold: &BTreeSet<String>) -> (Figures, Figures) {
    let stronger: BTreeMap<&str, &str> = found
        .iter()
        .filter_map(|one| Some((one.class.as_str(), one.near_twin_of.as_deref()?)))
        .collect();
    let group = |class| *stronger.get(class).unwrap_or(&class);
    let relevant: BTreeSet<&str> = gold.iter().map(|class| group(class.as_str())).collect();
    let mut ranked: Vec<&Found> = found.iter().collect();
    // Of equal scores, the context decides.
    ranked.sort_by(|a, b| {
        let order = b.score.total_cmp(&a.score);
        order.then_with(|| b.in_context.cmp(&a.in_context))
    });
    let before = ranked.iter().take(CONTEXT).map(|one| group(&one.class));
    let after = found.iter().filter(|one| one.in_context);
    let after = after.map(|one| group(&one.class));
    let of = |groups: Vec<&str>| {
        let distinct: BTreeSet<&str> = groups.iter().copied().collect();
        let found = groups.iter().filter(|group| relevant.contains(*group));
        let reached = gold.iter().filter(|class| distinct.contains(group(class)));
        let places = groups.len().max(1) as f64;
        Figures {
            repeated: (groups.len() - distinct.len()) as f64,
            precision: found.count() as f64 / places,
            distinct_precision: distinct.intersection(&relevant).count() as f64 / places,
            recall: reached.count() as f64 / gold.len().max(1) as f64,
        }
    };
    (of(before.collect()), of(after.collect()))
}

fn mean(all: &[Figures]) -> Figures {
    let mean =
        |field: fn(&Figures) -> f64| all.iter().map(field).sum::<f64>() / all.len().max(1) as f64;
    Figures {
        repeated: mean(|one| one.repeated),
        precision: mean(|one| one.precision),
        distinct_precision: mean(|one| one.distinct_precision),
        recall: mean(|one| one.recall),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(class: &str, score: f64, near_twin_of: Option<&str>) -> Found {
        Found {
            class: class.into(),
            score,
            in_context: near_twin_of.is_none(),
            near_twin_of: near_twin_of.map(str::to_owned),
        }
    }

    #[test]
    fn a_near_twin_of_a_relevant_passage_is_relevant_once() {
        let mut all = vec![found("a", 1.0, None), found("b", 0.9, Some("a"))];
        all.extend((0..8).map(|n| found(&format!("other {n}"), 0.5, None)));
        // The place of the near twin goes to the next passage.
        all.push(found("c", 0.2, None));
        let gold = BTreeSet::from(["b".to_owned(), "c".to_owned()]);
        let (before, after) = compare(&all, &gold);
        let expected = Figures {
            repeated: 1.0,
            precision: 0.2,
            distinct_precision: 0.1,
            recall: 0.5,
        };
        assert_eq!(before, expected);
        let expected = Figures {
            repeated: 0.0,
            precision: 0.2,
            distinct_precision: 0.2,
            recall: 1.0,
        };
        assert_eq!(after, expected);
    }

    #[test]
    fn a_context_without_near_twins_stays_as_it_is() {
        let all: Vec<Found> = (0..10)
            .map(|n| found(&n.to_string(), 1.0 - f64::from(n) / 20.0, None))
            .collect();
        let (before, after) = compare(&all, &BTreeSet::from(["3".to_owned()]));
        assert_eq!(before, after);
        assert_eq!((before.precision, before.recall), (0.1, 1.0));
    }
}
