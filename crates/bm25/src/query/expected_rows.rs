//! The number of rows that a statement fetches from a scan, which PostgreSQL does not tell an access method. It only decides how many rows
//! the scan finds at a time: a wrong number costs time, and changes no result.
//!
//! The planner knows the LIMIT, so the number is kept from the plan to the scan of the same query. A generic plan is made without the
//! query. Then the number is that of the rows that earlier scans fetched, for the same statement of the client.

use std::collections::VecDeque;

/// Number of rows that are expected if nothing is known.
const UNKNOWN: usize = 64;
/// Maximum number. A statement with a larger LIMIT may end before it has fetched them all.
const MAX_EXPECTED: usize = 16_384;
/// Maximum number of queries and statements whose numbers are kept.
const MAX_KNOWN: usize = 128;

/// What a number of rows is known for. Texts can be long, so they are given as fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fetcher {
    /// A query that was planned.
    Query(u64),
    /// A statement of the client that was executed.
    Statement(u64),
}

/// The known numbers of a session.
#[derive(Debug, Default)]
pub struct ExpectedRows {
    /// The last one is first.
    known: VecDeque<Known>,
}

/// A known number.
#[derive(Debug)]
struct Known {
    /// Oid of the index.
    index: u32,
    fetcher: Fetcher,
    /// The expected number of rows.
    rows: usize,
    /// The number of the last scan. Once, a statement may fetch far more rows than before, so a larger number must occur twice.
    last: usize,
}

impl ExpectedRows {
    /// Keeps the LIMIT of a planned query; `None` if it has none or an unknown one.
    pub fn note_limit(&mut self, index: u32, query: u64, limit: Option<f64>) {
        let fetcher = Fetcher::Query(query);
        self.remove(index, fetcher);
        if let Some(limit) = limit {
            let rows = limit.clamp(1.0, MAX_EXPECTED as f64) as usize;
            self.add(index, fetcher, rows, rows);
        }
    }

    /// Keeps the number of rows that a statement has fetched, while there were more.
    pub fn note_fetched(&mut self, index: u32, statement: u64, rows: usize) {
        let fetcher = Fetcher::Statement(statement);
        let before = self.remove(index, fetcher);
        let expected = before.map_or(rows, |before| rows.min(before.last));
        self.add(index, fetcher, expected, rows);
    }

    /// Returns the number of rows that a scan is expected to return, at least 1.
    #[must_use]
    pub fn of_scan(&self, index: u32, query: u64, statement: Option<u64>) -> usize {
        let rows = |fetcher| {
            let mut known = self.known.iter();
            let found = known.find(|known| (known.index, known.fetcher) == (index, fetcher));
            found.map(|known| known.rows)
        };
        let planned = rows(Fetcher::Query(query));
        let expected = planned.or_else(|| rows(Fetcher::Statement(statement?)));
        expected.unwrap_or(UNKNOWN).clamp(1, MAX_EXPECTED)
    }

    fn remove(&mut self, index: u32, fetcher: Fetcher) -> Option<Known> {
        let mut known = self.known.iter();
        let at = known.position(|known| (known.index, known.fetcher) == (index, fetcher))?;
        self.known.remove(at)
    }

    fn add(&mut self, index: u32, fetcher: Fetcher, rows: usize, last: usize) {
        self.known.truncate(MAX_KNOWN - 1);
        self.known.push_front(Known {
            index,
            fetcher,
            rows,
            last,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: u32 = 7;
    const QUERY: u64 = 1;
    const STATEMENT: u64 = 2;

    fn of_scan(known: &ExpectedRows) -> usize {
        known.of_scan(INDEX, QUERY, Some(STATEMENT))
    }

    #[test]
    fn a_limit_is_known_for_its_query_and_index() {
        let mut known = ExpectedRows::default();
        for (limit, expected) in [
            (0.0, 1),
            (10.0, 10),
            (1000.0, 1000),
            (f64::INFINITY, MAX_EXPECTED),
        ] {
            known.note_limit(INDEX, QUERY, Some(limit));
            assert_eq!(of_scan(&known), expected);
        }
        assert_eq!(known.of_scan(INDEX + 1, QUERY, None), UNKNOWN);
        assert_eq!(known.of_scan(INDEX, QUERY + 1, None), UNKNOWN);
        known.note_limit(INDEX, QUERY, None);
        assert_eq!(of_scan(&known), UNKNOWN);
    }

    #[test]
    fn a_statement_is_expected_to_fetch_what_it_fetched() {
        let mut known = ExpectedRows::default();
        known.note_fetched(INDEX, STATEMENT, 300);
        assert_eq!(of_scan(&known), 300);
        assert_eq!(known.of_scan(INDEX, QUERY, None), UNKNOWN);
        // The number of the plan is that of this execution.
        known.note_limit(INDEX, QUERY, Some(10.0));
        assert_eq!(of_scan(&known), 10);
    }

    #[test]
    fn more_rows_are_expected_when_they_were_fetched_twice() {
        let mut known = ExpectedRows::default();
        let fetched = [10, 16_000, 10, 500, 600, usize::MAX, usize::MAX, 0];
        let expected = fetched.map(|rows| {
            known.note_fetched(INDEX, STATEMENT, rows);
            of_scan(&known)
        });
        assert_eq!(expected, [10, 10, 10, 10, 500, 600, MAX_EXPECTED, 1]);
    }

    #[test]
    fn the_oldest_numbers_are_forgotten() {
        let mut known = ExpectedRows::default();
        for statement in 0..=MAX_KNOWN as u64 {
            known.note_fetched(INDEX, statement, 5);
        }
        let of = |statement| known.of_scan(INDEX, QUERY, Some(statement));
        assert_eq!((of(0), of(1), of(MAX_KNOWN as u64)), (UNKNOWN, 5, 5));
        assert_eq!(known.known.len(), MAX_KNOWN);
    }
}
