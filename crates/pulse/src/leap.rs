//! Leaps over bytes at which nothing can begin.

use crate::beat;

/// Bytes that are looked at together.
const BLOCK: usize = 16;
/// Bytes that are leapt over at most between two beats.
const LEAP: usize = 1 << 12;

/// Where the first byte stands to stop at. `stops` is asked with each byte and the one after it, 0 behind the last.
///
/// For passes that look for more than the three bytes `memchr` knows. It is asked about 16 bytes together and as vectors,
/// provided that it has no branch: comparisons joined by `|` and `&`, not by `||`, `&&` or a `match`. [`beat`]s for each byte
/// passed.
///
/// ```
/// use reground_pulse::leap;
///
/// let opens = |byte: u8, _| (byte == b'[') | (byte == b'(') | (byte == b'{') | (byte == b'<');
/// assert_eq!(leap(b"It is so [1].", opens), Some(9));
/// ```
#[inline]
pub fn leap(bytes: &[u8], stops: impl Fn(u8, u8) -> bool) -> Option<usize> {
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

/// The first stop in a block, which the byte after it follows. Inlined whatever it takes: by itself it becomes no vectors.
#[inline(always)]
fn first_stop(block: &[u8; BLOCK + 1], stops: impl Fn(u8, u8) -> bool) -> Option<usize> {
    let marks: [u8; BLOCK] = std::array::from_fn(|at| u8::from(stops(block[at], block[at + 1])));
    let marks = u128::from_le_bytes(marks);
    (marks != 0).then_some(marks.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{STRETCH, felt};

    #[test]
    fn the_first_is_found_wherever_it_stands() {
        let is_x = |byte, _| byte == b'x';
        let before_y = |_, next| next == b'y';
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
        assert_eq!(leap(b"a", |_, next| next == 0), Some(0));
        assert_eq!(leap(b"", |_, _| true), None);
    }

    #[test]
    fn a_search_beats() {
        let none = vec![b'a'; 3 * STRETCH];
        let pulse = felt::of(|| leap(&none, |byte, _| byte == b'x'));
        assert_eq!((pulse.beats, pulse.longest), (3, STRETCH));
    }
}
