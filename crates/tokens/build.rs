//! Writes the o200k_base vocabulary in the layout of `src/vocabulary/layout.rs`.
//!
//! The tokens come from the public decoder of `tiktoken-rs`, rank by rank. The library itself is not linked into the product,
//! for the reasons in the crate documentation.

#[path = "src/vocabulary/layout.rs"]
mod layout;

use std::{env, error::Error, fs, path::PathBuf};

use layout::{LONGEST, RANK_BITS, RANK_MASK, SLOTS, place};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/vocabulary/layout.rs");

    let tokens = tokens()?;
    let mut slots = vec![0u32; SLOTS];
    let mut bytes = Vec::new();
    let mut ends = Vec::new();
    for (rank, token) in (0u32..).zip(&tokens) {
        let (mut slot, fingerprint) = place(token);
        while slots[slot] != 0 {
            slot = (slot + 1) & (SLOTS - 1);
        }
        slots[slot] = fingerprint << RANK_BITS | (rank + 1);
        bytes.extend_from_slice(token);
        ends.extend_from_slice(&u32::try_from(bytes.len())?.to_le_bytes());
    }
    let slots: Vec<u8> = slots.into_iter().flat_map(u32::to_le_bytes).collect();

    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    fs::write(out.join("slots.bin"), slots)?;
    fs::write(out.join("ends.bin"), ends)?;
    fs::write(out.join("bytes.bin"), bytes)?;
    Ok(())
}

/// Returns all tokens in the order of their ranks. The special tokens follow after a gap, so the first rank without bytes
/// marks the end of the ordinary tokens.
fn tokens() -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let encoding = tiktoken_rs::o200k_base()?;
    let tokens: Vec<Vec<u8>> = (0u32..)
        .map_while(|rank| encoding.decode_bytes(&[rank]).ok())
        .collect();
    if tokens.len() >= RANK_MASK as usize || tokens.len() >= SLOTS {
        return Err(format!("{} tokens do not fit the table", tokens.len()).into());
    }
    if let Some(long) = tokens
        .iter()
        .find(|token| token.is_empty() || token.len() > LONGEST)
    {
        return Err(format!(
            "a token of {} bytes, the layout allows 1 to {LONGEST}",
            long.len()
        )
        .into());
    }
    Ok(tokens)
}
