//! The bytes of a `tsvector`, to be read by `reground_bm25`.

use pgrx::pg_sys;
use pgrx::{FromDatum, IntoDatum};

/// The payload of a `tsvector`, without the varlena header.
pub struct TsVectorBytes(pub Vec<u8>);

impl FromDatum for TsVectorBytes {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _type: pg_sys::Oid,
    ) -> Option<Self> {
        if is_null {
            return None;
        }
        // SAFETY: only read from columns of type tsvector (checked by SPI against type_oid below); the payload is
        // copied before the detoasted datum is freed.
        unsafe {
            let packed = datum.cast_mut_ptr::<pg_sys::varlena>();
            let detoasted = pg_sys::pg_detoast_datum(packed);
            let bytes = pgrx::varlena_to_byte_slice(detoasted).to_vec();
            if detoasted != packed {
                pg_sys::pfree(detoasted.cast());
            }
            Some(Self(bytes))
        }
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
