//! Prepared statements of this session: each statement of ours is parsed and planned once, as PL/pgSQL's are.
//!
//! PostgreSQL's plan cache sees to it that a kept plan is never wrong: it plans anew where a relation, a function, the
//! search_path, or the role that row-level security depends on has changed. Of tables that have grown it hears with the next
//! ANALYZE only, and a plan made while they were empty reads them whole until then: so plans are made anew as they are used.

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::rc::Rc;

use pgrx::pg_sys::{Oid, PgOid};
use pgrx::spi::{OwnedPreparedStatement, SpiClient};

use crate::error::Result;
use crate::sql::Args;

/// Statements kept at a time. Ours are some sixty, and a few for each corpus; only a session that meets many corpora
/// comes so far, and begins again.
const MOST: usize = 500;

/// A statement is planned anew at its 8th use, its 64th, its 512th, and so on: seldom, and still no plan is of a time when the session
/// had used it less than an eighth as often.
const OFTEN: u64 = 8;

/// A statement, prepared for arguments of certain types.
struct Kept {
    types: Vec<Oid>,
    plan: Rc<OwnedPreparedStatement>,
    uses: u64,
}

thread_local! {
    // Never dropped: when the process ends, the memory that the plans live in is gone before thread-locals are.
    static KEPT: ManuallyDrop<RefCell<HashMap<String, Kept>>> = ManuallyDrop::new(RefCell::default());
}

/// The statement, prepared. It is shared, since a function of the user's that runs inside it may call us again and make the
/// cache forget it meanwhile.
pub fn prepared(
    client: &SpiClient<'_>,
    statement: &str,
    args: &Args<'_>,
) -> Result<Rc<OwnedPreparedStatement>> {
    let types: Vec<Oid> = args.iter().map(|arg| arg.oid()).collect();
    let (plan, uses) = KEPT.with(|kept| {
        let mut kept = kept.borrow_mut();
        let found = kept.get_mut(statement).filter(|found| found.types == types);
        found.map_or((None, 1), |found| {
            found.uses += 1;
            let plan = (!is_power_of_often(found.uses)).then(|| Rc::clone(&found.plan));
            (plan, found.uses)
        })
    });
    if let Some(plan) = plan {
        return Ok(plan);
    }
    let declared: Vec<PgOid> = types.iter().map(|&kind| PgOid::from(kind)).collect();
    // Whether it may write is settled when it runs, by the transaction: see [`crate::sql`].
    let plan = Rc::new(client.prepare(statement, &declared)?.keep());
    KEPT.with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() >= MOST {
            kept.clear();
        }
        let plan = Rc::clone(&plan);
        kept.insert(statement.to_owned(), Kept { types, plan, uses });
    });
    Ok(plan)
}

fn is_power_of_often(uses: u64) -> bool {
    uses >= OFTEN && OFTEN.pow(uses.ilog(OFTEN)) == uses
}
