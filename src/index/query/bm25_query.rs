//! The SQL type `bm25query`: a query, and the table whose index answers it.
//!
//! The text form is the table as shown by `regclass`, a colon, a space and the query: `public.docs: red shoes`. The first
//! colon outside double quotes ends the table's name; one space after it is not part of the query. Expansion terms come first,
//! as a plus sign and a JSON object: `+{"boot":0.3} public.docs: red shoes`. Text search configurations other than that of the
//! index come before them, directly after the plus sign: `+["pg_catalog.german"] public.docs: rote Schuhe`. A query with a syntax has the
//! JSON string "syntax" first: `+"syntax" public.docs: +red "running shoes"`. A query with statistics has the JSON string "statistics" and an object
//! before all others, and no table: `+"statistics"{"documents":3,…} -: red shoes`.

use std::ffi::{CStr, CString};

use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::pg_sys;
use pgrx::pg_sys::SysCacheIdentifier as Cache;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{Internal, IntoDatum, pg_extern};
use reground_bm25::query::carried_statistics::CarriedStatistics;
use reground_bm25::query::clauses::{Clause, clauses};

use super::expansion::Expansion;
use crate::api::given;
use crate::datum::{Json, argument, from_datum, payload};
use crate::error::{Error, Result};
use crate::words::find_config;

/// A query and the table that it searches.
#[derive(Clone, Debug, PartialEq)]
pub struct Bm25Query {
    /// The table, partitioned table or index; none with statistics.
    pub relation: pg_sys::Oid,
    /// Statistics that take the place of those of the table.
    pub statistics: Option<CarriedStatistics>,
    /// The text of the query.
    pub text: String,
    /// Whether the text has phrases, required and excluded words.
    pub syntax: bool,
    /// Expansion terms.
    pub expansion: Expansion,
    /// Names of the text search configurations for the query; empty for that of the index.
    pub text_configs: Vec<String>,
}

/// Number of a column of pg_type, which the bindings do not define.
const OID_OF_TYPE: i16 = 1;
/// Bytes of the table's oid, little-endian, at the start of the payload.
const OID_BYTES: usize = size_of::<u32>();
/// Bit that marks the number of configurations, which follows the oid if there are any or if the query has a syntax. The number of
/// expansion terms never has this bit.
const NAMED_CONFIGS: u32 = 1 << 31;
/// Bit of that number if the query has a syntax.
const WITH_SYNTAX: u32 = 1 << 30;
/// Bit of that number if statistics follow.
const WITH_STATISTICS: u32 = 1 << 29;
/// The JSON string in the text form of a query with a syntax.
const SYNTAX: &str = "\"syntax\"";
/// The JSON string before statistics.
const STATISTICS: &str = "\"statistics\"";
/// Maximum number of configurations in a query.
const MAX_CONFIGS: usize = 1000;

impl Bm25Query {
    /// A query on a table.
    ///
    /// # Errors
    /// 22023 if `relation` is not a table.
    pub fn new(relation: pg_sys::Oid, text: &str, expansion: Expansion) -> Result<Self> {
        if relation == pg_sys::InvalidOid {
            return Err(Error::Bad {
                argument: "relation",
                fault: "it is not a table".into(),
                hint: "Name the table that is searched, as in reground.bm25_query('red shoes', 'public.docs').".into(),
            });
        }
        Ok(Self {
            relation,
            statistics: None,
            text: text.to_owned(),
            syntax: false,
            expansion,
            text_configs: Vec::new(),
        })
    }

    /// The query for any index with the settings of these statistics.
    pub fn with_statistics(self, statistics: CarriedStatistics) -> Self {
        Self {
            relation: pg_sys::InvalidOid,
            statistics: Some(statistics),
            ..self
        }
    }

    /// Sets whether the text has phrases, required and excluded words.
    ///
    /// # Errors
    /// 42601 if the text does not follow the syntax.
    pub fn with_syntax(mut self, syntax: bool) -> Result<Self> {
        self.syntax = syntax;
        self.clauses()?;
        Ok(self)
    }

    /// Returns the clauses of the text; none without a syntax.
    ///
    /// # Errors
    /// 42601 if the text does not follow the syntax.
    pub fn clauses(&self) -> Result<Vec<Clause<'_>>> {
        match self.syntax {
            true => Ok(clauses(&self.text)?),
            false => Ok(Vec::new()),
        }
    }

    /// Sets the text search configurations of the query.
    ///
    /// # Errors
    /// 42704 if one does not exist, 22023 if there are too many.
    pub fn with_text_configs(mut self, text_configs: Vec<String>) -> Result<Self> {
        if text_configs.len() > MAX_CONFIGS {
            return Err(Error::Bad {
                argument: "text_configs",
                fault: format!("{} configurations", text_configs.len()),
                hint: format!("{MAX_CONFIGS} are the most."),
            });
        }
        if let Some(unknown) = text_configs.iter().find(|name| find_config(name).is_none()) {
            return Err(Error::UnknownTextConfig(unknown.clone()));
        }
        self.text_configs = text_configs;
        Ok(self)
    }

    /// The same query for another table or index.
    ///
    /// # Errors
    /// 22023 if `relation` is not a table.
    pub fn of_relation(self, relation: pg_sys::Oid) -> Result<Self> {
        let of = Self::new(relation, &self.text, Expansion::default())?;
        Ok(Self {
            relation: of.relation,
            statistics: None,
            ..self
        })
    }

    /// Returns the text form.
    pub fn to_text(&self) -> Result<String> {
        // SAFETY: regclassout takes an oid and returns a NUL-terminated string: the name, the number if the table is gone, or a dash for none.
        let name: Option<&CStr> = unsafe {
            pgrx::direct_function_call(pg_sys::regclassout, &[Some(self.relation.into())])
        };
        let name = name.unwrap_or_default().to_string_lossy();
        let prefix = match self.json_prefix()? {
            none if none.is_empty() => none,
            prefix => format!("+{prefix} "),
        };
        Ok(format!("{prefix}{name}: {}", self.text))
    }

    /// Returns the JSON part of the text form.
    fn json_prefix(&self) -> Result<String> {
        let statistics = match &self.statistics {
            Some(statistics) => [STATISTICS, &serde_json::to_string(statistics)?].concat(),
            None => String::new(),
        };
        let syntax = if self.syntax { SYNTAX } else { "" };
        let named = match self.text_configs.is_empty() {
            true => String::new(),
            false => serde_json::to_string(&self.text_configs)?,
        };
        Ok([&statistics, syntax, &named, &self.expansion.to_json()?].concat())
    }
}

/// The values before the relation in the text form.
#[derive(Default)]
struct JsonPrefix {
    statistics: Option<CarriedStatistics>,
    syntax: bool,
    text_configs: Vec<String>,
    expansion: Expansion,
}

impl JsonPrefix {
    /// Parses the values. Returns the rest of the text too; `None` if the text does not begin with a value.
    fn parse(text: &str) -> Result<Option<(Self, &str)>> {
        let mut prefix = Self::default();
        let mut rest = text;
        if let Some(after) = rest.strip_prefix(STATISTICS) {
            let values = serde_json::Deserializer::from_str(after);
            let mut values = values.into_iter::<CarriedStatistics>();
            let Some(Ok(statistics)) = values.next() else {
                return Ok(None);
            };
            if !statistics.are_possible() {
                return Ok(None);
            }
            prefix.statistics = Some(statistics);
            rest = after.get(values.byte_offset()..).unwrap_or_default();
        }
        if let Some(after) = rest.strip_prefix(SYNTAX) {
            (prefix.syntax, rest) = (true, after);
        }
        if rest.starts_with('[') {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Vec<String>>();
            let Some(Ok(named)) = values.next() else {
                return Ok(None);
            };
            prefix.text_configs = named;
            rest = rest.get(values.byte_offset()..).unwrap_or_default();
        }
        if rest.starts_with('{') {
            let Some((expansion, after)) = Expansion::parse_prefix(rest)? else {
                return Ok(None);
            };
            (prefix.expansion, rest) = (expansion, after);
        }
        Ok((rest.len() < text.len()).then_some((prefix, rest)))
    }

    /// The query of a text with these values.
    fn query(self, relation: pg_sys::Oid, text: &str) -> Result<Bm25Query> {
        let query = match self.statistics {
            Some(statistics) => Bm25Query {
                text: text.to_owned(),
                expansion: self.expansion,
                ..Bm25Query::unreadable()
            }
            .with_statistics(statistics),
            None => Bm25Query::new(relation, text, self.expansion)?,
        };
        query
            .with_syntax(self.syntax)?
            .with_text_configs(self.text_configs)
    }
}

#[pg_extern(sql = false)]
fn bm25query_in(input: &CStr) -> std::result::Result<Bm25Query, ErrorReport> {
    Ok(parse(input)?)
}

/// The query of a text form.
///
/// # Errors
/// 22P02 for another text.
pub fn parse(input: &CStr) -> Result<Bm25Query> {
    let malformed = || Error::QueryForm(input.to_string_lossy().into_owned());
    let input = input.to_str().map_err(|_| malformed())?;
    let (prefix, input) = match input.strip_prefix('+') {
        Some(rest) => JsonPrefix::parse(rest)?.ok_or_else(malformed)?,
        None => (JsonPrefix::default(), input),
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
    // SAFETY: regclassin takes a NUL-terminated string, and raises its own errors for invalid names and missing tables.
    let relation: Option<pg_sys::Oid> =
        unsafe { pgrx::direct_function_call(pg_sys::regclassin, &[Some(name.as_ptr().into())]) };
    relation
        .filter(|&relation| relation != pg_sys::InvalidOid || prefix.statistics.is_some())
        .map_or_else(|| Err(malformed()), |relation| prefix.query(relation, text))
}

#[pg_extern(sql = false)]
fn bm25query_out(query: Bm25Query) -> std::result::Result<CString, ErrorReport> {
    Ok(CString::new(query.to_text()?).map_err(|error| Error::Stored(error.to_string()))?)
}

#[pg_extern(sql = false)]
fn bm25query_recv(message: Internal) -> std::result::Result<Bm25Query, ErrorReport> {
    let message = message
        .unwrap()
        .ok_or(Error::Null("message"))?
        .cast_mut_ptr::<pg_sys::StringInfoData>();
    // SAFETY: a receive function gets the message to read from. The values are copied, and converted to the encoding of the
    // database. PostgreSQL raises an error if the message is too short.
    let (relation, prefix, text) = unsafe {
        let relation = pg_sys::pq_getmsgint(message, OID_BYTES as i32);
        let prefix = CStr::from_ptr(pg_sys::pq_getmsgstring(message)).to_string_lossy();
        let rest = (*message).len - (*message).cursor;
        let mut length = 0;
        let text = pg_sys::pq_getmsgtext(message, rest, &mut length);
        (relation, prefix, CStr::from_ptr(text).to_string_lossy())
    };
    let values = match prefix.is_empty() {
        true => JsonPrefix::default(),
        false => {
            let form = || Error::QueryForm(prefix.to_string());
            let (values, rest) = JsonPrefix::parse(&prefix)?.ok_or_else(form)?;
            if !rest.is_empty() {
                return Err(form().into());
            }
            values
        }
    };
    Ok(values.query(relation.into(), &text)?)
}

#[pg_extern(sql = false)]
fn bm25query_send(query: Bm25Query) -> std::result::Result<Vec<u8>, ErrorReport> {
    let prefix = query.json_prefix()?;
    let prefix = CString::new(prefix).map_err(|error| Error::Stored(error.to_string()))?;
    let mut message = pg_sys::StringInfoData::default();
    let relation = query.relation.to_u32().to_be_bytes();
    // SAFETY: pq_begintypsend initialises the message, and pq_endtypsend makes a bytea of it, whose payload is copied. A text
    // is shorter than 1 GB.
    unsafe {
        pg_sys::pq_begintypsend(&mut message);
        pg_sys::pq_sendbytes(
            &mut message,
            relation.as_ptr().cast(),
            relation.len() as i32,
        );
        pg_sys::pq_sendstring(&mut message, prefix.as_ptr());
        let text = query.text.as_bytes();
        pg_sys::pq_sendtext(&mut message, text.as_ptr().cast(), text.len() as i32);
        let bytes = pg_sys::pq_endtypsend(&mut message);
        Ok(pgrx::varlena_to_byte_slice(bytes).to_vec())
    }
}

#[pg_extern(sql = false)]
fn bm25_query(
    query: Option<&str>,
    relation: Option<pg_sys::Oid>,
    expansion: Option<Json>,
    text_configs: Option<Vec<Option<String>>>,
    syntax: Option<bool>,
) -> std::result::Result<Option<Bm25Query>, ErrorReport> {
    let (Some(query), Some(relation)) = (query, relation) else {
        return Ok(None);
    };
    let expansion = match Json::optional(expansion, "expansion")? {
        Some(expansion) => Expansion::of(&expansion)?,
        None => Expansion::default(),
    };
    let named = text_configs.unwrap_or_default().into_iter();
    let named = named.map(|name| name.ok_or(Error::Null("a text search configuration")));
    let query =
        Bm25Query::new(relation, query, expansion)?.with_syntax(given(syntax, "syntax")?)?;
    Ok(Some(
        query.with_text_configs(named.collect::<Result<_>>()?)?,
    ))
}

from_datum!(Bm25Query, |datum| payload(datum, Bm25Query::from_bytes));

impl IntoDatum for Bm25Query {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        self.to_bytes().into_datum()
    }

    fn type_oid() -> pg_sys::Oid {
        // Users of the type may lack USAGE on its schema, so the type is looked up in the catalog cache and not by its
        // qualified name.
        let (none, cache) = (pg_sys::Datum::null(), Cache::TYPENAMENSP as i32);
        // SAFETY: catalog cache look-ups by NUL-terminated names.
        unsafe {
            let schema = pg_sys::get_namespace_oid(c"reground".as_ptr(), true);
            let name = c"bm25query".as_ptr().into();
            pg_sys::GetSysCacheOid(cache, OID_OF_TYPE, name, schema.into(), none, none)
        }
    }
}

impl Bm25Query {
    /// Returns the payload of the varlena, which has the layout of a `bytea`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let relation = self.relation.to_u32().to_le_bytes();
        let mut named = Vec::new();
        let statistics = self.statistics.as_ref();
        let statistics = statistics.and_then(|carried| serde_json::to_string(carried).ok());
        if self.syntax || !self.text_configs.is_empty() || statistics.is_some() {
            let syntax = if self.syntax { WITH_SYNTAX } else { 0 };
            let carries = statistics.as_ref().map_or(0, |_| WITH_STATISTICS);
            let count = self.text_configs.len() as u32 | NAMED_CONFIGS | syntax | carries;
            named.extend(count.to_le_bytes());
            for name in statistics.iter().chain(&self.text_configs) {
                named.extend((name.len() as u32).to_le_bytes());
                named.extend(name.as_bytes());
            }
        }
        [
            relation.as_slice(),
            &named,
            &self.expansion.to_bytes(),
            self.text.as_bytes(),
        ]
        .concat()
    }

    /// Returns the query with this payload; an unreadable one if it is not valid.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self::from_bytes(bytes).unwrap_or_else(Self::unreadable)
    }

    /// The query for a datum that is not a valid one. It has no table, so no index is found for it.
    pub fn unreadable() -> Self {
        Self {
            relation: pg_sys::InvalidOid,
            statistics: None,
            text: String::new(),
            syntax: false,
            expansion: Expansion::default(),
            text_configs: Vec::new(),
        }
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (relation, mut rest) = bytes.split_first_chunk::<OID_BYTES>()?;
        let (mut text_configs, mut syntax, mut statistics) = (Vec::new(), false, None);
        if let Some((count, mut after)) =
            number(rest).filter(|(count, _)| count & NAMED_CONFIGS != 0)
        {
            syntax = count & WITH_SYNTAX != 0;
            if count & WITH_STATISTICS != 0 {
                let (carried, next) = sized(after)?;
                statistics = Some(serde_json::from_slice(carried).ok()?);
                after = next;
            }
            for _ in 0..count & !(NAMED_CONFIGS | WITH_SYNTAX | WITH_STATISTICS) {
                let (name, next) = sized(after)?;
                text_configs.push(String::from_utf8_lossy(name).into_owned());
                after = next;
            }
            rest = after;
        }
        let (expansion, text) = Expansion::from_bytes(rest)?;
        Some(Self {
            relation: u32::from_le_bytes(*relation).into(),
            statistics,
            text: String::from_utf8_lossy(text).into_owned(),
            syntax,
            expansion,
            text_configs,
        })
    }
}

/// Bytes with their number before them, and the rest.
fn sized(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (size, rest) = number(bytes)?;
    rest.split_at_checked(size as usize)
}

fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}

argument!(Bm25Query, Bm25Query::unreadable());

// SAFETY: the value is boxed into a varlena in the current memory context, as functions return values by reference.
unsafe impl BoxRet for Bm25Query {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> pgrx::datum::Datum<'fcx> {
        // SAFETY: the caller promises to return the datum.
        unsafe { self.to_bytes().box_into(fcinfo) }
    }
}
