//! What a statement can take from its caller besides arguments: the tenant, the principals, and a plan for these values.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use crate::error::Result;
use crate::tenant;

/// The tenant of the caller as text, in any statement: a parameter, so that the planner knows its value.
pub const TENANT: &str = "$9001";

/// The principals of the caller as text[], likewise.
pub const PRINCIPALS: &str = "$9002";

/// Makes PostgreSQL plan a statement at each execution. A plan that is kept would be chosen for the filter, the tenant or the
/// principals of another call, which may match a hundred times as many rows.
pub const PLAN_EACH_TIME: &str = "/* plan each time */";

/// Makes PostgreSQL plan a statement once, for any values. Without it, it compares the costs of plans for the first values with that of
/// such a plan; for a search the plans are equal, but not their estimates. A statement that needs [`PLAN_EACH_TIME`] is not planned once.
pub const PLAN_ONCE: &str = "/* plan once */";

/// The types of [`TENANT`] and [`PRINCIPALS`], which follow the arguments of a statement.
const TYPES: [pg_sys::Oid; 2] = [pg_sys::TEXTOID, pg_sys::TEXTARRAYOID];

/// Whether a statement takes the parameters of the caller.
pub fn takes_parameters(text: &str) -> bool {
    text.contains(TENANT) || text.contains(PRINCIPALS)
}

/// Whether a statement is planned at each execution.
pub fn is_planned_each_time(text: &str) -> bool {
    takes_parameters(text) || text.contains(PLAN_EACH_TIME)
}

/// The position after the arguments and the type of a parameter of the caller, by its number in statements.
pub fn parameter(number: i32) -> Option<(usize, pg_sys::Oid)> {
    let position = [TENANT, PRINCIPALS]
        .iter()
        .position(|name| name.strip_prefix('$') == Some(number.to_string().as_str()))?;
    Some((position, *TYPES.get(position)?))
}

/// The values of the parameters of the caller, in order. Errors: 22023 if the principals are no text array.
pub fn values() -> Result<[DatumWithOid<'static>; 2]> {
    Ok([tenant::current().into(), tenant::principals()?.into()])
}
