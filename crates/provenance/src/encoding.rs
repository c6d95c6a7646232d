//! One sequence of bytes for one content, so that no two contents hash alike.
//!
//! A record is its label and its fields in a fixed order, each after its length: what a field says cannot run into the next.

/// A field: the bytes of a value, or none where it is NULL.
pub type Field = Option<Vec<u8>>;

/// A record as bytes: the label as a field, then each field. A field is 0 for NULL, or 1, the number of its bytes (8 bytes,
/// the highest first) and the bytes.
///
/// Values are what PostgreSQL sends in binary: UTF-8 for text, the highest byte first for numbers. A jsonb value is the text
/// that PostgreSQL shows it as, which is one for all ways of writing it.
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
    fn bytes_of_a_record() {
        let fields = [None, Some(&b""[..]), Some(&b"ab"[..])];
        let expected = [
            &[1, 0, 0, 0, 0, 0, 0, 0, 1, b'q', 0][..],
            &[1, 0, 0, 0, 0, 0, 0, 0, 0],
            &[1, 0, 0, 0, 0, 0, 0, 0, 2, b'a', b'b'],
        ];
        assert_eq!(record("q", fields), expected.concat());
    }
}
