//! `jsonb` as an argument: what PostgreSQL takes and we cannot read is an error of the argument, not a panic.

use std::ffi::CStr;

use pgrx::pg_sys;
use serde_json::{Map, Value};

use super::{argument, from_datum};
use crate::error::{Error, Result};

/// The text of a `jsonb`.
#[derive(Clone, Debug)]
pub struct Json(String);

impl Json {
    /// The value.
    ///
    /// Numbers beyond a float and nesting beyond 127 levels are refused: PostgreSQL stores them, nothing here can use them.
    pub fn value(&self, argument: &'static str) -> Result<Value> {
        serde_json::from_str(&self.0).map_err(|error| Error::Bad {
            argument,
            fault: error.to_string(),
            hint: "Numbers must fit a double precision, nesting may have 127 levels.".into(),
        })
    }

    /// The value of an argument that may be left out.
    pub fn optional(argument: Option<Self>, name: &'static str) -> Result<Option<Value>> {
        argument.map(|json| json.value(name)).transpose()
    }

    /// An object; empty where the argument is left out.
    pub fn object(argument: Option<Self>, name: &'static str) -> Result<Value> {
        match Self::optional(argument, name)? {
            None => Ok(Value::Object(Map::new())),
            Some(value @ Value::Object(_)) => Ok(value),
            Some(_) => Err(Error::Bad {
                argument: name,
                fault: "it is not a JSON object".into(),
                hint: "Write {\"name\": value}.".into(),
            }),
        }
    }
}

/// # Safety
/// The datum is a `jsonb`, and not null.
unsafe fn read(datum: pg_sys::Datum) -> Option<Json> {
    // SAFETY: as the caller promises, jsonb_out takes it; the C string that it returns is copied, and is valid UTF-8 since
    // the install script wants a database of that encoding.
    let text = unsafe { pgrx::direct_function_call::<&CStr>(pg_sys::jsonb_out, &[Some(datum)]) };
    text.map(|text| Json(text.to_string_lossy().into_owned()))
}

from_datum!(Json, read);

argument!(Json, Json("null".into()));
