//! The indexed content of a row, and the terms that an index makes of it.

use pgrx::pg_sys;
use pgrx::{Array, FromDatum};
use reground_bm25::index::pages::meta::Meta;
use reground_bm25::index::terms::{
    Counter, Document, Key, Weights, fingerprint, fingerprint_of_fields,
};
use reground_bm25::query::conditions::Conditions;
use reground_bm25::query::phrase::TextPositions;

use super::filter_column::{FilterValue, filter_count, filter_values};
use super::in_language::{InLanguage, texts_of};
use crate::error::{Error, Result};
use crate::words::{config_oid, each_lexeme, each_position};

/// The indexed content of a row.
#[derive(Clone, Debug)]
pub enum Content<'a> {
    /// A text.
    Text(&'a str),
    /// Several texts, each with its own weight.
    Fields(Vec<String>),
    /// One or several texts with their text search configuration.
    InLanguage(InLanguage),
}

impl Content<'_> {
    /// Several texts. A NULL text is empty.
    pub fn of_fields(fields: &Array<'_, &str>) -> Self {
        Self::Fields(texts_of(fields))
    }

    fn fields(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => vec![text],
            Self::InLanguage(InLanguage { texts, .. }) | Self::Fields(texts) => {
                texts.iter().map(String::as_str).collect()
            }
        }
    }

    /// Returns a hash that identifies the content.
    pub fn fingerprint(&self) -> u64 {
        match self {
            Self::Text(text) => fingerprint(text.as_bytes()),
            Self::InLanguage(content) => fingerprint(&content.to_bytes()),
            Self::Fields(fields) => fingerprint_of_fields(fields.iter().map(String::as_bytes)),
        }
    }
}

/// A row as an index contains it.
pub struct IndexedRow<'a> {
    /// Its address.
    pub row: u64,
    /// Its text; `None` if that is NULL.
    content: Option<Content<'a>>,
    filters: Vec<FilterValue>,
}

impl IndexedRow<'_> {
    /// Returns a hash that identifies the content.
    pub fn fingerprint(&self) -> u64 {
        self.content.as_ref().map_or(0, Content::fingerprint)
    }
}

/// Makes terms of texts, as an index does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokenizer {
    /// Key of the term hashes.
    pub key: Key,
    /// Text search configuration.
    pub config: pg_sys::Oid,
    /// Weights of the fields.
    pub weights: Weights,
}

impl Tokenizer {
    /// The tokenizer of an index.
    ///
    /// # Errors
    /// If the text search configuration does not exist any more.
    pub fn of(meta: &Meta) -> Result<Self> {
        Ok(Self {
            key: meta.key,
            config: config_oid(&meta.settings.text_config)?,
            weights: meta.settings.weights,
        })
    }

    /// Makes the document of a row.
    pub fn document(&self, row: &IndexedRow<'_>) -> Document {
        let mut counter = Counter::new(self.key);
        match &row.content {
            Some(content) => self.count(content, &mut counter),
            None => counter.add_textless(),
        }
        for FilterValue { column, hash } in &row.filters {
            counter.add_filter(*column, *hash);
        }
        Document {
            row: row.row,
            fingerprint: row.fingerprint(),
            terms: counter.finish(),
        }
    }

    /// Makes a document of a content without a row.
    pub fn words(&self, content: &Content<'_>) -> Document {
        let mut counter = Counter::new(self.key);
        self.count(content, &mut counter);
        Document {
            row: 0,
            fingerprint: content.fingerprint(),
            terms: counter.finish(),
        }
    }

    /// Returns the positions, in each text of a content, of the words that conditions are about.
    pub fn positions(&self, content: &Content<'_>, conditions: &Conditions) -> Vec<TextPositions> {
        let config = self.config_of(content);
        let positions = |text: &str| {
            let mut positions = TextPositions::default();
            each_position(config, text, |word, at| {
                if conditions.mention(word) {
                    positions.add(word, at);
                }
            });
            positions
        };
        content.fields().into_iter().map(positions).collect()
    }

    fn config_of(&self, content: &Content<'_>) -> pg_sys::Oid {
        match content {
            Content::InLanguage(content) => content.config().unwrap_or(self.config),
            Content::Text(_) | Content::Fields(_) => self.config,
        }
    }

    /// Counts the words of a content.
    fn count(&self, content: &Content<'_>, counter: &mut Counter) {
        let config = self.config_of(content);
        for (number, field) in content.fields().into_iter().enumerate() {
            let weight = self.weights.of(number);
            each_lexeme(config, field, |lexeme| counter.add(lexeme, weight));
        }
    }
}

/// Converts the address of a row to a number.
///
/// # Safety
/// `pointer` points to an item pointer.
pub unsafe fn row_number(pointer: pg_sys::ItemPointer) -> u64 {
    // SAFETY: the caller promises that this is an item pointer.
    let (block, offset) = unsafe { ((*pointer).ip_blkid, (*pointer).ip_posid) };
    u64::from(block.bi_hi) << 32 | u64::from(block.bi_lo) << 16 | u64::from(offset)
}

/// Converts a number to the address of a row.
pub fn item_pointer(row: u64) -> pg_sys::ItemPointerData {
    pg_sys::ItemPointerData {
        ip_blkid: pg_sys::BlockIdData {
            bi_hi: (row >> 32) as u16,
            bi_lo: (row >> 16) as u16,
        },
        ip_posid: row as u16,
    }
}

/// Reads the arguments of a callback for a row; `None` if the index does not contain it. Rows without a text are in an index with filter
/// columns, so that conditions on these columns alone find them.
///
/// # Safety
/// The index is open and of this access method. The pointers are to the row's address, and to a value for each column. The values live as
/// long as the result.
pub unsafe fn indexed_row<'a>(
    index: pg_sys::Relation,
    tid: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
) -> Result<Option<IndexedRow<'a>>> {
    // SAFETY: as the caller promises. The input type of the operator class tells the type of the value.
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
        let content = content.transpose()?;
        let is_indexed = content.is_some() || filter_count(index) > 0;
        Ok(is_indexed.then(|| IndexedRow {
            row: row_number(tid),
            content,
            filters: filter_values(index, values, is_null),
        }))
    }
}

/// Returns whether an index can be on several texts.
///
/// # Safety
/// The index is open and of this access method.
pub unsafe fn has_fields(index: pg_sys::Relation) -> bool {
    // SAFETY: as the caller promises; the first column has an operator class with an input type.
    unsafe { *(*index).rd_opcintype != pg_sys::TEXTOID }
}

fn utf8(text: &[u8]) -> Result<&str> {
    std::str::from_utf8(text).map_err(|error| Error::Stored(error.to_string()))
}
