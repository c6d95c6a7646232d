//! How a function returns rows: as declared in `sql/install`, the one place that lists its columns.

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use pgrx::spi::Spi;
use serde::Serialize;

use crate::error::Result;
use crate::plans::prepared;
use crate::sql;

/// Returns values as the rows of a set-returning function, matching fields to columns by name; a field that is
/// missing is NULL.
pub fn emit<T: Serialize>(fcinfo: pg_sys::FunctionCallInfo, rows: &[T]) -> Result<()> {
    emit_json(fcinfo, sql::json(rows)?)
}

/// As [`emit`], for rows that are a JSON array already.
pub fn emit_json(fcinfo: pg_sys::FunctionCallInfo, rows: String) -> Result<()> {
    // SAFETY: this is the fcinfo of a function declared RETURNS TABLE; InitMaterializedSRF raises an error where no set can be
    // taken, and else leaves a ReturnSetInfo whose setResult and setDesc live as long as the call.
    let (store, columns) = unsafe {
        pg_sys::InitMaterializedSRF(fcinfo, 0);
        let info = (*fcinfo).resultinfo.cast::<pg_sys::ReturnSetInfo>();
        let columns = pgrx::PgTupleDesc::from_pg_copy((*info).setDesc)
            .iter()
            .map(|attribute| {
                let kind = pg_sys::format_type_be_qualified(attribute.atttypid);
                format!(
                    "{} {}",
                    sql::ident(attribute.name()),
                    std::ffi::CStr::from_ptr(kind).to_string_lossy()
                )
            })
            .collect::<Vec<_>>();
        ((*info).setResult, columns)
    };
    let statement = format!(
        "SELECT * FROM pg_catalog.json_to_recordset($1::json) AS r({})",
        columns.join(", ")
    );
    Spi::connect(|client| {
        let args = [DatumWithOid::from(rows)];
        let plan = prepared(client, &statement, &args)?;
        let table = client.select(&*plan, None, &args)?;
        // SAFETY: SPI_tuptable is the result of the statement just run, in this SPI connection; its tuples have the
        // row type that setDesc describes, since the column definitions were made from it. tuplestore_puttuple copies.
        unsafe {
            let result = pg_sys::SPI_tuptable;
            if !result.is_null() {
                for index in 0..table.len() {
                    pg_sys::tuplestore_puttuple(store, *(*result).vals.add(index));
                }
            }
        }
        Ok(())
    })
}
