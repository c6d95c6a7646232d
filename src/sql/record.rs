//! The columns of a row type, from which the clauses of its statements are derived.

use std::fmt::{self, Display, Formatter};

/// Columns with their types, in one or several parts such as `label text, settings jsonb`. A struct that is bound as JSON has a
/// field of the same name for each column: PostgreSQL reads a missing key as NULL and ignores an unknown one.
#[derive(Clone, Copy)]
pub struct Record(pub &'static [&'static str]);

impl Record {
    /// The names of the columns, each behind a prefix such as `x.`.
    pub fn columns(self, prefix: &str) -> String {
        self.each(|name| format!("{prefix}{name}"))
    }

    /// Assignments for UPDATE or ON CONFLICT: each column gets the column of the same name behind a prefix.
    pub fn assignments(self, prefix: &str) -> String {
        self.each(|name| format!("{name} = {prefix}{name}"))
    }

    fn each(self, clause: impl Fn(&str) -> String) -> String {
        let columns = self.0.iter().flat_map(|part| part.split(','));
        let names = columns.filter_map(|column| column.split_whitespace().next());
        names.map(clause).collect::<Vec<_>>().join(", ")
    }
}

/// The record definition, for `json_to_record` and `json_to_recordset`.
impl Display for Record {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.join(", "))
    }
}
