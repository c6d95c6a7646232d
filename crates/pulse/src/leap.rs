//! Leaps over bytes at which nothing can begin.

use wide::u8x16;

use crate::beat;

/// Bytes that are looked at together, each in a lane of its own. A mask has all bits of a lane set or none.
pub type Block = u8x16;

/// Bytes of a [`Block`].
const BLOCK: usize = 16;
/// Bytes that are leapt over at most between two beats.
const LEAP: usize = 1 << 12;

/// Where the first byte stands to stop at. `stops` gets a block and the bytes after each of its own, 0 behind the last of all,
/// and says by a mask where to stop.
///
/// For passes that look for more than the three bytes that `memchr` knows. [`beat`]s for each byte passed.
///
/// ```
/// use reground_pulse::{leap, one_of};
///
/// assert_eq!(leap(b"It is so (as we know) [1].", |block, _| one_of(block, *b"[{<")), Some(22));
/// ```
#[inline]
pub fn leap(bytes: &[u8], stops: impl Fn(Block, Block) -> Block) -> Option<usize> {
    let mut at = 0;
    let mut said = 0;
    while let Some(block) = bytes[at..].first_chunk() {
        if let Some(step) = first_stop(block, &stops) {
            beat(at + step + 1 - said);
            return Some(at + step);
        }
        at += BLOCK;
        if at - said >= LEAP {
            beat(at - said);
            said = at;
        }
    }
    let rest = &bytes[at..];
    let mut block = [0; BLOCK + 1];
    block[..rest.len()].copy_from_slice(rest);
    beat(bytes.len() - said);
    let step = first_stop(&block, &stops).filter(|step| *step < rest.len())?;
    Some(at + step)
}

/// The first stop in a block that one byte more follows.
#[inline]
fn first_stop(block: &[u8; BLOCK + 1], stops: impl Fn(Block, Block) -> Block) -> Option<usize> {
    let [here @ .., _] = *block;
    let [_, next @ ..] = *block;
    let marks = stops(Block::new(here), Block::new(next)).to_bitmask();
    (marks != 0).then_some(marks.trailing_zeros() as usize)
}

/// Where a block holds one of some bytes.
#[inline]
pub fn one_of<const N: usize>(block: Block, bytes: [u8; N]) -> Block {
    bytes.into_iter().fold(Block::ZERO, |any, byte| {
        any | block.simd_eq(Block::splat(byte))
    })
}

/// Where a block holds a byte from `first` to `last`.
#[inline]
pub fn between(block: Block, first: u8, last: u8) -> Block {
    let lifted = block.max(Block::splat(first)).min(Block::splat(last));
    lifted.simd_eq(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{STRETCH, felt};

    #[test]
    fn the_first_is_found_wherever_it_stands() {
        let is_x = |block, _| one_of(block, *b"x");
        let before_y = |_, next| one_of(next, *b"y");
        for length in 0..3 * BLOCK {
            let mut bytes = vec![b'a'; length];
            assert_eq!(leap(&bytes, is_x), None);
            for at in (0..length).rev() {
                bytes[at] = b'x';
                assert_eq!(leap(&bytes, is_x), Some(at));
                bytes[at] = b'y';
                assert_eq!(leap(&bytes, before_y), at.checked_sub(1));
                bytes[at] = b'a';
            }
        }
        let far = [vec![b'a'; LEAP + 5], vec![b'x']].concat();
        assert_eq!(leap(&far, is_x), Some(LEAP + 5));
    }

    #[test]
    fn nothing_follows_the_last() {
        assert_eq!(leap(b"a", |_, next| one_of(next, [0])), Some(0));
        assert_eq!(leap(b"", |block, _| one_of(block, [0])), None);
    }

    #[test]
    fn masks_are_those_of_each_byte() {
        for byte in 0..=u8::MAX {
            let found = leap(&[byte], |block, _| between(block, b'0', 0xC2));
            assert_eq!(found.is_some(), (b'0'..=0xC2).contains(&byte), "{byte}");
            let found = leap(&[byte], |block, _| one_of(block, [b'(', 0xE2]));
            assert_eq!(found.is_some(), matches!(byte, b'(' | 0xE2), "{byte}");
        }
    }

    #[test]
    fn a_search_beats() {
        let none = vec![b'a'; 3 * STRETCH];
        let pulse = felt::of(|| leap(&none, |block, _| one_of(block, *b"x")));
        assert_eq!((pulse.beats, pulse.longest), (3, STRETCH));
    }
}
