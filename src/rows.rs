//! Rows returned by a function. Its columns are declared in `sql/install` only: as RETURNS TABLE, or by a composite type.

use pgrx::pg_sys;
use serde::Serialize;

use crate::error::Result;
use crate::sql::{self, Args};

/// Rows per statement. A cancel or a timeout takes effect between two batches.
const BATCH: usize = 1000;

/// Returns values as rows. Fields and columns are matched by name; a missing field is NULL.
pub fn emit<T: Serialize>(fcinfo: pg_sys::FunctionCallInfo, rows: &[T]) -> Result<()> {
    let set = Set::of(fcinfo);
    let columns: Vec<String> = set
        .columns
        .iter()
        .map(|(name, kind)| format!("{name} {kind}"))
        .collect();
    let statement = format!(
        "SELECT * FROM pg_catalog.json_to_recordset($1::pg_catalog.json) AS r({})",
        columns.join(", ")
    );
    for batch in rows.chunks(BATCH) {
        set.fill(&statement, &[sql::json(batch)?.into()])?;
    }
    Ok(())
}

/// Returns the rows of a FROM clause, whose alias `r` has a column for each declared name.
pub fn emit_from(fcinfo: pg_sys::FunctionCallInfo, from: &str, args: &Args<'_>) -> Result<()> {
    let set = Set::of(fcinfo);
    let columns: Vec<String> = set
        .columns
        .iter()
        .map(|(name, kind)| format!("r.{name}::{kind}"))
        .collect();
    set.fill(&format!("SELECT {} FROM {from}", columns.join(", ")), args)
}

/// Returns one row. The values have the order and the types of the declared columns. No statement runs, so that parallel safe
/// functions can use it.
pub fn emit_values(fcinfo: pg_sys::FunctionCallInfo, values: &[Option<pg_sys::Datum>]) {
    let mut datums: Vec<pg_sys::Datum> = values
        .iter()
        .map(|value| value.unwrap_or(pg_sys::Datum::from(0_usize)))
        .collect();
    let mut nulls: Vec<bool> = values.iter().map(Option::is_none).collect();
    // SAFETY: as in Set::of. The arrays have an element for each declared column, and tuplestore_putvalues copies the values.
    unsafe {
        pg_sys::InitMaterializedSRF(fcinfo, 0);
        let info = (*fcinfo).resultinfo.cast::<pg_sys::ReturnSetInfo>();
        let declared = usize::try_from((*(*info).setDesc).natts).unwrap_or_default();
        assert_eq!(declared, values.len(), "columns as declared in sql/install");
        pg_sys::tuplestore_putvalues(
            (*info).setResult,
            (*info).setDesc,
            datums.as_mut_ptr(),
            nulls.as_mut_ptr(),
        );
    }
}

/// The result set of a function.
struct Set {
    store: *mut pg_sys::Tuplestorestate,
    /// Name and type of each column, as SQL.
    columns: Vec<(String, String)>,
}

impl Set {
    fn of(fcinfo: pg_sys::FunctionCallInfo) -> Self {
        // SAFETY: this is the fcinfo of a function declared RETURNS TABLE or SETOF a composite type. InitMaterializedSRF raises an
        // error if the caller accepts no set; otherwise setResult and setDesc of the ReturnSetInfo live as long as the call.
        unsafe {
            pg_sys::InitMaterializedSRF(fcinfo, 0);
            let info = (*fcinfo).resultinfo.cast::<pg_sys::ReturnSetInfo>();
            let columns = pgrx::PgTupleDesc::from_pg_copy((*info).setDesc)
                .iter()
                .map(|attribute| {
                    let kind = pg_sys::format_type_be_qualified(attribute.atttypid);
                    let kind = std::ffi::CStr::from_ptr(kind).to_string_lossy();
                    (sql::ident(attribute.name()), kind.into_owned())
                })
                .collect();
            Self {
                store: (*info).setResult,
                columns,
            }
        }
    }

    /// Adds the rows of a statement with the declared columns.
    fn fill(&self, statement: &str, args: &Args<'_>) -> Result<()> {
        sql::read_each(statement, args, |row| {
            // SAFETY: the statement was made from setDesc, so the tuple has its row type. tuplestore_puttuple copies the tuple.
            unsafe { pg_sys::tuplestore_puttuple(self.store, row.tuple()) };
            Ok(())
        })?;
        Ok(())
    }
}
