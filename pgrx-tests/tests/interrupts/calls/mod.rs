//! A call of every function, and where another session can make it wait.

mod alerts;
mod bm25;
mod citations;
mod corpora;
mod provenance;
mod quality;
mod turns;

/// What another session holds while the call runs.
#[derive(Debug, Clone, Copy)]
pub enum Held {
    /// The table, so that whoever reads it waits.
    Reads(&'static str),
    /// The table's rows, so that only a writer waits: what it wrote elsewhere before is then already done.
    Writes(&'static str),
}

impl Held {
    /// The statement that holds it.
    pub fn lock(self) -> String {
        match self {
            Self::Reads(table) => format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"),
            Self::Writes(table) => format!("LOCK TABLE {table} IN SHARE MODE"),
        }
    }

    /// Whether a call that touches the table so waits for it.
    pub fn stops(self, touched: &str, writes: bool) -> bool {
        match self {
            Self::Reads(table) => !writes && table == touched,
            Self::Writes(table) => writes && table == touched,
        }
    }
}

/// A call of one function.
pub struct Call {
    /// Its name.
    pub function: &'static str,
    /// As it stands in FROM. Turn 1 has ended with message 1, turn 2 is open, turn 3 waits for a rerank.
    pub call: &'static str,
    /// Where it can be made to wait. None: it reads no table and takes no text of any length.
    pub waits: &'static [Held],
}

impl Call {
    /// The statement, whose one column is the row as JSON, without the ids that a sequence gives anew each time.
    pub fn statement(&self) -> String {
        format!(
            "SELECT CASE jsonb_typeof(to_jsonb(r)) WHEN 'object' THEN to_jsonb(r) - ARRAY['turn_id', 'message_id', 'citation_id'] ELSE to_jsonb(r) END::text \
             FROM reground.{} AS r",
            self.call
        )
    }
}

/// One call a function.
pub fn calls() -> impl Iterator<Item = &'static Call> {
    [
        alerts::CALLS,
        bm25::CALLS,
        citations::CALLS,
        corpora::CALLS,
        provenance::CALLS,
        quality::CALLS,
        turns::CALLS,
    ]
    .into_iter()
    .flatten()
}
