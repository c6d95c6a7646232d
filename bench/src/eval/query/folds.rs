//! Chooses settings by cross-validation over conversations, and measures them on the conversations that were held out.

use super::queried::{QueriedTurn, QueryFrom};
use super::ranking::Order;
use crate::data::Domain;
use crate::statistics::folds::{FOLDS, fold};

/// Candidate shares of the vector branch.
pub const SHARES: [f64; 5] = [0.5, 0.6, 0.7, 0.8, 0.9];

/// The chosen settings and their result.
#[derive(Debug)]
pub struct Chosen {
    /// Per fold: the best way to make the query and the best share, on the other folds.
    pub choices: Vec<(QueryFrom, f64)>,
    /// nDCG@5 of later turns on the held-out folds, mean of the original corpora.
    pub held_out: f64,
    /// nDCG@5 of every choice on all conversations.
    pub table: Vec<(QueryFrom, [f64; SHARES.len()])>,
}

/// Chooses among ways to make the query and shares. All ways must have the same turns in the same order.
pub fn choose(queries: &[(QueryFrom, &[QueriedTurn])]) -> Option<Chosen> {
    let figures: Vec<(QueryFrom, f64, Vec<Figure>)> = queries
        .iter()
        .flat_map(|&(from, queried)| {
            SHARES.map(|share| {
                let figures = queried.iter().filter(|turn| turn.number > 1);
                let figures = figures.map(|turn| Figure::of(turn, Order::Scores(share)));
                (from, share, figures.collect())
            })
        })
        .collect();
    let mean = |figures: &[Figure], keep: &dyn Fn(u8) -> bool| {
        let of = |domain| {
            let here = figures.iter();
            let here: Vec<f64> = here
                .filter(|figure| figure.domain == domain && keep(figure.fold))
                .map(|figure| figure.ndcg)
                .collect();
            (!here.is_empty()).then(|| here.iter().sum::<f64>() / here.len() as f64)
        };
        let means: Vec<f64> = Domain::ORIGINAL.into_iter().filter_map(of).collect();
        means.iter().sum::<f64>() / means.len().max(1) as f64
    };
    let mut choices = Vec::new();
    let mut held_out: Vec<Figure> = Vec::new();
    for fold in 0..FOLDS {
        let best = figures.iter().max_by(|a, b| {
            let others = |one: &(QueryFrom, f64, Vec<Figure>)| mean(&one.2, &|of| of != fold);
            others(a).total_cmp(&others(b))
        })?;
        choices.push((best.0, best.1));
        held_out.extend(best.2.iter().filter(|figure| figure.fold == fold).cloned());
    }
    let table = queries.iter().map(|&(from, _)| {
        let row = SHARES.map(|share| {
            let of = figures.iter().find(|one| one.0 == from && one.1 == share);
            of.map_or(f64::NAN, |one| mean(&one.2, &|_| true))
        });
        (from, row)
    });
    Some(Chosen {
        choices,
        held_out: mean(&held_out, &|_| true),
        table: table.collect(),
    })
}

/// nDCG@5 of a turn.
#[derive(Clone)]
struct Figure {
    domain: Domain,
    fold: u8,
    ndcg: f64,
}

impl Figure {
    fn of(turn: &QueriedTurn, order: Order) -> Self {
        Self {
            domain: turn.domain,
            fold: fold(&turn.conversation),
            ndcg: order.scores(turn).ndcg_5,
        }
    }
}
