//! Measures of a context: how well it is ordered, and how much of it the answer used.

use std::collections::BTreeSet;

use crate::Ratio;

/// Context precision at `k` (RAGAS): the sum of the precision at each rank that holds a relevant passage, over the relevant
/// passages among the first `k`. `relevant` says by rank, best first, whether the passage is.
///
/// `None` where the first `k` hold no relevant passage.
pub fn precision_at(k: usize, relevant: &[bool]) -> Ratio {
    let places = (1_u32..).zip(relevant.iter().take(k));
    let ranks = places.filter_map(|(rank, is_relevant)| is_relevant.then_some(rank));
    Ratio::earned(
        (1_u32..)
            .zip(ranks)
            .map(|(count, rank)| f64::from(count) / f64::from(rank)),
    )
}

/// Context utilisation: of the distinct passages in the context, those that the answer cites. What it cites besides earns
/// nothing.
pub fn utilisation<P: Ord>(
    cited: impl IntoIterator<Item = P>,
    context: impl IntoIterator<Item = P>,
) -> Ratio {
    share_cited(cited, context)
}

/// Carry-over hit rate: of the distinct passages carried into the context from earlier turns, those that the answer cites.
pub fn carry_over_hit_rate<P: Ord>(
    cited: impl IntoIterator<Item = P>,
    carried: impl IntoIterator<Item = P>,
) -> Ratio {
    share_cited(cited, carried)
}

fn share_cited<P: Ord>(
    cited: impl IntoIterator<Item = P>,
    offered: impl IntoIterator<Item = P>,
) -> Ratio {
    let cited: BTreeSet<P> = cited.into_iter().collect();
    let offered: BTreeSet<P> = offered.into_iter().collect();
    Ratio::of(offered.iter().map(|passage| cited.contains(passage)))
}
