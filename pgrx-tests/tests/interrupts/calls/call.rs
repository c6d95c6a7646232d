//! A call of a function, and the locks that make it wait.

/// The lock that another session holds during a call.
#[derive(Debug, Clone, Copy)]
pub enum TableLock {
    /// The table is locked, so that readers wait.
    Reads(&'static str),
    /// The rows are locked, so that only writers wait; rows in other tables are then already written.
    Writes(&'static str),
}

impl TableLock {
    /// Returns the statement that takes the lock.
    pub fn lock(self) -> String {
        match self {
            Self::Reads(table) => format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"),
            Self::Writes(table) => format!("LOCK TABLE {table} IN SHARE MODE"),
        }
    }

    /// Whether a call with this access to the table waits for the lock.
    pub fn stops(self, touched: &str, writes: bool) -> bool {
        match self {
            Self::Reads(table) => !writes && table == touched,
            Self::Writes(table) => writes && table == touched,
        }
    }
}

/// A call of one function.
pub struct Call {
    /// Name of the function.
    pub function: &'static str,
    /// The call, as written in FROM. Turn 1 has ended with message 1, turn 2 is open, turn 3 waits for a rerank.
    pub call: &'static str,
    /// Where the call can wait. Empty if it reads no table and takes no long text.
    pub waits: &'static [TableLock],
}

impl Call {
    /// Returns the statement; its column is the row as JSON, without ids from sequences.
    pub fn statement(&self) -> String {
        format!(
            "SELECT CASE jsonb_typeof(to_jsonb(r)) WHEN 'object' THEN to_jsonb(r) - ARRAY['turn_id', 'message_id', 'citation_id', 'ms', 'plan'] ELSE to_jsonb(r) END::text \
             FROM reground.{} AS r",
            self.call
        )
    }
}
