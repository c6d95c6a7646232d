//! Finds the next byte of interest, 16 bytes at a time.

use wide::u8x16;

use crate::check_interrupt;

/// 16 bytes that are compared at once. A mask has all bits of a lane set, or none.
pub type Block = u8x16;

/// Bytes of a [`Block`].
const BLOCK: usize = 16;
/// Most bytes that are skipped between two reports.
const REPORT: usize = 1 << 12;

/// Position of the first byte at which `stops` says to stop. `stops` receives a block and, for each of its bytes, the byte
/// after it (0 after the last byte of all), and returns a mask.
///
/// For passes that look for more than the three bytes that `memchr` supports. Each byte counts as a step of
/// [`check_interrupt`].
///
/// ```
/// use reground_interrupt::{find, one_of};
///
/// assert_eq!(find(b"It is so (as we know) [1].", |block, _| one_of(block, *b"[{<")), Some(22));
/// ```
#[inline]
pub fn find(bytes: &[u8], stops: impl Fn(Block, Block) -> Block) -> Option<usize> {
    let mut at = 0;
    let mut reported = 0;
    while let Some(block) = bytes[at..].first_chunk() {
        if let Some(step) = first_stop(block, &stops) {
            check_interrupt(at + step + 1 - reported);
            return Some(at + step);
        }
        at += BLOCK;
        if at - reported >= REPORT {
            check_interrupt(at - reported);
            reported = at;
        }
    }
    let rest = &bytes[at..];
    let mut block = [0; BLOCK + 1];
    block[..rest.len()].copy_from_slice(rest);
    check_interrupt(bytes.len() - reported);
    let step = first_stop(&block, &stops).filter(|step| *step < rest.len())?;
    Some(at + step)
}

/// The first stop in a block. The array holds one byte more than the block.
#[inline]
fn first_stop(block: &[u8; BLOCK + 1], stops: impl Fn(Block, Block) -> Block) -> Option<usize> {
    let [here @ .., _] = *block;
    let [_, next @ ..] = *block;
    let marks = stops(Block::new(here), Block::new(next)).to_bitmask();
    (marks != 0).then_some(marks.trailing_zeros() as usize)
}

/// A mask of the lanes that hold one of `bytes`.
#[inline]
pub fn one_of<const N: usize>(block: Block, bytes: [u8; N]) -> Block {
    bytes.into_iter().fold(Block::ZERO, |any, byte| {
        any | block.simd_eq(Block::splat(byte))
    })
}

/// A mask of the lanes that hold a byte from `first` to `last`.
#[inline]
pub fn between(block: Block, first: u8, last: u8) -> Block {
    let lifted = block.max(Block::splat(first)).min(Block::splat(last));
    lifted.simd_eq(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CHECK_INTERVAL, test_support};

    #[test]
    fn the_first_match_is_found_at_every_position() {
        let is_x = |block, _| one_of(block, *b"x");
        let before_y = |_, next| one_of(next, *b"y");
        for length in 0..3 * BLOCK {
            let mut bytes = vec![b'a'; length];
            assert_eq!(find(&bytes, is_x), None);
            for at in (0..length).rev() {
                bytes[at] = b'x';
                assert_eq!(find(&bytes, is_x), Some(at));
                bytes[at] = b'y';
                assert_eq!(find(&bytes, before_y), at.checked_sub(1));
                bytes[at] = b'a';
            }
        }
        let far = [vec![b'a'; REPORT + 5], vec![b'x']].concat();
        assert_eq!(find(&far, is_x), Some(REPORT + 5));
    }

    #[test]
    fn zero_follows_the_last_byte() {
        assert_eq!(find(b"a", |_, next| one_of(next, [0])), Some(0));
        assert_eq!(find(b"", |block, _| one_of(block, [0])), None);
    }

    #[test]
    fn masks_agree_with_single_bytes() {
        for byte in 0..=u8::MAX {
            let found = find(&[byte], |block, _| between(block, b'0', 0xC2));
            assert_eq!(found.is_some(), (b'0'..=0xC2).contains(&byte), "{byte}");
            let found = find(&[byte], |block, _| one_of(block, [b'(', 0xE2]));
            assert_eq!(found.is_some(), matches!(byte, b'(' | 0xE2), "{byte}");
        }
    }

    #[test]
    fn a_search_checks_for_interrupts() {
        let none = vec![b'a'; 3 * CHECK_INTERVAL];
        let checks = test_support::measure(|| find(&none, |block, _| one_of(block, *b"x")));
        assert_eq!((checks.count, checks.longest), (3, CHECK_INTERVAL));
    }
}
