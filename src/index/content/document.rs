//! A row as the index sees it, and what an index makes words with.

use pgrx::pg_sys;
use pgrx::{Array, FromDatum};
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::terms::{
    Counter, Document, Key, Weights, fingerprint, fingerprint_of_fields,
};

use super::in_language::InLanguage;
use crate::error::{Error, Result};
use crate::words::{config_oid, each_lexeme};

/// What is indexed of a row.
#[derive(Clone, Debug)]
pub enum Content {
    /// A text.
    Text(String),
    /// Texts, each of which may weigh otherwise.
    Fields(Vec<String>),
    /// A text with what it is read by.
    InLanguage(InLanguage),
}

impl Content {
    /// Several texts; one that is NULL is empty.
    pub fn of_fields(fields: &Array<'_, &str>) -> Self {
        let fields = fields.iter().map(Option::unwrap_or_default);
        Self::Fields(fields.map(str::to_owned).collect())
    }

    fn fields(&self) -> &[String] {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::InLanguage(content) => std::slice::from_ref(&content.text),
            Self::Fields(fields) => fields,
        }
    }

    /// Tells contents apart.
    pub fn fingerprint(&self) -> u64 {
        match self {
            Self::Text(text) => fingerprint(text.as_bytes()),
            Self::InLanguage(content) => fingerprint(&content.to_bytes()),
            Self::Fields(fields) => fingerprint_of_fields(fields.iter().map(String::as_bytes)),
        }
    }
}

/// How an index makes terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokenizer {
    /// Hashes them.
    pub key: Key,
    /// The configuration.
    pub config: pg_sys::Oid,
    /// Of the fields.
    pub weights: Weights,
}

impl Tokenizer {
    /// As the index was made.
    pub fn of(meta: &Meta) -> Result<Self> {
        Ok(Self {
            key: meta.key,
            config: config_oid(&meta.settings.text_config)?,
            weights: meta.settings.weights,
        })
    }

    /// A content at a row.
    pub fn document(&self, row: u64, content: &Content) -> Document {
        let mut counter = Counter::new(self.key);
        let config = match content {
            Content::InLanguage(content) => content.config().unwrap_or(self.config),
            Content::Text(_) | Content::Fields(_) => self.config,
        };
        for (number, field) in content.fields().iter().enumerate() {
            let weight = self.weights.of(number);
            each_lexeme(config, field, |lexeme| counter.add(lexeme, weight));
        }
        Document {
            row,
            fingerprint: content.fingerprint(),
            terms: counter.finish(),
        }
    }
}

/// The address of a row as a number.
///
/// # Safety
/// The pointer is to an item pointer.
unsafe fn row(pointer: pg_sys::ItemPointer) -> u64 {
    // SAFETY: as the caller promises.
    let (block, offset) = unsafe { ((*pointer).ip_blkid, (*pointer).ip_posid) };
    u64::from(block.bi_hi) << 32 | u64::from(block.bi_lo) << 16 | u64::from(offset)
}

/// The number as the address of a row.
pub fn item_pointer(row: u64) -> pg_sys::ItemPointerData {
    pg_sys::ItemPointerData {
        ip_blkid: pg_sys::BlockIdData {
            bi_hi: (row >> 32) as u16,
            bi_lo: (row >> 16) as u16,
        },
        ip_posid: row as u16,
    }
}

/// What PostgreSQL hands over of a row to be indexed: its address and its content, where it has one.
///
/// # Safety
/// The index is open. The pointers are to the row's address, and to the value of the one column.
pub unsafe fn row_content(
    index: pg_sys::Relation,
    tid: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
) -> Result<Option<(u64, Content)>> {
    // SAFETY: as the caller promises. The operator class says whether it is of text or of an array of text.
    unsafe {
        let content = match *(*index).rd_opcintype {
            pg_sys::TEXTARRAYOID => {
                Array::from_datum(*values, *is_null).map(|fields| Ok(Content::of_fields(&fields)))
            }
            pg_sys::TEXTOID => {
                <&[u8]>::from_datum(*values, *is_null).map(|text| utf8(text).map(Content::Text))
            }
            _ => InLanguage::from_datum(*values, *is_null)
                .map(|content| Ok(Content::InLanguage(content))),
        };
        Ok(content.transpose()?.map(|content| (row(tid), content)))
    }
}

/// Whether an index is of arrays of text.
///
/// # Safety
/// The index is open and of this access method.
pub unsafe fn has_fields(index: pg_sys::Relation) -> bool {
    // SAFETY: as the caller promises: it has one column, whose operator class has a type.
    unsafe { *(*index).rd_opcintype == pg_sys::TEXTARRAYOID }
}

fn utf8(text: &[u8]) -> Result<String> {
    match std::str::from_utf8(text) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => Err(Error::Stored(error.to_string())),
    }
}
