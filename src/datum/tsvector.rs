//! The bytes of a `tsvector`, to be read by `reground_bm25`.

use pgrx::{IntoDatum, pg_sys};

use super::{from_datum, payload};

/// The payload of a `tsvector`, without the varlena header.
pub struct TsVectorBytes(pub Vec<u8>);

// Only read from columns of type tsvector: SPI checks it against type_oid below.
from_datum!(TsVectorBytes, |datum| payload(datum, |bytes| {
    Some(TsVectorBytes(bytes.to_vec()))
}));

impl IntoDatum for TsVectorBytes {
    /// Never written: SPI asks for this trait only to know the type.
    fn into_datum(self) -> Option<pg_sys::Datum> {
        None
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::TSVECTOROID
    }
}
