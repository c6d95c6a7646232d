//! How figures must stand to constants and to each other: floors that no file can lower.

use crate::data::Domain;
use crate::data::queries::Form;
use crate::eval::query::queried::{QueriedTurn, QueryFrom};
use crate::eval::query::ranking::{Order, later, mean as mean_of};
use crate::eval::retrieval::{List, Measured};

/// What must hold between two numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    /// What it says.
    pub name: String,
    /// The number that must reach the other.
    pub value: f64,
    /// The other.
    pub least: f64,
}

impl Relation {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        // False for a figure that was not measured, which is no number.
        self.value >= self.least
    }
}

/// Lists through indexes, and how far their nDCG@5 may be below that of the exact ones, over all queries of a form. A graph
/// changes with every load, and which passages it misses is chance; the BM25 index rounds lengths, which exchanges near
/// neighbours, and fusion adds what both do.
const NEAR: [(List, f64); 3] = [
    (List::Bm25Index, 0.005),
    (List::Hnsw, 0.005),
    (List::ScoresIndexes, 0.01),
];

/// nDCG@5 of the user's words that plain BM25 and exact cosine reach on these data.
const LEAST: [(List, Domain, f64); 4] = [
    (List::Bm25, Domain::Clapnq, 0.205),
    (List::Bm25, Domain::Cloud, 0.230),
    (List::Exact, Domain::Clapnq, 0.350),
    (List::Exact, Domain::Cloud, 0.250),
];

/// nDCG@5 of the fused rewrites, mean of both corpora, that plain reciprocal rank fusion reaches.
const LEAST_FUSED: f64 = 0.328;

/// What must hold of the whole evaluation.
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
        name: format!("rewrite: RRF, nDCG@5, mean of both corpora, {name}"),
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

/// What must hold of the query of a turn, on the later turns of both corpora: the contextual one is at or above the language
/// model's rewrite measured in the same run, by words alone and fused; and a fusion of scores costs nothing against the better
/// branch of either corpus.
pub fn of_queries(ways: &[(QueryFrom, Vec<QueriedTurn>)]) -> Vec<Relation> {
    let asked = |way| {
        let found = ways.iter().find(|(one, _)| *one == way);
        found.map_or(&[][..], |(_, asked)| asked)
    };
    let [contextual, rewrite] = [QueryFrom::Contextual(1.0), QueryFrom::Rewrite].map(asked);
    let mut relations = Vec::new();
    for order in [Order::Bm25, Order::Scores(0.7)] {
        let [ours, theirs] = [contextual, rewrite].map(|asked| later(asked, order));
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
    for (way, asked) in ways.iter().filter(|(way, _)| *way != QueryFrom::Dialogue) {
        for domain in Domain::ALL {
            let of = |order| {
                mean_of(asked, order, |turn| {
                    turn.domain == domain && turn.number > 1
                })
                .ndcg_5
            };
            relations.push(Relation {
                name: format!(
                    "{} later turns, {}: scores against the better branch, nDCG@5",
                    domain.name(),
                    way.name()
                ),
                value: of(Order::Scores(0.7)),
                least: of(Order::Bm25).max(of(Order::Vector)),
            });
        }
    }
    relations
}

/// What must hold of the sample. A query weighs four times as much there, so only what does not hang on a single one is
/// asked: that the index stays near the exact order in both corpora together.
pub fn of_sample(measured: &[Measured]) -> Vec<Relation> {
    let mut relations = Vec::new();
    for form in Form::ALL {
        let name = format!("{}, mean of both corpora", form.name());
        for (list, most) in NEAR {
            let gain = mean(|domain| gain(measured, domain, form, list));
            let most = match list {
                // Rounding exchanges neighbours of single queries: as many of a quarter weigh four times as much.
                List::Bm25Index => most * 4.0,
                _ => most,
            };
            relations.push(near(&name, list, most, gain));
        }
    }
    relations
}

fn near(name: &str, list: List, most: f64, gain: f64) -> Relation {
    // Better by chance is no fault of the BM25 index; a graph cannot be better than the order that it approximates.
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

/// By how much nDCG@5 through an index is above that of the exact list.
fn gain(measured: &[Measured], domain: Domain, form: Form, list: List) -> f64 {
    let ndcg = |list| ndcg(measured, domain, form, list);
    list.approximates()
        .map_or(f64::NAN, |exact| ndcg(list) - ndcg(exact))
}

/// Mean of a figure over the corpora.
fn mean(figure: impl Fn(Domain) -> f64) -> f64 {
    let figures = Domain::ALL.map(figure);
    figures.iter().sum::<f64>() / figures.len() as f64
}

/// nDCG@5 over all turns; not a number if the list was not measured.
fn ndcg(measured: &[Measured], domain: Domain, form: Form, list: List) -> f64 {
    measured
        .iter()
        .find(|one| (one.domain, one.form, one.list) == (domain, form, list))
        .and_then(|one| one.since_turn(1))
        .map_or(f64::NAN, |(scores, _)| scores.ndcg_5)
}

/// Names the relations that do not hold.
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

    /// Every list of every form at the same nDCG@5, but for RRF and HNSW.
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
    fn each_relation_breaks_on_its_own() {
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
            // Two corpora in three forms, and their means in the sample.
            assert_eq!(far.len(), 9);
        }
    }

    #[test]
    fn what_was_not_measured_does_not_hold() {
        let nothing = of_all(&[]);
        assert!(!nothing.is_empty() && nothing.iter().all(|relation| !relation.holds()));
        assert!(broken(&nothing)[0].contains("NaN is below 0.2050"));
    }
}
