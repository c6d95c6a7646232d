//! The context embedding: its weight, chosen on two domains and reported on the third.

use super::query::paired;
use super::{or_dash, share, signed};
use crate::data::Domain;
use crate::eval::query::queried::{QueriedTurn, QueryFrom};
use crate::eval::query::ranking::{Order, later};

/// The default fusion.
const ORDER: Order = Order::Scores(0.7);

/// Prints the weights that two domains choose, and their result on the third.
pub fn print(queries: &[(QueryFrom, Vec<QueriedTurn>)]) {
    let find = |from| queries.iter().find(|(one, _)| *one == from);
    let Some((_, rewrite)) = find(QueryFrom::Rewrite) else {
        return;
    };
    let kinds: [fn(&QueryFrom) -> bool; 2] = [
        |from| matches!(from, QueryFrom::Context(_)),
        |from| matches!(from, QueryFrom::RewriteContext(_)),
    ];
    if !queries
        .iter()
        .any(|(from, _)| kinds.iter().any(|is| is(from)))
    {
        return;
    }
    println!(
        "The context embedding with the weight that the two other domains choose, nDCG@5 of later turns, fusion of scores; beside it the \
         rewrite, and the paired difference with a 95 % interval that resamples whole conversations:\n"
    );
    println!("| domain | chosen | nDCG@5 | LLM rewrite | difference |\n|---|---|---|---|---|");
    for is in kinds {
        for domain in Domain::ALL {
            let others: Vec<Domain> = domain.others().collect();
            let of =
                |queried: &[QueriedTurn], domains: &[Domain]| later(queried, domains, ORDER).ndcg_5;
            let chosen = queries.iter().filter(|(from, _)| is(from));
            let chosen = chosen.max_by(|a, b| of(&a.1, &others).total_cmp(&of(&b.1, &others)));
            let Some((from, queried)) = chosen else {
                continue;
            };
            let difference = paired(queried, rewrite, &[domain], |ours, theirs| {
                ORDER.scores(ours).ndcg_5 - ORDER.scores(theirs).ndcg_5
            });
            println!(
                "| {} | {} | {} | {} | {} |",
                domain.name(),
                from.name(),
                share(of(queried, &[domain])),
                share(of(rewrite, &[domain])),
                or_dash(difference, signed)
            );
        }
    }
    println!();
}
