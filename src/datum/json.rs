//! `jsonb` as an argument. A value that PostgreSQL accepts and serde_json cannot read is an error of the argument, not a panic.

use std::ffi::CStr;

use pgrx::pg_sys;
use serde_json::{Map, Value};

use super::from_datum::{argument, from_datum};
use crate::error::{Error, Result};

/// The text of a `jsonb`.
#[derive(Clone, Debug)]
pub struct Json(String);

impl Json {
    /// Parses the value. Errors: 22023 for numbers beyond a double precision and for more than 127 levels of nesting, which
    /// PostgreSQL stores.
    pub fn value(&self, argument: &'static str) -> Result<Value> {
        serde_json::from_str(&self.0).map_err(|error| Error::Bad {
            argument,
            fault: error.to_string(),
            hint: "Numbers must fit a double precision. At most 127 levels of nesting are allowed."
                .into(),
        })
    }

    /// Parses an optional argument.
    pub fn optional(argument: Option<Self>, name: &'static str) -> Result<Option<Value>> {
        argument.map(|json| json.value(name)).transpose()
    }

    /// Parses an object; a missing argument is an empty object. Errors: 22023 for other values.
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
    // SAFETY: as the caller promises, jsonb_out accepts the datum. The returned C string is copied. It is valid UTF-8, because the
    // install script requires a database with that encoding.
    let text = unsafe { pgrx::direct_function_call::<&CStr>(pg_sys::jsonb_out, &[Some(datum)]) };
    text.map(|text| Json(text.to_string_lossy().into_owned()))
}

from_datum!(Json, read);

argument!(Json, Json("null".into()));
