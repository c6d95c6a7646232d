//! Compares the reader of text search vectors with bytes of a server and with token lists.

mod tsvector_payload;

use proptest::collection::vec;
use proptest::prelude::*;
use reground_bm25::{Bm25Error, TsVector};
use tsvector_payload::payload;

/// Tuple data of a PostgreSQL 15 table without the varlena header, from `heap_page_item_attrs` of pageinspect, with the
/// lexemes and position counts that `unnest` returns for the same rows.
const SERVER: [(&str, &[(&str, u32)]); 5] = [
    // ''::tsvector
    ("00000000", &[]),
    // to_tsvector('english', 'The cats sat on the mat while the cat watched a mathematician doing mathematics')
    (
        "060000000700000007a00000112001001be00100070003000b800300636174000200020009006d61\
         7400010006006d617468656d617401000e006d617468656d6174696369616e0001000c0073617400\
         0100030077617463680001000a00",
        &[
            ("cat", 2),
            ("mat", 1),
            ("mathemat", 1),
            ("mathematician", 1),
            ("sat", 1),
            ("watch", 1),
        ],
    ),
    // strip(to_tsvector('english', 'stripped vectors keep no positions')): no positions at all
    (
        "04000000080000000a4000000a9000000ce000006b656570706f7369747374726970766563746f72",
        &[("keep", 1), ("posit", 1), ("strip", 1), ("vector", 1)],
    ),
    // setweight(to_tsvector('simple', 'ab abc abd a ab é 日本 ab'), 'B'): positions that carry weights
    (
        "0600000003000000056000000700010007800100050002000d600200610001000480616203000180\
         0580088061626300010002806162640001000380c3a901000680e697a5e69cac01000780",
        &[
            ("a", 1),
            ("ab", 3),
            ("abc", 1),
            ("abd", 1),
            ("é", 1),
            ("日本", 1),
        ],
    ),
    // strip(to_tsvector('simple', 'one two')) || to_tsvector('simple', 'two three three'): a mixture
    (
        "03000000060000000b30000007e000006f6e65746872656502000200030074776f0001000100",
        &[("one", 1), ("three", 2), ("two", 1)],
    ),
];

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |c: u8| {
        if c.is_ascii_digit() {
            c - b'0'
        } else {
            c - b'a' + 10
        }
    };
    hex.as_bytes()
        .chunks_exact(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

#[test]
#[cfg(target_endian = "little")]
fn reads_payloads_of_a_server() {
    for (hex, expected) in SERVER {
        let bytes = bytes(hex);
        let vector = TsVector::parse(&bytes).unwrap();
        assert_eq!(vector.lexemes(), expected.len());
        assert_eq!(
            vector.length(),
            expected.iter().map(|(_, count)| count).sum::<u32>()
        );
        for (lexeme, count) in expected {
            assert_eq!(vector.frequency(lexeme.as_bytes()), *count, "{lexeme}");
        }
        for absent in ["", "aa", "abcd", "mathematics", "zebra", "\u{10ffff}"] {
            assert_eq!(vector.frequency(absent.as_bytes()), 0, "{absent}");
        }
    }
}

/// setweight(to_tsvector('simple', 'red shoes'), 'A') || to_tsvector('simple', 'red car').
#[cfg(target_endian = "little")]
const TITLED: &str =
    "0300000007000000078000000b200100636172000100040072656400020001c0030073686f657300010002c0";

#[test]
#[cfg(target_endian = "little")]
fn counts_the_words_of_a_title_by_their_weight() {
    let bytes = bytes(TITLED);
    for (weight, red, shoes, length) in [
        (1, 2, 1, 4),
        (3, 4, 3, 8),
        (0, 1, 0, 2),
        (100, 101, 100, 202),
    ] {
        let vector = TsVector::parse_with_title(&bytes, weight).unwrap();
        assert_eq!(vector.frequency(b"red"), red);
        assert_eq!(vector.frequency(b"shoes"), shoes);
        assert_eq!(vector.frequency(b"car"), 1);
        assert_eq!(vector.length(), length);
    }
    assert_eq!(TsVector::parse(&bytes).unwrap().length(), 4);
}

#[test]
fn reports_corrupt_payloads() {
    let table = |bytes, entries| Some(Bm25Error::EntryTable { bytes, entries });
    assert_eq!(TsVector::parse(&[]).err(), table(0, 0));
    assert_eq!(TsVector::parse(&(-1_i32).to_ne_bytes()).err(), table(4, -1));
    assert_eq!(
        TsVector::parse(&i32::MAX.to_ne_bytes()).err(),
        table(4, i64::from(i32::MAX))
    );
    let mut cut = payload(&["one", "two"]);
    cut.pop();
    assert!(matches!(
        TsVector::parse(&cut),
        Err(Bm25Error::OutOfBounds { entry: 1, .. })
    ));
}

proptest! {
    #[test]
    fn counts_tokens(tokens in vec("[ab]{1,3}|[é日]{1,2}", 0..80), absent in "[abc]{0,4}") {
        let bytes = payload(&tokens);
        let vector = TsVector::parse(&bytes).unwrap();
        prop_assert_eq!(vector.length() as usize, tokens.len());
        for lexeme in tokens.iter().chain([&absent]) {
            let expected = tokens.iter().filter(|token| *token == lexeme).count();
            prop_assert_eq!(vector.frequency(lexeme.as_bytes()) as usize, expected);
        }
    }

    #[test]
    fn never_panics(
        size in 0_i32..20, noise in vec(any::<u8>(), 0..200), lexeme in vec(any::<u8>(), 0..4), title_weight in any::<u8>(),
    ) {
        for bytes in [noise.clone(), [size.to_ne_bytes().as_slice(), &noise].concat()] {
            if let Ok(vector) = TsVector::parse_with_title(&bytes, title_weight) {
                vector.frequency(&lexeme);
            }
            if let Ok(vector) = TsVector::parse(&bytes) {
                prop_assert!(vector.length() as usize >= vector.lexemes());
                vector.frequency(&lexeme);
            }
        }
    }

    #[test]
    fn survives_a_damaged_byte(
        tokens in vec("[ab]{1,3}", 1..30), place in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut bytes = payload(&tokens);
        let place = place.index(bytes.len());
        bytes[place] = byte;
        if let Ok(vector) = TsVector::parse(&bytes) {
            for token in &tokens {
                vector.frequency(token.as_bytes());
            }
        }
    }
}
