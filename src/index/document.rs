//! A row as the index sees it, and what an index makes words with.

use pgrx::FromDatum;
use pgrx::pg_sys;
use reground_bm25::index::meta::Meta;
use reground_bm25::index::terms::{Counter, Document, Key, fingerprint};

use super::options::config_oid;
use super::words::each_lexeme;
use crate::error::{Error, Result};

/// How an index makes terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// Hashes them.
    pub key: Key,
    /// The configuration.
    pub config: pg_sys::Oid,
}

impl Words {
    /// As the index was made.
    pub fn of(meta: &Meta) -> Result<Self> {
        Ok(Self {
            key: meta.key,
            config: config_oid(&meta.design.text_config)?,
        })
    }

    /// A text's terms with their frequencies.
    pub fn terms(&self, text: &str) -> Vec<(u64, u32)> {
        let mut counter = Counter::new(self.key);
        each_lexeme(self.config, text, |lexeme| counter.add(lexeme));
        counter.finish()
    }

    /// A text at a row.
    pub fn document(&self, row: u64, text: &str) -> Document {
        Document {
            row,
            fingerprint: fingerprint(text.as_bytes()),
            terms: self.terms(text),
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
pub fn pointer(row: u64) -> pg_sys::ItemPointerData {
    pg_sys::ItemPointerData {
        ip_blkid: pg_sys::BlockIdData {
            bi_hi: (row >> 32) as u16,
            bi_lo: (row >> 16) as u16,
        },
        ip_posid: row as u16,
    }
}

/// What PostgreSQL hands over of a row to be indexed: its address and its text, where it has one.
///
/// # Safety
/// The pointers are to the row's address, and to the value of the one column, which is of text.
pub unsafe fn entry(
    tid: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
) -> Result<Option<(u64, String)>> {
    // SAFETY: as the caller promises.
    let (row, text) = unsafe { (row(tid), <&[u8]>::from_datum(*values, *is_null)) };
    text.map(|text| match std::str::from_utf8(text) {
        Ok(text) => Ok((row, text.to_owned())),
        Err(error) => Err(Error::Stored(error.to_string())),
    })
    .transpose()
}
