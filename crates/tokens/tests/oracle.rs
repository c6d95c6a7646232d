//! Compares token counts and boundaries with `tiktoken-rs`.

use proptest::prelude::*;
use reground_tokens::{Prefix, boundaries, count, prefix};
use tiktoken_rs::o200k_base_singleton;

/// Returns the boundaries according to `tiktoken-rs`.
fn expected(text: &str) -> Vec<usize> {
    let oracle = o200k_base_singleton();
    let mut end = 0;
    oracle
        .encode_ordinary(text)
        .into_iter()
        .map(|token| {
            end += oracle.decode_bytes(&[token]).map_or(0, |bytes| bytes.len());
            end
        })
        .collect()
}

fn agrees(text: &str) {
    let ends = boundaries(text);
    assert_eq!(ends, expected(text), "{text:?}");
    // The second time, the number of tokens is in the cache.
    for _ in 0..2 {
        for most in [0, 1, ends.len() / 2, ends.len(), ends.len() + 1] {
            let tokens = most.min(ends.len());
            let bytes = tokens.checked_sub(1).map_or(0, |last| ends[last]);
            assert_eq!(prefix(text, most), Prefix { tokens, bytes }, "{text:?}");
        }
        assert_eq!(count(text), ends.len());
    }
}

#[test]
fn real_texts() {
    for text in [
        "",
        " ",
        "\n",
        "\r\n\r\n  \r\n x",
        "It's, we'll, THEY'RE, I'D; don't 'tis l'été",
        "fn main() {\n    let x = vec![1, 22, 333, 4444];\n\t\tprintln!(\"{x:?}\"); // ///\r\n}\n",
        "東京都は日本の首都である。人口は約1400万人。한국어 문장도 있다. 这是一个句子。",
        "👩‍👩‍👧‍👦 🇩🇪🇫🇷 👍🏽 ❤️‍🔥 e\u{301}\u{301} \u{1F9D1}\u{200D}\u{1F680}",
        "Straße ΑΒΓαβγ Ǆǅǆ ʰʱ ١٢٣٤٥٦ ½⅓ Ⅷ ༣༤ नमस्ते दुनिया ภาษาไทยไม่มีช่องว่าง",
        "مرحبا بالعالم، كيف حالك؟ שלום עולם",
        "a\u{a0}\u{a0}b\u{2028}\u{2029}c\u{3000}\u{3000}d\u{85}e\u{b}\u{c}f",
        "https://example.com/a/b/../c?x=1&y=%20#frag  <|endoftext|> ///\n\n//",
        "AAAA中中AAAAa中A camelCaseHTTPServer XMLHttpRequest2",
        include_str!("../src/lib.rs"),
        include_str!("../src/pieces.rs"),
    ] {
        agrees(text);
    }
}

#[test]
fn long_runs() {
    for unit in [
        " ", "\n", "a", "A", "=", "\t ", "é", "字", "0", "ab", "👍", "-*", "\u{301}",
    ] {
        for length in [2, 3, 17, 80, 129, 700] {
            let run = unit.repeat(length);
            agrees(&run);
            agrees(&format!("x{run}y{run}"));
        }
    }
}

/// Tests one piece of a megabyte, which a quadratic merge would not finish. `tiktoken-rs` tokenises a prefix only, because the
/// tokens of a repeated unit do not depend on distant text.
#[test]
fn one_piece_of_a_megabyte() {
    for unit in ["a", "xq", "Ω", "字"] {
        let text = unit.repeat(1_000_000 / unit.len());
        let ends = boundaries(&text);
        assert_eq!(ends.last(), Some(&text.len()));
        assert!(
            ends.windows(2)
                .all(|pair| pair[0] < pair[1] && pair[1] - pair[0] <= 128)
        );
        assert_eq!(
            &ends[..1000],
            &expected(&text[..text.floor_char_boundary(30_000)])[..1000]
        );
    }
}

/// Texts from parts that exercise the edge cases of the pattern.
fn edge_cases() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\t".to_owned()),
        Just("\u{a0}".to_owned()),
        Just("'s".to_owned()),
        Just("'LL".to_owned()),
        Just("'\u{17f}".to_owned()),
        Just("/".to_owned()),
        Just("\u{301}".to_owned()),
        "[a-z]{1,8}",
        "[A-Z]{1,4}",
        "[0-9]{1,7}",
        "[!-/]{1,3}",
        "\\PC{1,3}",
        "[あ-ん一-龠]{1,4}",
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_text(text in any::<String>()) {
        agrees(&text);
    }

    #[test]
    fn any_edge_cases(text in edge_cases()) {
        agrees(&text);
    }
}
