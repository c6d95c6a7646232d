//! Encodes lists of tokens as text search vectors, for tests.

use std::collections::BTreeMap;

/// Returns the payload of the vector in which token `i` has position `i + 1`.
pub fn payload<S: AsRef<[u8]>>(tokens: &[S]) -> Vec<u8> {
    let mut positions: BTreeMap<&[u8], Vec<u16>> = BTreeMap::new();
    for (position, token) in (1_u16..).zip(tokens) {
        positions.entry(token.as_ref()).or_default().push(position);
    }
    let (mut entries, mut strings) = (Vec::new(), Vec::new());
    for (lexeme, positions) in &positions {
        let field = 1 | (lexeme.len() as u32) << 1 | (strings.len() as u32) << 12;
        entries.extend(field.to_ne_bytes());
        strings.extend_from_slice(lexeme);
        if strings.len() % 2 == 1 {
            strings.push(0);
        }
        strings.extend((positions.len() as u16).to_ne_bytes());
        strings.extend(positions.iter().flat_map(|position| position.to_ne_bytes()));
    }
    let header = (positions.len() as i32).to_ne_bytes();
    [header.as_slice(), &entries, &strings].concat()
}
