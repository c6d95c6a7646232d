//! Prepared statements of this session. Each statement of the extension is parsed and planned once, as in PL/pgSQL.
//!
//! PostgreSQL's plan cache replans a statement when a relation, a function, the search_path or the role behind row-level security
//! has changed. It notices that a table has grown only after the next ANALYZE; a plan that was made on an empty table reads
//! the whole table until then. So plans are rebuilt at uses 8, 64, 512, …. A statement whose relations have changed is prepared again, because
//! one of them may be distributed now. Statements with [`super::PLAN_EACH_TIME`] are only analysed once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::rc::Rc;

use pgrx::pg_sys::Oid;

use super::statement::{Args, Statement};
use crate::error::Result;

/// Maximum number of kept statements. The extension has some sixty, and a few for each corpus. All are dropped at the limit.
const CAPACITY: usize = 500;

/// A statement is planned again at uses 8, 64, 512, and so on.
const REPLAN_FACTOR: u64 = 8;

struct Entry {
    statement: Rc<Statement>,
    uses: u64,
}

thread_local! {
    // Never dropped: at process exit PostgreSQL frees the memory of the plans before thread-locals are dropped.
    static STATEMENTS: ManuallyDrop<RefCell<HashMap<String, Entry>>> = ManuallyDrop::new(RefCell::default());
}

/// The prepared statement for a text and the types of its arguments. Call it within an SPI connection.
///
/// The statement is shared, because a function of the application that runs inside it may call the extension again, and the cache may
/// then drop the statement.
pub fn prepared(text: &str, args: &Args<'_>) -> Result<Rc<Statement>> {
    let types: Vec<Oid> = args.iter().map(|arg| arg.oid()).collect();
    let (statement, uses) = STATEMENTS.with(|statements| {
        let mut statements = statements.borrow_mut();
        let found = statements.get_mut(text);
        let found = found.filter(|entry| entry.statement.takes(&types));
        found.map_or((None, 1), |entry| {
            entry.uses += 1;
            let reusable = !is_replanned_at(entry.uses) && entry.statement.is_valid();
            (reusable.then(|| Rc::clone(&entry.statement)), entry.uses)
        })
    });
    if let Some(statement) = statement {
        return Ok(statement);
    }
    let statement = Rc::new(Statement::prepare(text, types)?);
    STATEMENTS.with(|statements| {
        let mut statements = statements.borrow_mut();
        if statements.len() >= CAPACITY {
            statements.clear();
        }
        let statement = Rc::clone(&statement);
        statements.insert(text.to_owned(), Entry { statement, uses });
    });
    Ok(statement)
}

fn is_replanned_at(uses: u64) -> bool {
    uses >= REPLAN_FACTOR && REPLAN_FACTOR.pow(uses.ilog(REPLAN_FACTOR)) == uses
}
