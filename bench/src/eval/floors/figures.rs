//! The figures that have floors, each with a stable name.

use crate::data::Domain;
use crate::eval::answerability::LabelledTurn;
use crate::eval::answerability::judged::{Scorer, area, scored};
use crate::eval::near_twins;
use crate::eval::query::queried::{QueriedTurn, QueryFrom};
use crate::eval::query::ranking::{Order, later};
use crate::eval::replay::ReplayedConversation;
use crate::eval::replay::arm::Arm;
use crate::eval::replay::scope::{Measure, Scope};
use crate::eval::retrieval::{List, Measured};
use crate::eval::titles::{MeasuredTitles, Titles};

/// A figure in [0, 1]; more is better.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Stable name.
    pub name: String,
    /// Measured value.
    pub value: f64,
    /// Distance of a new floor below the measured value: two equally good runs may differ by this much.
    pub margin: f64,
}

/// BM25 scores are computed in double precision from whole numbers, so they are the same on every machine.
const EXACT: f64 = 0.0;

/// Distances are computed in single precision. Their order of summation depends on the processor, so near ties may be ordered
/// differently on another one.
const SINGLE_PRECISION: f64 = 0.002;

/// An HNSW graph has random levels, so each load builds another graph. The default settings may use it.
const RANDOM_GRAPH: f64 = 0.01;

/// nDCG@5, recall@5 and recall@10 of every list over all turns. Lists through HNSW are left out: relations compare them with the
/// exact lists.
pub fn of_retrieval(measured: &[Measured]) -> Vec<Figure> {
    measured.iter().flat_map(|one| of_list(one, "")).collect()
}

/// The figures of [`of_retrieval`] for the corpora whose titles are searched.
pub fn of_titles(measured: &[MeasuredTitles]) -> Vec<Figure> {
    let titled = measured
        .iter()
        .filter(|(titles, _)| *titles == Titles::Default);
    titled
        .flat_map(|(_, one)| of_list(one, "titles, "))
        .collect()
}

/// Distinct precision and recall of the contexts without near twins.
pub fn of_near_twins(measured: &[near_twins::Measured]) -> Vec<Figure> {
    let figures = measured.iter().flat_map(|one| {
        let (domain, form) = (one.domain.name(), one.form.name());
        let values = [
            ("distinct precision", one.after.distinct_precision),
            ("recall", one.after.recall),
        ];
        values.map(|(measure, value)| Figure {
            name: format!("near twins removed, {domain} {form}: {measure}"),
            value,
            margin: SINGLE_PRECISION,
        })
    });
    figures.collect()
}

/// Figures of a list; their names begin with a prefix.
fn of_list(one: &Measured, prefix: &str) -> Vec<Figure> {
    let mut figures = Vec::new();
    if let Some((scores, _)) = one.since_turn(1) {
        let margin = match one.list {
            List::Bm25 | List::Bm25Index => EXACT,
            List::Exact | List::Rrf | List::Scores => SINGLE_PRECISION,
            List::Hnsw | List::ScoresIndexes => return figures,
        };
        for (measure, value) in [
            ("nDCG@5", scores.ndcg_5),
            ("recall@5", scores.recall_5),
            ("recall@10", scores.recall_10),
        ] {
            let (domain, form, list) = (one.domain.name(), one.form.name(), one.list.name());
            figures.push(Figure {
                name: format!("{prefix}{domain} {form}: {list}: {measure}"),
                value,
                margin,
            });
        }
    }
    figures
}

/// Endings of names, and the domains whose mean the figure is. The first evaluations had two domains, and their floors keep their
/// names.
const QUERY_SCOPES: [(&str, &[Domain]); 3] = [
    ("", &Domain::ORIGINAL),
    (", fiqa", &[Domain::Fiqa]),
    (", three domains", &Domain::ALL),
];

/// nDCG@5 and recall@10 of later turns, by the way to make the query and the fusion.
pub fn of_queries(queries: &[(QueryFrom, Vec<QueriedTurn>)]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (from, queried) in queries {
        for order in Order::COMPARED {
            let margin = if order == Order::Bm25 {
                EXACT
            } else {
                SINGLE_PRECISION
            };
            for (scope, domains) in QUERY_SCOPES {
                let scores = later(queried, domains, order);
                for (measure, value) in [("nDCG@5", scores.ndcg_5), ("recall@10", scores.recall_10)]
                {
                    figures.push(Figure {
                        name: format!(
                            "query from {}: {}: {measure}{scope}",
                            from.name(),
                            order.name()
                        ),
                        value,
                        margin,
                    });
                }
            }
        }
    }
    figures
}

/// Recall and precision of the contexts of every arm, over the later turns of the original domains, and of fiqa.
pub fn of_replay(arms: &[(Arm, Vec<ReplayedConversation>)]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (arm, replayed) in arms {
        for measure in Measure::ALL {
            for scope in [Scope::LATER, Scope::later_of(Domain::Fiqa)] {
                let Some(interval) = scope.mean(replayed, measure) else {
                    continue;
                };
                figures.push(Figure {
                    name: format!(
                        "replay, {}: {}: {}",
                        scope.name(),
                        arm.name(),
                        measure.name()
                    ),
                    value: interval.mean,
                    margin: if arm.equal_size() {
                        SINGLE_PRECISION
                    } else {
                        RANDOM_GRAPH
                    },
                });
            }
        }
    }
    figures
}

/// AUROC of answerability with weights of the other two domains, for each domain, and the mean.
pub fn of_answerability(turns: &[LabelledTurn]) -> Vec<Figure> {
    let domains = Domain::ALL.map(|domain| scored(turns, domain, Scorer::Refitted));
    let each = Domain::ALL.map(Domain::name).into_iter().zip(&domains);
    let each = each.map(|(name, domain)| (name, area(std::slice::from_ref(domain))));
    each.chain([("mean", area(&domains))])
        .filter_map(|(name, area)| {
            Some(Figure {
                name: format!("answerability, weights of the other domains: {name}: AUROC"),
                value: area?.value,
                margin: SINGLE_PRECISION,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::queries::Form;
    use crate::eval::replay::scope::tests::replayed;

    #[test]
    fn lists_through_a_random_graph_have_no_floors() {
        let lists =
            List::ALL.map(|list| Measured::constant(Domain::Cloud, Form::Rewrite, list, 0.5));
        let figures = of_retrieval(&lists);
        let names: Vec<&str> = figures.iter().map(|figure| &*figure.name).collect();
        assert_eq!(names.len(), 15);
        assert_eq!(
            names[..2],
            [
                "cloud rewrite: BM25: nDCG@5",
                "cloud rewrite: BM25: recall@5"
            ]
        );
        assert!(
            !names
                .iter()
                .any(|name| name.contains("HNSW") || name.contains("indexes")),
            "{names:?}"
        );
    }

    #[test]
    fn names_distinguish_arms_and_measures() {
        let arms = Arm::ALL.map(|arm| {
            (
                arm,
                vec![replayed(Domain::Cloud, &[Some(4), Some(1), Some(2)])],
            )
        });
        let figures = of_replay(&arms);
        let mut names: Vec<&str> = figures.iter().map(|figure| &*figure.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 20);
        let recall = &figures[0];
        assert_eq!(
            (&*recall.name, recall.value),
            ("replay, later: none: recall", 0.375)
        );
    }
}
