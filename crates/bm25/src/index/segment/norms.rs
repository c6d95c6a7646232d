//! Norms: document lengths in one byte, as in Lucene. Lengths up to 40 are exact, larger ones have four significant bits.
//!
//! The encoding is that of Lucene's `SmallFloat.intToByte4`, so an oracle with the same quantisation computes the same scores.

/// Number of values below the floating-point range.
const EXACT: u32 = 24;

/// Length for each norm.
static LENGTHS: [u32; 256] = lengths();

/// Encodes a length, rounded down.
pub fn norm(length: u32) -> u8 {
    if length < EXACT {
        return length as u8;
    }
    let value = length - EXACT;
    let bits = u32::BITS - value.leading_zeros();
    let packed = if bits < 4 {
        value
    } else {
        let shift = bits - 4;
        // The leading one bit is implicit.
        ((value >> shift) & 0x07) | ((shift + 1) << 3)
    };
    (EXACT + packed).min(255) as u8
}

/// Returns the length that a norm stands for in scores: the smallest length with this norm.
pub fn length(norm: u8) -> u32 {
    LENGTHS[usize::from(norm)]
}

const fn lengths() -> [u32; 256] {
    let mut lengths = [0; 256];
    let mut norm = 0;
    while norm < 256 {
        lengths[norm] = if (norm as u32) < EXACT {
            norm as u32
        } else {
            let packed = norm as u32 - EXACT;
            let (mantissa, exponent) = (packed & 0x07, packed >> 3);
            let value = if exponent == 0 {
                mantissa as u64
            } else {
                ((mantissa | 0x08) as u64) << (exponent - 1)
            };
            let length = value + EXACT as u64;
            if length > u32::MAX as u64 {
                u32::MAX
            } else {
                length as u32
            }
        };
        norm += 1;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equals_lucene() {
        // SmallFloat.byte4ToInt of Lucene 9.
        for (byte, value) in [
            (0, 0),
            (23, 23),
            (24, 24),
            (39, 39),
            (40, 40),
            (41, 42),
            (48, 56),
            (56, 88),
            (255, 2_013_265_944),
        ] {
            assert_eq!(length(byte), value, "{byte}");
        }
    }

    #[test]
    fn every_norm_is_distinct() {
        for byte in 0..=255 {
            assert_eq!(norm(length(byte)), byte);
        }
    }

    proptest! {
        #[test]
        fn error_is_at_most_an_eighth(exact in 0_u32..2_000_000_000) {
            let kept = length(norm(exact));
            prop_assert!(kept <= exact);
            prop_assert!(f64::from(exact - kept) <= f64::from(exact) / 8.0);
            prop_assert!(norm(exact) <= norm(exact + 1));
        }
    }
}
