//! The SQL type `bm25text`: a text, and the text search configuration that it is read by. A table whose rows are in several
//! languages is indexed by the expression `reground.in_language(body, lang)`.
//!
//! The configuration is kept as the row has it: a name, a code of a language, or an oid where the column is of type
//! `regconfig`. It is looked up when the text is read; what is none of these, and NULL, is read by the index' own.
//! As text it is the name in JSON, a colon, a space and the text: `"german": Rote Schuhe`, `null: …`.

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
use crate::words::{exists, find};

/// What a text is read by.
#[derive(Clone, Debug, PartialEq)]
enum Reader {
    /// The configuration of the index.
    Own,
    /// What a row names.
    Named(String),
    /// A `regconfig`.
    Config(pg_sys::Oid),
}

/// A text and what it is read by.
#[derive(Clone, Debug, PartialEq)]
pub struct InLanguage {
    reader: Reader,
    /// The text.
    pub text: String,
}

/// A column of pg_type, which the bindings do not name.
const OID_OF_TYPE: i16 = 1;
/// Before the text: the length of a name, or one of these, the second with an oid after it.
const OWN: u32 = u32::MAX;
const CONFIG: u32 = u32::MAX - 1;

impl InLanguage {
    /// The configuration that the row names, if it is there.
    pub fn config(&self) -> Option<pg_sys::Oid> {
        match &self.reader {
            Reader::Own => None,
            Reader::Named(name) => find(name),
            Reader::Config(config) => Some(*config).filter(|config| exists(*config)),
        }
    }

    /// The payload of the varlena.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.text.len() + 2 * size_of::<u32>());
        match &self.reader {
            Reader::Own => bytes.extend(OWN.to_le_bytes()),
            Reader::Named(name) => {
                bytes.extend((name.len() as u32).to_le_bytes());
                bytes.extend(name.as_bytes());
            }
            Reader::Config(config) => {
                bytes.extend(CONFIG.to_le_bytes());
                bytes.extend(config.to_u32().to_le_bytes());
            }
        }
        bytes.extend(self.text.as_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first_chunk()?;
        let (reader, text) = match u32::from_le_bytes(*kind) {
            OWN => (Reader::Own, rest),
            CONFIG => {
                let (config, text) = rest.split_first_chunk()?;
                (Reader::Config(u32::from_le_bytes(*config).into()), text)
            }
            length => {
                let (name, text) = rest.split_at_checked(length as usize)?;
                let name = String::from_utf8_lossy(name).into_owned();
                (Reader::Named(name), text)
            }
        };
        let text = String::from_utf8_lossy(text).into_owned();
        Some(Self { reader, text })
    }
}

/// The columns that an index on `in_language(text, configuration)` reads.
pub fn columns_in_language(index: &OpenRelation) -> Option<(String, String)> {
    let table = index.table();
    // SAFETY: the index is open. Its expressions are nodes of the kinds that their tags say, and live in the relation's cache
    // entry or in the current memory. A column's name is NUL-terminated.
    unsafe {
        let relation = index.get();
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
        // Of the functions of that name only these two take a text and what it is read by; somebody else's of the type may read
        // another text than the column's.
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

/// Whether a function is one of ours.
fn is_in_language(function: pg_sys::Oid) -> bool {
    // SAFETY: plain look-ups in the catalog caches; a name is NUL-terminated, null for a function that is gone.
    unsafe {
        let name = pg_sys::get_func_name(function);
        let schema = pg_sys::get_namespace_oid(c"reground".as_ptr(), true);
        !name.is_null()
            && CStr::from_ptr(name) == c"in_language"
            && pg_sys::get_func_namespace(function) == schema
    }
}

/// The number of the column that an expression is, but for a cast.
///
/// # Safety
/// It is an expression.
unsafe fn column(mut node: *mut pg_sys::Node) -> Option<pg_sys::AttrNumber> {
    // SAFETY: as the caller promises; a node is of the kind that its tag says.
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

/// The type itself.
fn type_oid() -> Option<pg_sys::Oid> {
    let (none, cache) = (pg_sys::Datum::null(), Cache::TYPENAMENSP as i32);
    // SAFETY: plain look-ups in the catalog caches, by NUL-terminated names.
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
        reader: name.map_or(Reader::Own, Reader::Named),
        text: text.to_owned(),
    })
}

#[pg_extern(sql = false)]
fn bm25text_out(content: InLanguage) -> std::result::Result<CString, ErrorReport> {
    let name = match content.reader {
        Reader::Own => None,
        Reader::Named(name) => Some(name),
        Reader::Config(config) => {
            // With its schema, unless that is pg_catalog: what is read back has another search_path.
            let qualified = [(c"search_path", c"pg_catalog")];
            // SAFETY: regconfigout takes an oid and returns a NUL-terminated string: the name, or the number if it is gone.
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

/// A text with the configuration or the language that its row names.
#[pg_extern(sql = false)]
fn in_language(content: Option<&str>, text_config: Option<&str>) -> Option<InLanguage> {
    content.map(|text| InLanguage {
        reader: text_config.map_or(Reader::Own, |name| Reader::Named(name.to_owned())),
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
        reader: text_config.map_or(Reader::Own, Reader::Config),
        text: text.to_owned(),
    })
}

from_datum!(InLanguage, |datum| payload(datum, InLanguage::from_bytes));

impl IntoDatum for InLanguage {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        self.to_bytes().into_datum()
    }

    fn type_oid() -> pg_sys::Oid {
        // It is only returned, never bound.
        pg_sys::BYTEAOID
    }
}

// A datum that is none has no words.
argument!(
    InLanguage,
    InLanguage {
        reader: Reader::Own,
        text: String::new(),
    }
);

// SAFETY: boxes into a varlena in the current memory context, as functions return values by reference.
unsafe impl BoxRet for InLanguage {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> pgrx::datum::Datum<'fcx> {
        // SAFETY: as the caller promises, the datum is returned.
        unsafe { self.to_bytes().box_into(fcinfo) }
    }
}
