//! The SQL type `bm25text`: one or several texts with their text search configuration. A table with rows in several languages is
//! indexed by the expression `reground.in_language(body, lang)`, or `reground.in_language(ARRAY[title, body], lang)`.
//!
//! The configuration is stored as in the row: a name, a language code, or an oid if the column is of type `regconfig`. It is
//! looked up when the text is tokenized. NULL, or a value that is none of these, stands for the configuration of the index.
//! The text form is the name in JSON, a colon, a space and the text: `"german": Rote Schuhe`, `null: …`. Further texts before the
//! last one are a JSON array after the name: `"german"["Schuhe"]: Rote Schuhe`.

use std::ffi::{CStr, CString};

use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::pg_sys;
use pgrx::pg_sys::SysCacheIdentifier as Cache;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{Array, IntoDatum, pg_extern};

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

/// Texts with their text search configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct InLanguage {
    text_config: TextConfig,
    /// The texts, each with its own weight.
    pub texts: Vec<String>,
}

/// Number of a column of pg_type, which the bindings do not define.
const OID_OF_TYPE: i16 = 1;
/// The payload begins with the length of a name or with one of these values; an oid follows the second one. Then come the number of
/// texts, and each text with its length.
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
        let length: usize = self.texts.iter().map(|text| text.len() + 4).sum();
        let mut bytes = Vec::with_capacity(length + 3 * size_of::<u32>());
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
        bytes.extend((self.texts.len() as u32).to_le_bytes());
        for text in &self.texts {
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first_chunk()?;
        let (text_config, rest) = match u32::from_le_bytes(*kind) {
            OF_INDEX => (TextConfig::OfIndex, rest),
            WITH_OID => {
                let (config, rest) = rest.split_first_chunk()?;
                (TextConfig::Oid(u32::from_le_bytes(*config).into()), rest)
            }
            length => {
                let (name, rest) = rest.split_at_checked(length as usize)?;
                let name = String::from_utf8_lossy(name).into_owned();
                (TextConfig::Named(name), rest)
            }
        };
        let (count, mut rest) = rest.split_first_chunk()?;
        let mut texts = Vec::new();
        for _ in 0..u32::from_le_bytes(*count) {
            let (length, after) = rest.split_first_chunk()?;
            let (text, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            texts.push(String::from_utf8_lossy(text).into_owned());
            rest = after;
        }
        Some(Self { text_config, texts })
    }
}

/// The columns that an index is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedColumns {
    /// The texts, in order.
    pub texts: Vec<String>,
    /// The configuration of each row.
    pub text_config: Option<String>,
    /// The filter columns, without expressions.
    pub filters: Vec<String>,
}

/// Returns the columns of an index on a text, on `ARRAY[text, …]`, or on `in_language` of one of these and a configuration; `None` for
/// an index on anything else.
pub fn indexed_columns(index: &OpenRelation) -> Option<IndexedColumns> {
    let table = index.table();
    // SAFETY: the index is open. Its expressions are nodes of the kinds that their tags tell, and live in the relation's cache
    // entry or in the current memory context.
    unsafe {
        let relation = index.as_ptr();
        let index = (*relation).rd_index.as_ref()?;
        let keys = index.indkey.values.as_slice(index.indnkeyatts as usize);
        let (&key, filters) = keys.split_first()?;
        let filters = filters.iter().filter(|&&filter| filter > 0);
        let filters = filters
            .map(|&filter| column_name(table, filter))
            .collect::<Option<_>>()?;
        if key > 0 {
            let texts = vec![column_name(table, key)?];
            return Some(IndexedColumns {
                texts,
                text_config: None,
                filters,
            });
        }
        let all = pg_sys::RelationGetIndexExpressions(relation);
        // The first expression is that of the first column; filter columns may have others.
        let indexed: *mut pg_sys::Node = pg_sys::list_nth(all, 0).cast();
        if !is_bm25text(*(*relation).rd_opcintype) {
            return Some(IndexedColumns {
                texts: texts(table, indexed)?,
                text_config: None,
                filters,
            });
        }
        if (*indexed).type_ != pg_sys::NodeTag::T_FuncExpr {
            return None;
        }
        let call = indexed.cast::<pg_sys::FuncExpr>();
        // Only our functions of this name take texts and their configuration. Another function that returns the type may use
        // different texts than the columns'.
        if pg_sys::list_length((*call).args) != 2 || !is_in_language((*call).funcid) {
            return None;
        }
        let config = column(pg_sys::list_nth((*call).args, 1).cast())?;
        Some(IndexedColumns {
            texts: texts(table, pg_sys::list_nth((*call).args, 0).cast())?,
            text_config: Some(column_name(table, config)?),
            filters,
        })
    }
}

/// Returns the names of the columns of an array of columns, or of a single column.
///
/// # Safety
/// `node` is an expression over the columns of `table`.
unsafe fn texts(table: pg_sys::Oid, node: *mut pg_sys::Node) -> Option<Vec<String>> {
    // SAFETY: as the caller promises; a node is of the kind that its tag tells.
    unsafe {
        if (*node).type_ != pg_sys::NodeTag::T_ArrayExpr {
            return Some(vec![column_name(table, column(node)?)?]);
        }
        let array = node.cast::<pg_sys::ArrayExpr>();
        if (*array).multidims || (*array).element_typeid != pg_sys::TEXTOID {
            return None;
        }
        let elements = (*array).elements;
        let element = |at| column_name(table, column(pg_sys::list_nth(elements, at).cast())?);
        (0..pg_sys::list_length(elements)).map(element).collect()
    }
}

/// Returns the name of a column.
fn column_name(table: pg_sys::Oid, number: pg_sys::AttrNumber) -> Option<String> {
    // SAFETY: a catalog cache look-up; the name is NUL-terminated, or null if the column is gone.
    unsafe {
        let name = pg_sys::get_attname(table, number, true);
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
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

/// Returns whether a type is `bm25text`.
pub fn is_bm25text(oid: pg_sys::Oid) -> bool {
    type_oid() == Some(oid)
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
    let mut rest = input.get(values.byte_offset()..).unwrap_or_default();
    let mut texts = Vec::new();
    if rest.starts_with('[') {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Vec<String>>();
        let Some(Ok(first)) = values.next() else {
            return Err(malformed());
        };
        rest = rest.get(values.byte_offset()..).unwrap_or_default();
        texts = first;
    }
    let text = rest.strip_prefix(": ").ok_or_else(malformed)?;
    texts.push(text.to_owned());
    Ok(InLanguage {
        text_config: name.map_or(TextConfig::OfIndex, TextConfig::Named),
        texts,
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
    let (text, first) = match content.texts.split_last() {
        Some((text, first)) => (text.as_str(), first),
        None => ("", &[][..]),
    };
    let first = match first {
        [] => String::new(),
        first => serde_json::to_string(first).map_err(Error::from)?,
    };
    let text = format!("{name}{first}: {text}");
    Ok(CString::new(text).map_err(|error| Error::Stored(error.to_string()))?)
}

/// A text with the configuration name or the language code of its row.
#[pg_extern(sql = false)]
fn in_language(content: Option<&str>, text_config: Option<&str>) -> Option<InLanguage> {
    content.map(|text| InLanguage {
        text_config: named(text_config),
        texts: vec![text.to_owned()],
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
        texts: vec![text.to_owned()],
    })
}

/// Several texts with the configuration name or the language code of their row.
#[pg_extern(sql = false)]
fn in_language_fields(
    content: Option<Array<'_, &str>>,
    text_config: Option<&str>,
) -> Option<InLanguage> {
    content.map(|fields| InLanguage {
        text_config: named(text_config),
        texts: texts_of(&fields),
    })
}

/// Several texts with the configuration of their row.
#[pg_extern(sql = false)]
fn in_language_fields_config(
    content: Option<Array<'_, &str>>,
    text_config: Option<pg_sys::Oid>,
) -> Option<InLanguage> {
    content.map(|fields| InLanguage {
        text_config: text_config.map_or(TextConfig::OfIndex, TextConfig::Oid),
        texts: texts_of(&fields),
    })
}

fn named(text_config: Option<&str>) -> TextConfig {
    text_config.map_or(TextConfig::OfIndex, |name| {
        TextConfig::Named(name.to_owned())
    })
}

/// The texts of an array. A NULL text is empty.
pub fn texts_of(fields: &Array<'_, &str>) -> Vec<String> {
    let fields = fields.iter().map(Option::unwrap_or_default);
    fields.map(str::to_owned).collect()
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
        texts: Vec::new(),
    }
);

// SAFETY: the value is boxed into a varlena in the current memory context, as functions return values by reference.
unsafe impl BoxRet for InLanguage {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> pgrx::datum::Datum<'fcx> {
        // SAFETY: the caller promises to return the datum.
        unsafe { self.to_bytes().box_into(fcinfo) }
    }
}
