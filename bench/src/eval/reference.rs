//! Published reference figures, computed by other code on the same files: BM25 with k1 1.2 and b 0.75, Snowball stemmer, 60 stop
//! words, statistics of each corpus; exact cosine; RRF with k 60 over 40 + 40 candidates.

use super::retrieval::{List, Scores};
use crate::data::Domain;
use crate::data::queries::Form;

/// Figures of one list: all turns of clapnq and cloud, then later turns (≥ 2) of both.
type Row = [[f64; 3]; 4];

/// The reference figure, if one was published.
pub fn scores(domain: Domain, form: Form, list: List, later: bool) -> Option<Scores> {
    let place = usize::from(domain == Domain::Cloud) + if later { 2 } else { 0 };
    let [ndcg_5, recall_5, recall_10] = row(form, list)?[place];
    Some(Scores {
        ndcg_5,
        recall_5,
        recall_10,
    })
}

#[rustfmt::skip]
fn row(form: Form, list: List) -> Option<Row> {
    Some(match (form, list) {
        (Form::LastTurn, List::Bm25) =>
            [[0.210, 0.231, 0.372], [0.233, 0.258, 0.323], [0.183, 0.199, 0.327], [0.214, 0.231, 0.300]],
        (Form::LastTurn, List::Exact) =>
            [[0.351, 0.397, 0.519], [0.252, 0.286, 0.352], [0.315, 0.359, 0.473], [0.238, 0.265, 0.329]],
        (Form::LastTurn, List::Rrf) =>
            [[0.344, 0.364, 0.486], [0.281, 0.305, 0.409], [0.305, 0.320, 0.437], [0.258, 0.279, 0.385]],
        (Form::Rewrite, List::Bm25) =>
            [[0.254, 0.275, 0.424], [0.231, 0.269, 0.338], [0.234, 0.249, 0.387], [0.212, 0.243, 0.317]],
        (Form::Rewrite, List::Exact) =>
            [[0.386, 0.427, 0.553], [0.254, 0.290, 0.368], [0.355, 0.393, 0.512], [0.241, 0.270, 0.348]],
        (Form::Rewrite, List::Rrf) =>
            [[0.380, 0.409, 0.535], [0.276, 0.314, 0.406], [0.346, 0.372, 0.494], [0.252, 0.290, 0.382]],
        (Form::Questions, List::Rrf) =>
            [[0.228, 0.251, 0.379], [0.160, 0.197, 0.261], [0.171, 0.189, 0.314], [0.119, 0.154, 0.214]],
        _ => return None,
    })
}
