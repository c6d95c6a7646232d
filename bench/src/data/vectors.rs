//! Embeddings: rows of little-endian float16, without a header.

use anyhow::{Context, Result, ensure};
use half::f16;

use super::Folder;

/// Dimensions of each embedding (all-MiniLM-L6-v2).
pub const DIMENSIONS: usize = 384;

/// Reads `vectors/NAME.f16`, which must have `rows` rows.
pub(super) fn read(folder: &Folder, name: &str, rows: usize) -> Result<Vec<Vec<f32>>> {
    let path = folder.file(&format!("vectors/{name}.f16"));
    let bytes =
        std::fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let expected = rows * DIMENSIONS * size_of::<f16>();
    ensure!(
        bytes.len() == expected,
        "{} has {} bytes, {rows} rows of {DIMENSIONS} take {expected}",
        path.display(),
        bytes.len()
    );
    Ok(decode(&bytes))
}

fn decode(bytes: &[u8]) -> Vec<Vec<f32>> {
    let (pairs, _) = bytes.as_chunks::<2>();
    pairs
        .chunks_exact(DIMENSIONS)
        .map(|row| {
            row.iter()
                .map(|pair| f16::from_le_bytes(*pair).to_f32())
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_little_endian_float16() {
        // 1.0 is 0x3C00 and −2.0 is 0xC000 in IEEE 754 binary16.
        let mut bytes = [0x00, 0x3C].repeat(DIMENSIONS);
        bytes.extend([0x00, 0xC0].repeat(DIMENSIONS));
        assert_eq!(
            decode(&bytes),
            [vec![1.0; DIMENSIONS], vec![-2.0; DIMENSIONS]]
        );
    }
}
