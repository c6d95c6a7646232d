//! An unambiguous encoding of records as bytes, so that different records have different hashes.
//!
//! A record is its label and its fields in a fixed order. Each is preceded by its length, so fields cannot run into each other.

/// The bytes of a value; `None` for NULL.
pub type Field = Option<Vec<u8>>;

/// Encodes a record: the label as a field, then each field. A field is 0 for NULL; otherwise 1, the number of its bytes (8 bytes,
/// big-endian) and the bytes.
///
/// Values are in PostgreSQL's binary format: UTF-8 for text, big-endian for numbers. A jsonb value is encoded as its text
/// output, which does not depend on how the value was written.
pub fn record<'a>(label: &'a str, fields: impl IntoIterator<Item = Option<&'a [u8]>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in std::iter::once(Some(label.as_bytes())).chain(fields) {
        match field {
            None => bytes.push(0),
            Some(value) => {
                bytes.push(1);
                // A usize has at most 64 bits.
                bytes.extend((value.len() as u64).to_be_bytes());
                bytes.extend(value);
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_the_documented_bytes() {
        let fields = [None, Some(&b""[..]), Some(&b"ab"[..])];
        let expected = [
            &[1, 0, 0, 0, 0, 0, 0, 0, 1, b'q', 0][..],
            &[1, 0, 0, 0, 0, 0, 0, 0, 0],
            &[1, 0, 0, 0, 0, 0, 0, 0, 2, b'a', b'b'],
        ];
        assert_eq!(record("q", fields), expected.concat());
    }
}
