//! The SQL type `bm25text`: a text with its text search configuration. A table with rows in several languages is indexed by
//! the expression `reground.in_language(body, lang)`.
//!
//! The configuration is stored as in the row: a name, a language code, or an oid if the column is of type `regconfig`. It is
//! looked up when the text is tokenized. NULL, or a value that is none of these, stands for the configuration of the index.
//! The text form is the name in JSON, a colon, a space and the text: `"german": Rote Schuhe`, `null: …`.

use std::ffi::{CStr, CString};

use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::pg_sys;
use pgrx::pg_sys::SysCacheIdentifier as Cache;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{IntoDatum, pg_extern};

use crate::datum::{argument, from_datum, payload};
use crate::error::{Error, Result};
use crate::index::relation::OpenRelation;
use crate::session::with_settings;
use crate::words::{config_exists, find_config};

/// The configuration of a text.
#[derive(Clone, Debug, PartialEq)]
enum TextConfig {
    /// The configuration of the index.
    OfIndex,
    /// A name or a language code from the row.
    Named(String),
    /// A `regconfig`.
    Oid(pg_sys::Oid),
}

/// A text with its text search configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct InLanguage {
    text_config: TextConfig,
    /// The text.
    pub text: String,
}

/// Number of a column of pg_type, which the bindings do not define.
const OID_OF_TYPE: i16 = 1;
/// The payload begins with the length of a name or with one of these values; an oid follows the second one.
const OF_INDEX: u32 = u32::MAX;
const WITH_OID: u32 = u32::MAX - 1;

impl InLanguage {
    /// Returns the configuration of the row, if it exists.
    pub fn config(&self) -> Option<pg_sys::Oid> {
        match &self.text_config {
            TextConfig::OfIndex => None,
            TextConfig::Named(name) => find_config(name),
            TextConfig::Oid(config) => Some(*config).filter(|config| config_exists(*config)),
        }
    }

    /// Returns the payload of the varlena.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.text.len() + 2 * size_of::<u32>());
        match &self.text_config {
            TextConfig::OfIndex => bytes.extend(OF_INDEX.to_le_bytes()),
            TextConfig::Named(name) => {
                bytes.extend((name.len() as u32).to_le_bytes());
                bytes.extend(name.as_bytes());
            }
            TextConfig::Oid(config) => {
                bytes.extend(WITH_OID.to_le_bytes());
                bytes.extend(config.to_u32().to_le_bytes());
            }
        }
        bytes.extend(self.text.as_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first_chunk()?;
        let (text_config, text) = match u32::from_le_bytes(*kind) {
            OF_INDEX => (TextConfig::OfIndex, rest),
            WITH_OID => {
                let (config, text) = rest.split_first_chunk()?;
                (TextConfig::Oid(u32::from_le_bytes(*config).into()), text)
            }
            length => {
                let (name, text) = rest.split_at_checked(length as usize)?;
                let name = String::from_utf8_lossy(name).into_owned();
                (TextConfig::Named(name), text)
            }
        };
        let text = String::from_utf8_lossy(text).into_owned();
        Some(Self { text_config, text })
    }
}

/// Returns the columns of an index on `in_language(text, configuration)`: the text and the configuration.
pub fn columns_in_language(index: &OpenRelation) -> Option<(String, String)> {
    let table = index.table();
    // SAFETY: the index is open. Its expressions are nodes of the kinds that their tags tell, and live in the relation's cache
    // entry or in the current memory context. A column's name is NUL-terminated.
    unsafe {
        let relation = index.as_ptr();
        if *(*relation).rd_opcintype != type_oid()? {
            return None;
        }
        let all = pg_sys::RelationGetIndexExpressions(relation);
        if pg_sys::list_length(all) != 1 {
            return None;
        }
        let call: *mut pg_sys::Node = pg_sys::list_nth(all, 0).cast();
        if (*call).type_ != pg_sys::NodeTag::T_FuncExpr {
            return None;
        }
        let call = call.cast::<pg_sys::FuncExpr>();
        // Only our two functions of this name take a text and its configuration. Another function that returns the type may
        // use a different text than the column's.
        if pg_sys::list_length((*call).args) != 2 || !is_in_language((*call).funcid) {
            return None;
        }
        let column = |argument| {
            let number = column(pg_sys::list_nth((*call).args, argument).cast())?;
            let name = pg_sys::get_attname(table, number, true);
            (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
        };
        Some((column(0)?, column(1)?))
    }
}

/// Returns whether a function is our `in_language`.
fn is_in_language(function: pg_sys::Oid) -> bool {
    // SAFETY: catalog cache look-ups. A name is NUL-terminated, or null if the function is gone.
    unsafe {
        let name = pg_sys::get_func_name(function);
        let schema = pg_sys::get_namespace_oid(c"reground".as_ptr(), true);
        !name.is_null()
            && CStr::from_ptr(name) == c"in_language"
            && pg_sys::get_func_namespace(function) == schema
    }
}

/// Returns the number of the column that an expression consists of, apart from casts.
///
/// # Safety
/// `node` is an expression.
unsafe fn column(mut node: *mut pg_sys::Node) -> Option<pg_sys::AttrNumber> {
    // SAFETY: as the caller promises; a node is of the kind that its tag tells.
    unsafe {
        loop {
            match (*node).type_ {
                pg_sys::NodeTag::T_Var => return Some((*node.cast::<pg_sys::Var>()).varattno),
                pg_sys::NodeTag::T_RelabelType => {
                    node = (*node.cast::<pg_sys::RelabelType>()).arg.cast();
                }
                pg_sys::NodeTag::T_FuncExpr => {
                    let cast = node.cast::<pg_sys::FuncExpr>();
                    let is_cast = (*cast).funcformat != pg_sys::CoercionForm::COERCE_EXPLICIT_CALL;
                    if !is_cast || pg_sys::list_length((*cast).args) != 1 {
                        return None;
                    }
                    node = pg_sys::list_nth((*cast).args, 0).cast();
                }
                _ => return None,
            }
        }
    }
}

/// Returns the oid of the type.
fn type_oid() -> Option<pg_sys::Oid> {
    let (none, cache) = (pg_sys::Datum::null(), Cache::TYPENAMENSP as i32);
    // SAFETY: catalog cache look-ups by NUL-terminated names.
    let oid = unsafe {
        let schema = pg_sys::get_namespace_oid(c"reground".as_ptr(), true);
        let name = c"bm25text".as_ptr().into();
        pg_sys::GetSysCacheOid(cache, OID_OF_TYPE, name, schema.into(), none, none)
    };
    (oid != pg_sys::InvalidOid).then_some(oid)
}

#[pg_extern(sql = false)]
fn bm25text_in(input: &CStr) -> std::result::Result<InLanguage, ErrorReport> {
    Ok(parse(input)?)
}

fn parse(input: &CStr) -> Result<InLanguage> {
    let malformed = || {
        let input = input.to_string_lossy();
        Error::TextForm(input.chars().take(40).collect())
    };
    let input = input.to_str().map_err(|_| malformed())?;
    let mut values = serde_json::Deserializer::from_str(input).into_iter::<Option<String>>();
    let Some(Ok(name)) = values.next() else {
        return Err(malformed());
    };
    let rest = input.get(values.byte_offset()..).unwrap_or_default();
    let text = rest.strip_prefix(": ").ok_or_else(malformed)?;
    Ok(InLanguage {
        text_config: name.map_or(TextConfig::OfIndex, TextConfig::Named),
        text: text.to_owned(),
    })
}

#[pg_extern(sql = false)]
fn bm25text_out(content: InLanguage) -> std::result::Result<CString, ErrorReport> {
    let name = match content.text_config {
        TextConfig::OfIndex => None,
        TextConfig::Named(name) => Some(name),
        TextConfig::Oid(config) => {
            // The name gets its schema, except for pg_catalog, because the text may be read under another search_path.
            let qualified = [(c"search_path", c"pg_catalog")];
            // SAFETY: regconfigout takes an oid and returns a NUL-terminated string: the name, or the number if the
            // configuration is gone.
            let name: Option<&CStr> = with_settings(&qualified, || unsafe {
                pgrx::direct_function_call(pg_sys::regconfigout, &[Some(config.into())])
            });
            name.map(|name| name.to_string_lossy().into_owned())
        }
    };
    let name = serde_json::to_string(&name).map_err(Error::from)?;
    let text = format!("{name}: {}", content.text);
    Ok(CString::new(text).map_err(|error| Error::Stored(error.to_string()))?)
}

/// A text with the configuration name or the language code of its row.
#[pg_extern(sql = false)]
fn in_language(content: Option<&str>, text_config: Option<&str>) -> Option<InLanguage> {
    content.map(|text| InLanguage {
        text_config: text_config.map_or(TextConfig::OfIndex, |name| {
            TextConfig::Named(name.to_owned())
        }),
        text: text.to_owned(),
    })
}

/// A text with the configuration of its row.
#[pg_extern(sql = false)]
fn in_language_config(
    content: Option<&str>,
    text_config: Option<pg_sys::Oid>,
) -> Option<InLanguage> {
    content.map(|text| InLanguage {
        text_config: text_config.map_or(TextConfig::OfIndex, TextConfig::Oid),
        text: text.to_owned(),
    })
}

from_datum!(InLanguage, |datum| payload(datum, InLanguage::from_bytes));

impl IntoDatum for InLanguage {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        self.to_bytes().into_datum()
    }

    fn type_oid() -> pg_sys::Oid {
        // The type is only returned, never passed as an argument.
        pg_sys::BYTEAOID
    }
}

// A datum that is not a valid value is an empty text.
argument!(
    InLanguage,
    InLanguage {
        text_config: TextConfig::OfIndex,
        text: String::new(),
    }
);

// SAFETY: the value is boxed into a varlena in the current memory context, as functions return values by reference.
unsafe impl BoxRet for InLanguage {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> pgrx::datum::Datum<'fcx> {
        // SAFETY: the caller promises to return the datum.
        unsafe { self.to_bytes().box_into(fcinfo) }
    }
}
