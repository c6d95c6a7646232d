//! Measures of a context: its order, and the share that the answer uses.

use std::collections::BTreeSet;

use crate::Ratio;

/// Context precision at `k` (RAGAS): the mean, over the relevant passages among the first `k`, of the precision at their rank.
/// `relevant` contains, by rank, whether the passage is relevant.
///
/// The ratio has no value when the first `k` contain no relevant passage.
pub fn precision_at(k: usize, relevant: &[bool]) -> Ratio {
    let places = (1_u32..).zip(relevant.iter().take(k));
    let ranks = places.filter_map(|(rank, is_relevant)| is_relevant.then_some(rank));
    Ratio::earned(
        (1_u32..)
            .zip(ranks)
            .map(|(count, rank)| f64::from(count) / f64::from(rank)),
    )
}

/// Context utilisation: the share of the distinct passages of the context that the answer cites. Other cited passages do
/// not count.
pub fn utilisation<P: Ord>(
    cited: impl IntoIterator<Item = P>,
    context: impl IntoIterator<Item = P>,
) -> Ratio {
    share_cited(cited, context)
}

/// Carry-over hit rate: the share of the distinct passages carried over from earlier turns that the answer cites.
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
