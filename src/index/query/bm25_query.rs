//! The SQL type `bm25query`: a query, and the table whose index answers it.
//!
//! As text it is the table as `regclass` shows it, a colon, a space and the query: `public.docs: red shoes`. The first colon
//! outside double quotes ends the table's name; one space after it is no part of the query. Borrowed words stand before all
//! that, as a plus sign and a JSON object: `+{"boot":0.3} public.docs: red shoes`; and before these, right behind the plus
//! sign, the configurations that the words are read by, where they are named: `+["pg_catalog.german"] public.docs: rote Schuhe`.

use std::ffi::{CStr, CString};

use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::pg_sys;
use pgrx::pg_sys::SysCacheIdentifier as Cache;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{Internal, IntoDatum, pg_extern};

use super::expansion::Expansion;
use crate::datum::{Json, argument, from_datum, payload};
use crate::error::{Error, Result};
use crate::words::find;

/// A query and where it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Bm25Query {
    /// The table, or the partitioned table.
    pub source: pg_sys::Oid,
    /// The words.
    pub text: String,
    /// Words that are borrowed.
    pub expansion: Expansion,
    /// Names of the configurations that the words are read by; none: that of the index.
    pub text_configs: Vec<String>,
}

/// A column of pg_type, which the bindings do not name.
const OID_OF_TYPE: i16 = 1;
/// Bytes of the table's oid, little-endian, before what is borrowed and the words.
const SOURCE: usize = size_of::<u32>();
/// Behind the oid, where configurations are named: their number with this bit. What is borrowed never comes to so many.
const NAMED: u32 = 1 << 31;
/// Configurations that a query may name.
const MOST_CONFIGS: usize = 1000;

impl Bm25Query {
    /// A query over a table.
    ///
    /// # Errors
    /// 22023 where there is no table.
    pub fn new(source: pg_sys::Oid, text: &str, expansion: Expansion) -> Result<Self> {
        if source == pg_sys::InvalidOid {
            return Err(Error::Bad {
                argument: "source",
                fault: "it is no table".into(),
                hint: "Name the table that is searched, as in reground.bm25_query('red shoes', 'public.docs').".into(),
            });
        }
        Ok(Self {
            source,
            text: text.to_owned(),
            expansion,
            text_configs: Vec::new(),
        })
    }

    /// The same, its words read by these configurations.
    ///
    /// # Errors
    /// 42704 where one is none, 22023 for too many.
    pub fn read_by(mut self, text_configs: Vec<String>) -> Result<Self> {
        if text_configs.len() > MOST_CONFIGS {
            return Err(Error::Bad {
                argument: "text_configs",
                fault: format!("{} configurations", text_configs.len()),
                hint: format!("{MOST_CONFIGS} are the most."),
            });
        }
        if let Some(unknown) = text_configs.iter().find(|name| find(name).is_none()) {
            return Err(Error::UnknownTextConfig(unknown.clone()));
        }
        self.text_configs = text_configs;
        Ok(self)
    }

    /// What stands before the table's name, in JSON.
    fn leading(&self) -> Result<String> {
        let named = match self.text_configs.is_empty() {
            true => String::new(),
            false => serde_json::to_string(&self.text_configs)?,
        };
        Ok(named + &self.expansion.to_json()?)
    }
}

/// Reads [`Bm25Query::leading`], with what comes after it; `None` where the text begins with no JSON.
fn leading(text: &str) -> Result<Option<(Vec<String>, Expansion, &str)>> {
    if !text.starts_with('[') {
        let leading = Expansion::leading(text)?;
        return Ok(leading.map(|(expansion, rest)| (Vec::new(), expansion, rest)));
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Vec<String>>();
    let Some(Ok(named)) = values.next() else {
        return Ok(None);
    };
    let rest = text.get(values.byte_offset()..).unwrap_or_default();
    if !rest.starts_with('{') {
        return Ok(Some((named, Expansion::default(), rest)));
    }
    let leading = Expansion::leading(rest)?;
    Ok(leading.map(|(expansion, rest)| (named, expansion, rest)))
}

#[pg_extern(sql = false)]
fn bm25query_in(input: &CStr) -> std::result::Result<Bm25Query, ErrorReport> {
    Ok(parse(input)?)
}

fn parse(input: &CStr) -> Result<Bm25Query> {
    let malformed = || Error::QueryForm(input.to_string_lossy().into_owned());
    let input = input.to_str().map_err(|_| malformed())?;
    let (named, expansion, input) = match input.strip_prefix('+') {
        Some(rest) => leading(rest)?.ok_or_else(malformed)?,
        None => (Vec::new(), Expansion::default(), input),
    };
    let mut quoted = false;
    let colon = input.find(|character| {
        quoted ^= character == '"';
        character == ':' && !quoted
    });
    let (name, text) = colon
        .and_then(|at| input.split_at_checked(at))
        .ok_or_else(malformed)?;
    let text = text.strip_prefix(':').unwrap_or(text);
    let text = text.strip_prefix(' ').unwrap_or(text);
    let name = CString::new(name.trim()).map_err(|_| malformed())?;
    // SAFETY: regclassin takes a NUL-terminated string, and raises its own errors for what is no name or no table.
    let source: Option<pg_sys::Oid> =
        unsafe { pgrx::direct_function_call(pg_sys::regclassin, &[Some(name.as_ptr().into())]) };
    source
        .filter(|&source| source != pg_sys::InvalidOid)
        .map_or_else(
            || Err(malformed()),
            |source| Bm25Query::new(source, text, expansion)?.read_by(named),
        )
}

#[pg_extern(sql = false)]
fn bm25query_out(query: Bm25Query) -> std::result::Result<CString, ErrorReport> {
    // SAFETY: regclassout takes an oid and returns a NUL-terminated string: the name, or the number if the table is gone.
    let name: Option<&CStr> =
        unsafe { pgrx::direct_function_call(pg_sys::regclassout, &[Some(query.source.into())]) };
    let name = name.unwrap_or_default().to_string_lossy();
    let leading = match query.leading()? {
        none if none.is_empty() => none,
        leading => format!("+{leading} "),
    };
    let text = format!("{leading}{name}: {}", query.text);
    Ok(CString::new(text).map_err(|error| Error::Stored(error.to_string()))?)
}

#[pg_extern(sql = false)]
fn bm25query_recv(message: Internal) -> std::result::Result<Bm25Query, ErrorReport> {
    let message = message
        .unwrap()
        .ok_or(Error::Null("message"))?
        .cast_mut_ptr::<pg_sys::StringInfoData>();
    // SAFETY: a receive function is given the message that it reads from; what is read is copied, and converted to the
    // encoding of the database. Reading too much is PostgreSQL's error.
    let (source, borrowed, text) = unsafe {
        let source = pg_sys::pq_getmsgint(message, SOURCE as i32);
        let borrowed = CStr::from_ptr(pg_sys::pq_getmsgstring(message)).to_string_lossy();
        let rest = (*message).len - (*message).cursor;
        let mut length = 0;
        let text = pg_sys::pq_getmsgtext(message, rest, &mut length);
        (source, borrowed, CStr::from_ptr(text).to_string_lossy())
    };
    let (named, expansion) = match borrowed.is_empty() {
        true => (Vec::new(), Expansion::default()),
        false => {
            let form = || Error::QueryForm(borrowed.to_string());
            let (named, expansion, rest) = leading(&borrowed)?.ok_or_else(form)?;
            if !rest.is_empty() {
                return Err(form().into());
            }
            (named, expansion)
        }
    };
    Ok(Bm25Query::new(source.into(), &text, expansion)?.read_by(named)?)
}

#[pg_extern(sql = false)]
fn bm25query_send(query: Bm25Query) -> std::result::Result<Vec<u8>, ErrorReport> {
    let borrowed = query.leading()?;
    let borrowed = CString::new(borrowed).map_err(|error| Error::Stored(error.to_string()))?;
    let mut message = pg_sys::StringInfoData::default();
    let source = query.source.to_u32().to_be_bytes();
    // SAFETY: the message is set up by pq_begintypsend, and ended into a bytea whose payload is copied. A text is shorter
    // than 1 GB.
    unsafe {
        pg_sys::pq_begintypsend(&mut message);
        pg_sys::pq_sendbytes(&mut message, source.as_ptr().cast(), source.len() as i32);
        pg_sys::pq_sendstring(&mut message, borrowed.as_ptr());
        let text = query.text.as_bytes();
        pg_sys::pq_sendtext(&mut message, text.as_ptr().cast(), text.len() as i32);
        let bytes = pg_sys::pq_endtypsend(&mut message);
        Ok(pgrx::varlena_to_byte_slice(bytes).to_vec())
    }
}

#[pg_extern(sql = false)]
fn bm25_query(
    query: Option<&str>,
    source: Option<pg_sys::Oid>,
    expansion: Option<Json>,
    text_configs: Option<Vec<Option<String>>>,
) -> std::result::Result<Option<Bm25Query>, ErrorReport> {
    let (Some(query), Some(source)) = (query, source) else {
        return Ok(None);
    };
    let expansion = match Json::optional(expansion, "expansion")? {
        Some(expansion) => Expansion::of(&expansion)?,
        None => Expansion::default(),
    };
    let named = text_configs.unwrap_or_default().into_iter();
    let named = named.map(|name| name.ok_or(Error::Null("a text search configuration")));
    let query = Bm25Query::new(source, query, expansion)?;
    Ok(Some(query.read_by(named.collect::<Result<_>>()?)?))
}

from_datum!(Bm25Query, |datum| payload(datum, Bm25Query::from_bytes));

impl IntoDatum for Bm25Query {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        self.to_bytes().into_datum()
    }

    fn type_oid() -> pg_sys::Oid {
        // Whoever may use the type need not be allowed to use its schema, so it is not looked up by its written name.
        let (none, cache) = (pg_sys::Datum::null(), Cache::TYPENAMENSP as i32);
        // SAFETY: plain look-ups in the catalog caches, by NUL-terminated names.
        unsafe {
            let schema = pg_sys::get_namespace_oid(c"reground".as_ptr(), true);
            let name = c"bm25query".as_ptr().into();
            pg_sys::GetSysCacheOid(cache, OID_OF_TYPE, name, schema.into(), none, none)
        }
    }
}

impl Bm25Query {
    /// The payload of the varlena, whose layout is that of a `bytea`.
    fn to_bytes(&self) -> Vec<u8> {
        let source = self.source.to_u32().to_le_bytes();
        let mut named = Vec::new();
        if !self.text_configs.is_empty() {
            named.extend((self.text_configs.len() as u32 | NAMED).to_le_bytes());
            for name in &self.text_configs {
                named.extend((name.len() as u32).to_le_bytes());
                named.extend(name.as_bytes());
            }
        }
        [
            source.as_slice(),
            &named,
            &self.expansion.to_bytes(),
            self.text.as_bytes(),
        ]
        .concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (source, mut rest) = bytes.split_first_chunk::<SOURCE>()?;
        let mut text_configs = Vec::new();
        if let Some((count, mut after)) = number(rest).filter(|(count, _)| count & NAMED != 0) {
            for _ in 0..count & !NAMED {
                let (size, name) = number(after)?;
                let (name, next) = name.split_at_checked(size as usize)?;
                text_configs.push(String::from_utf8_lossy(name).into_owned());
                after = next;
            }
            rest = after;
        }
        let (expansion, text) = Expansion::from_bytes(rest)?;
        Some(Self {
            source: u32::from_le_bytes(*source).into(),
            text: String::from_utf8_lossy(text).into_owned(),
            expansion,
            text_configs,
        })
    }
}

fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}

// A datum that is no query of ours names no table, and no index is found for it.
argument!(
    Bm25Query,
    Bm25Query {
        source: pg_sys::InvalidOid,
        text: String::new(),
        expansion: Expansion::default(),
        text_configs: Vec::new(),
    }
);

// SAFETY: boxes into a varlena in the current memory context, as functions return values by reference.
unsafe impl BoxRet for Bm25Query {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> pgrx::datum::Datum<'fcx> {
        // SAFETY: as the caller promises, the datum is returned.
        unsafe { self.to_bytes().box_into(fcinfo) }
    }
}
