//! The vector branch's part of a passage that has no vector.
//!
//! Such a passage cannot enter the vector list, so an average value there would put it behind every passage that matches
//! the query as well and has a vector. Its lexical value is the only evidence for its similarity, and stands in for it.

/// The vector branch's value of a passage without a vector, as a share of its lexical value: of the standardised score, or
/// of the term of rank fusion.
///
/// Chosen as the largest of 0.6, 0.8, 1.0 and 1.2 with which passages that have a vector keep the nDCG@5 that they have
/// when all have one, to .01 on average; every two of three domains choose the same (docs/evaluation.md).
pub(super) const LEXICAL_SHARE: f64 = 0.8;
