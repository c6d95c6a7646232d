//! The bytes of a `tsvector`, to be read by `reground_bm25`.

use pgrx::pg_sys;
use pgrx::{FromDatum, IntoDatum};

use super::payload;

/// The payload of a `tsvector`, without the varlena header.
pub struct TsVectorBytes(pub Vec<u8>);

impl FromDatum for TsVectorBytes {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _type: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: not null, and only read from columns of type tsvector: SPI checks it against type_oid below.
        (!is_null).then(|| Self(unsafe { payload(datum, <[u8]>::to_vec) }))
    }
}

impl IntoDatum for TsVectorBytes {
    /// Never written: SPI asks for this trait only to know the type.
    fn into_datum(self) -> Option<pg_sys::Datum> {
        None
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::TSVECTOROID
    }
}
