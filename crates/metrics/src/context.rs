//! Measures of a context: the share that the answer uses.

use std::collections::BTreeSet;

use crate::Ratio;

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
