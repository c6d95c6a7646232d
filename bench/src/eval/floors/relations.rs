//! Lower bounds in code: relations of figures to constants and to each other.

use crate::data::Domain;
use crate::data::queries::Form;
use crate::eval::query::queried::{QueriedTurn, QueryFrom};
use crate::eval::query::ranking::{Order, later, mean as mean_of};
use crate::eval::retrieval::{List, Measured};

/// A figure and its lower bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    /// Name in the report.
    pub name: String,
    /// The figure.
    pub value: f64,
    /// The lower bound.
    pub least: f64,
}

impl Relation {
    /// Whether the figure reaches the bound.
    pub fn holds(&self) -> bool {
        // NaN, a figure that was not measured, fails.
        self.value >= self.least
    }
}

/// Lists through indexes, and how far their nDCG@5 may be below that of the exact lists, over all queries of a form. Each load
/// builds another HNSW graph, which misses other passages. The BM25 index rounds lengths, which swaps near neighbours. Fusion adds
/// both effects.
const NEAR: [(List, f64); 3] = [
    (List::Bm25Index, 0.005),
    (List::Hnsw, 0.005),
    (List::ScoresIndexes, 0.01),
];

/// nDCG@5 of plain BM25 and exact cosine on these data, with the user's words.
const LEAST: [(List, Domain, f64); 6] = [
    (List::Bm25, Domain::Clapnq, 0.205),
    (List::Bm25, Domain::Cloud, 0.230),
    (List::Bm25, Domain::Fiqa, 0.113),
    (List::Exact, Domain::Clapnq, 0.350),
    (List::Exact, Domain::Cloud, 0.250),
    (List::Exact, Domain::Fiqa, 0.240),
];

/// nDCG@5 of plain reciprocal rank fusion with rewrites, mean of clapnq and cloud.
const LEAST_FUSED: f64 = 0.328;

/// Relations of the whole evaluation.
pub fn of_all(measured: &[Measured]) -> Vec<Relation> {
    let ndcg = |domain, form, list| ndcg(measured, domain, form, list);
    let mut relations: Vec<Relation> = LEAST
        .into_iter()
        .map(|(list, domain, least)| Relation {
            name: format!("{} lastturn: {}, nDCG@5", domain.name(), list.name()),
            value: ndcg(domain, Form::LastTurn, list),
            least,
        })
        .collect();
    let rewritten = |list| mean(|domain| ndcg(domain, Form::Rewrite, list));
    let fused = |name: &str, least| Relation {
        name: format!("rewrite: RRF, nDCG@5, mean of clapnq and cloud, {name}"),
        value: rewritten(List::Rrf),
        least,
    };
    relations.push(fused("against plain fusion", LEAST_FUSED));
    for list in [List::Bm25, List::Exact] {
        relations.push(fused(
            &format!("against {} alone", list.name()),
            rewritten(list),
        ));
    }
    for form in Form::ALL {
        for domain in Domain::ALL {
            let name = format!("{} {}", domain.name(), form.name());
            for (list, most) in NEAR {
                relations.push(near(&name, list, most, gain(measured, domain, form, list)));
            }
        }
    }
    relations
}

/// Relations of the query of a turn, on the later turns of clapnq and cloud. The contextual query reaches the language model's rewrite
/// of the same run, with words alone and fused. The fusion of scores reaches the better branch of each corpus.
pub fn of_queries(queries: &[(QueryFrom, Vec<QueriedTurn>)]) -> Vec<Relation> {
    let queried = |from| {
        let found = queries.iter().find(|(one, _)| *one == from);
        found.map_or(&[][..], |(_, queried)| queried)
    };
    let [contextual, rewrite] = [QueryFrom::Contextual(1.0), QueryFrom::Rewrite].map(queried);
    let mut relations = Vec::new();
    for order in [Order::Bm25, Order::Scores(0.7)] {
        let [ours, theirs] =
            [contextual, rewrite].map(|queried| later(queried, &Domain::ORIGINAL, order));
        for (measure, value, least) in [
            ("nDCG@5", ours.ndcg_5, theirs.ndcg_5),
            ("recall@10", ours.recall_10, theirs.recall_10),
        ] {
            relations.push(Relation {
                name: format!(
                    "later turns: {}: contextual against the rewrite, {measure}",
                    order.name()
                ),
                value,
                least,
            });
        }
    }
    for (ours, theirs) in [
        (QueryFrom::Context(1.0), QueryFrom::Contextual(1.0)),
        (QueryFrom::RewriteContext(1.0), QueryFrom::Rewrite),
    ] {
        let [with, without] = [ours, theirs].map(queried);
        if with.is_empty() {
            continue;
        }
        let [with, without] =
            [with, without].map(|queried| later(queried, &Domain::ALL, Order::Scores(0.7)).ndcg_5);
        relations.push(Relation {
            name: format!(
                "later turns, three domains: {} against {}, nDCG@5",
                ours.name(),
                theirs.name()
            ),
            value: with,
            least: without,
        });
    }
    for (from, queried) in queries
        .iter()
        .filter(|(from, _)| *from != QueryFrom::Dialogue)
    {
        for domain in Domain::ALL {
            let of = |order| {
                mean_of(queried, order, |turn| {
                    turn.domain == domain && turn.number > 1
                })
                .ndcg_5
            };
            relations.push(Relation {
                name: format!(
                    "{} later turns, {}: scores against the better branch, nDCG@5",
                    domain.name(),
                    from.name()
                ),
                value: of(Order::Scores(0.7)),
                least: of(Order::Bm25).max(of(Order::Vector)),
            });
        }
    }
    relations
}

/// Relations of the sample. A query has four times the weight there, so only means of clapnq and cloud are compared: lists through
/// indexes with the exact lists.
pub fn of_sample(measured: &[Measured]) -> Vec<Relation> {
    let mut relations = Vec::new();
    for form in Form::ALL {
        let name = format!("{}, mean of clapnq and cloud", form.name());
        for (list, most) in NEAR {
            let gain = mean(|domain| gain(measured, domain, form, list));
            let most = match list {
                // Rounding swaps neighbours of single queries, and a single query of a quarter has four times the weight.
                List::Bm25Index => most * 4.0,
                _ => most,
            };
            relations.push(near(&name, list, most, gain));
        }
    }
    relations
}

fn near(name: &str, list: List, most: f64, gain: f64) -> Relation {
    // The BM25 index may be better by chance. An HNSW list that is better than the exact list is as suspect as a worse one.
    let value = if list == List::Hnsw {
        -gain.abs()
    } else {
        gain
    };
    Relation {
        name: format!("{name}: {} against exact, nDCG@5", list.name()),
        value,
        least: -most,
    }
}

/// nDCG@5 through an index minus that of the exact list.
fn gain(measured: &[Measured], domain: Domain, form: Form, list: List) -> f64 {
    let ndcg = |list| ndcg(measured, domain, form, list);
    list.approximates()
        .map_or(f64::NAN, |exact| ndcg(list) - ndcg(exact))
}

/// Mean of a figure over the original corpora.
fn mean(figure: impl Fn(Domain) -> f64) -> f64 {
    let figures = Domain::ORIGINAL.map(figure);
    figures.iter().sum::<f64>() / figures.len() as f64
}

/// nDCG@5 over all turns; NaN if the list was not measured.
fn ndcg(measured: &[Measured], domain: Domain, form: Form, list: List) -> f64 {
    measured
        .iter()
        .find(|one| (one.domain, one.form, one.list) == (domain, form, list))
        .and_then(|one| one.since_turn(1))
        .map_or(f64::NAN, |(scores, _)| scores.ndcg_5)
}

/// The relations that do not hold, as messages.
pub fn broken(relations: &[Relation]) -> Vec<String> {
    let broken = relations.iter().filter(|relation| !relation.holds());
    broken
        .map(|relation| {
            format!(
                "{}: {:.4} is below {:.4}",
                relation.name, relation.value, relation.least
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lists of all forms with the same nDCG@5, except the fused lists and HNSW.
    fn measured(value: f64, fused: f64, index: f64) -> Vec<Measured> {
        let mut all = Vec::new();
        for domain in Domain::ALL {
            for form in Form::ALL {
                for list in List::ALL {
                    let ndcg_5 = match list {
                        List::Rrf | List::Scores | List::ScoresIndexes => fused,
                        List::Hnsw => index,
                        _ => value,
                    };
                    all.push(Measured::constant(domain, form, list, ndcg_5));
                }
            }
        }
        all
    }

    fn names(measured: &[Measured]) -> Vec<String> {
        let all = of_all(measured).into_iter().chain(of_sample(measured));
        all.filter(|relation| !relation.holds())
            .map(|relation| relation.name)
            .collect()
    }

    #[test]
    fn each_relation_fails_alone() {
        assert_eq!(names(&measured(0.36, 0.37, 0.357)), [""; 0]);
        assert_eq!(
            names(&measured(0.34, 0.35, 0.34)),
            ["clapnq lastturn: vector, exact, nDCG@5"]
        );
        let fused = names(&measured(0.36, 0.35, 0.36));
        assert_eq!(fused.len(), 2, "{fused:?}");
        assert!(fused.iter().all(|name| name.contains("alone")), "{fused:?}");
        for index in [0.354, 0.366] {
            let far = names(&measured(0.36, 0.37, index));
            assert!(far.iter().all(|name| name.contains("HNSW")), "{far:?}");
            // Three corpora in three forms, and the means in the sample.
            assert_eq!(far.len(), 12);
        }
    }

    #[test]
    fn a_relation_without_measurements_fails() {
        let nothing = of_all(&[]);
        assert!(!nothing.is_empty() && nothing.iter().all(|relation| !relation.holds()));
        assert!(broken(&nothing)[0].contains("NaN is below 0.2050"));
    }
}
