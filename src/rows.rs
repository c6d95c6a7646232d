//! Rows returned by a function. Its columns are declared in `sql/install` only: as RETURNS TABLE, or by a composite type.

use pgrx::{IntoDatum, pg_sys};
use serde::Serialize;
use serde_json::Value;

use crate::error::Result;
use crate::sql::{self, Args};

/// Rows per statement. A cancel or a timeout takes effect between two batches.
const BATCH: usize = 1000;

/// Returns values as rows. Fields and columns are matched by name; a missing field is NULL.
pub fn emit<T: Serialize>(fcinfo: pg_sys::FunctionCallInfo, rows: &[T]) -> Result<()> {
    let set = Set::of(fcinfo);
    let values = rows.iter().map(serde_json::to_value);
    let values = values.collect::<std::result::Result<Vec<_>, _>>()?;
    if let Some(converted) = set.converted(&values) {
        converted.iter().for_each(|row| set.put(row));
        return Ok(());
    }
    let columns: Vec<String> = set
        .columns
        .iter()
        .map(|column| format!("{} {}", sql::ident(&column.name), column.kind_name()))
        .collect();
    let statement = format!(
        "SELECT * FROM pg_catalog.json_to_recordset($1::pg_catalog.json) AS r({})",
        columns.join(", ")
    );
    for batch in values.chunks(BATCH) {
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
        .map(|column| format!("r.{}::{}", sql::ident(&column.name), column.kind_name()))
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

/// A column of a result set.
struct Column {
    name: String,
    kind: pg_sys::Oid,
}

impl Column {
    /// Its type, as SQL.
    fn kind_name(&self) -> String {
        // SAFETY: returns a NUL-terminated text for every oid.
        let name = unsafe { std::ffi::CStr::from_ptr(pg_sys::format_type_be_qualified(self.kind)) };
        name.to_string_lossy().into_owned()
    }

    /// Converts a value as `json_to_recordset` does; `None` for a value or a type that only PostgreSQL converts.
    fn convert(&self, value: Option<&Value>) -> Option<Option<pg_sys::Datum>> {
        let Some(value) = value.filter(|value| !value.is_null()) else {
            return Some(None);
        };
        let datum = match (self.kind, value) {
            (pg_sys::TEXTOID, Value::String(text)) if !text.contains('\0') => text.into_datum(),
            (pg_sys::BOOLOID, Value::Bool(value)) => value.into_datum(),
            (pg_sys::INT4OID, Value::Number(number)) => {
                i32::try_from(number.as_i64()?).ok()?.into_datum()
            }
            (pg_sys::INT8OID, Value::Number(number)) => number.as_i64()?.into_datum(),
            (pg_sys::FLOAT8OID, Value::Number(number)) => number.as_f64()?.into_datum(),
            (pg_sys::TEXTARRAYOID, Value::Array(elements)) => {
                let texts = elements.iter().map(|element| match element {
                    Value::String(text) if !text.contains('\0') => Some(text.as_str()),
                    _ => None,
                });
                texts.collect::<Option<Vec<&str>>>()?.into_datum()
            }
            (pg_sys::JSONBOID, value) => pgrx::JsonB(value.clone()).into_datum(),
            _ => return None,
        };
        Some(datum)
    }
}

/// The result set of a function.
struct Set {
    store: *mut pg_sys::Tuplestorestate,
    description: pg_sys::TupleDesc,
    columns: Vec<Column>,
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
                .map(|attribute| Column {
                    name: attribute.name().to_owned(),
                    kind: attribute.atttypid,
                })
                .collect();
            Self {
                store: (*info).setResult,
                description: (*info).setDesc,
                columns,
            }
        }
    }

    /// Converts the values of all rows; `None` if PostgreSQL must convert one.
    fn converted(&self, rows: &[Value]) -> Option<Vec<Vec<Option<pg_sys::Datum>>>> {
        let each = rows.iter().map(|row| {
            pgrx::check_for_interrupts!();
            let columns = self.columns.iter();
            columns
                .map(|column| column.convert(row.get(&column.name)))
                .collect()
        });
        each.collect()
    }

    /// Adds a row.
    fn put(&self, row: &[Option<pg_sys::Datum>]) {
        let null = pg_sys::Datum::from(0_usize);
        let mut datums: Vec<pg_sys::Datum> =
            row.iter().map(|datum| datum.unwrap_or(null)).collect();
        let mut nulls: Vec<bool> = row.iter().map(Option::is_none).collect();
        // SAFETY: the arrays have an element for each declared column, of its type, and tuplestore_putvalues copies the values.
        unsafe {
            pg_sys::tuplestore_putvalues(
                self.store,
                self.description,
                datums.as_mut_ptr(),
                nulls.as_mut_ptr(),
            );
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
