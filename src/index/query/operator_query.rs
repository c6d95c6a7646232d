//! The query of an operator. An operator is called for each row, so the query is parsed and weighted only once in a statement.

use std::rc::Rc;

use super::bm25_query::Bm25Query;
use super::weighted_query::{WeightedQuery, weighted_query, weighted_query_of};
use crate::datum::{argument, from_datum, payload};
use crate::error::Result;

/// A query, weighted for its statement, or the error of the weighting.
pub struct OperatorQuery(Result<Rc<WeightedQuery>>);

impl OperatorQuery {
    /// Returns the weighted query.
    ///
    /// # Errors
    /// As for [`weighted_query`].
    pub fn weighted(self) -> Result<Rc<WeightedQuery>> {
        self.0
    }
}

from_datum!(OperatorQuery, |datum| payload(datum, |stored| Some(
    OperatorQuery(weighted_query_of(stored))
)));
argument!(
    OperatorQuery,
    OperatorQuery(weighted_query(&Bm25Query::unreadable()))
);
