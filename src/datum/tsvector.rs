//! The bytes of a `tsvector`, as `reground_bm25` reads them.

use pgrx::{IntoDatum, pg_sys};

use super::from_datum::{from_datum, payload};

/// The payload of a `tsvector`, without the varlena header.
pub struct TsVectorBytes(pub Vec<u8>);

// Read only from columns of type tsvector: SPI checks the type against type_oid below.
from_datum!(TsVectorBytes, |datum| payload(datum, |bytes| {
    Some(TsVectorBytes(bytes.to_vec()))
}));

impl IntoDatum for TsVectorBytes {
    /// Never written. SPI requires this trait for the type only.
    fn into_datum(self) -> Option<pg_sys::Datum> {
        None
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::TSVECTOROID
    }
}
