//! Invariants of chunks for any text and any settings.

use proptest::prelude::*;
use reground_documents::{
    Chunk, ChunkSettings, ChunkUnit, DocumentError, PageMap, PageRange, chunk, content_hash,
    overlap_cost, sentence_spans,
};
use unicode_segmentation::UnicodeSegmentation;

/// Counts the units in a part of a text by their definition.
fn measure(text: &str, bytes: std::ops::Range<usize>, unit: ChunkUnit) -> usize {
    match unit {
        ChunkUnit::Tokens => reground_tokens::count(&text[bytes]),
        ChunkUnit::Characters => text[bytes].chars().count(),
        ChunkUnit::Sentences => sentence_spans(text)
            .iter()
            .filter(|span| span.start < bytes.end && bytes.start < span.end)
            .count(),
    }
}

fn check(text: &str, settings: &ChunkSettings) -> Result<(), TestCaseError> {
    let pages = PageMap::from_form_feeds(text);
    let cut = || {
        let failed = |error: DocumentError| TestCaseError::fail(error.to_string());
        chunk(text, settings, pages.as_ref()).map_err(failed)
    };
    let chunks = cut()?;
    prop_assert_eq!(&cut()?, &chunks);

    let characters: Vec<char> = text.chars().collect();
    let clusters: Vec<(usize, &str)> = text.grapheme_indices(true).collect();
    let mut covered = vec![false; characters.len()];
    for (ordinal, chunk) in chunks.iter().enumerate() {
        prop_assert_eq!(chunk.ordinal as usize, ordinal);
        prop_assert_eq!(
            &characters[chunk.char_start..chunk.char_end]
                .iter()
                .collect::<String>(),
            chunk.text
        );
        prop_assert_eq!(&text[chunk.byte_start..chunk.byte_end], chunk.text);
        prop_assert_eq!(chunk.tokens as usize, reground_tokens::count(chunk.text));
        prop_assert_eq!(chunk.hash, content_hash(chunk.text));
        prop_assert!(!chunk.text.trim().is_empty());
        covered[chunk.char_start..chunk.char_end].fill(true);

        let length = measure(text, chunk.byte_start..chunk.byte_end, settings.unit);
        prop_assert!(
            length <= settings.size as usize || chunk.text.chars().count() == 1,
            "{} units",
            length
        );

        for cut in [chunk.byte_start, chunk.byte_end] {
            let broken = clusters
                .iter()
                .find(|(start, cluster)| *start < cut && cut < start + cluster.len());
            if let Some((start, cluster)) = broken {
                let whole = measure(text, *start..start + cluster.len(), settings.unit);
                prop_assert!(
                    whole > settings.size as usize,
                    "{cluster:?} of {whole} units is broken"
                );
            }
        }

        if let Some(map) = &pages {
            let page =
                |at: usize| 1 + characters[..at].iter().filter(|&&c| c == '\u{c}').count() as u32;
            let expected = PageRange {
                start: page(chunk.char_start),
                end: page(chunk.char_end - 1),
            };
            prop_assert_eq!(chunk.pages, Some(expected));
            prop_assert!(expected.end <= map.page_count());
        } else {
            prop_assert_eq!(chunk.pages, None);
        }
    }
    for pair in chunks.windows(2) {
        prop_assert!(
            pair[0].byte_start < pair[1].byte_start && pair[0].byte_end < pair[1].byte_end
        );
        if pair[1].byte_start < pair[0].byte_end {
            let shared = measure(text, pair[1].byte_start..pair[0].byte_end, settings.unit);
            prop_assert!(shared <= settings.overlap as usize, "{shared} units shared");
        }
    }
    for (character, covered) in characters.iter().zip(covered) {
        prop_assert!(
            covered || character.is_whitespace(),
            "{character:?} is in no chunk"
        );
    }
    Ok(())
}

fn settings() -> impl Strategy<Value = ChunkSettings> {
    let unit = prop_oneof![
        Just(ChunkUnit::Tokens),
        Just(ChunkUnit::Characters),
        Just(ChunkUnit::Sentences)
    ];
    (1u32..24, 0u32..24, unit).prop_map(|(size, overlap, unit)| ChunkSettings {
        size,
        overlap: overlap % size,
        unit,
    })
}

/// Texts from parts that are hard to split.
fn hard_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[a-z]{1,9} ",
        2 => "[A-Z][a-z]{1,9}[.!?] ",
        1 => Just("\n\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\u{c}".to_owned()),
        1 => Just("\n# Heading\n".to_owned()),
        1 => Just("- item\n".to_owned()),
        1 => "[ \u{3000}\u{600}]{1,4}",
        1 => "\u{301}{1,9}",
        1 => Just("e\u{301}\u{323}".to_owned()),
        1 => Just("👩‍👩‍👧‍👦".to_owned()),
        1 => Just("🇩🇪🇫🇷🇩".to_owned()),
        1 => Just("👍🏽❤️‍🔥".to_owned()),
        1 => Just("क्षि नमस्ते।".to_owned()),
        1 => Just("שלום עולם. مرحبا؟ ".to_owned()),
        2 => Just("東京は日本の首都です。人口は多い！".to_owned()),
        1 => Just("각\u{1100}\u{1161}\u{11a8}".to_owned()),
        1 => Just("https://example.com/averylongaddresswithoutanyspace?x=1".to_owned()),
    ];
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn chunks_of_any_text_are_valid(text in any::<String>(), settings in settings()) {
        check(&text, &settings)?;
    }

    #[test]
    fn chunks_of_hard_texts_are_valid(text in hard_text(), settings in settings()) {
        check(&text, &settings)?;
    }
}

/// Returns prose with headings, paragraphs and numbers, of at least `bytes` bytes.
fn document(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 400);
    let mut number = 0u64;
    while text.len() < bytes {
        number += 1;
        if number % 40 == 1 {
            text.push_str(&format!("\n\n## Section {number}\n\n"));
        }
        let word = ["granite", "harbour", "lantern", "meadow", "orchard"][(number % 5) as usize];
        text.push_str(&format!(
            "The {word} of year {number} was measured twice, and both readings were kept. "
        ));
        if number.is_multiple_of(7) {
            text.push_str("\n\n");
        }
    }
    text
}

#[test]
fn chunks_end_at_sentences_and_paragraphs() {
    let text = document(200_000);
    let chunks = chunk(&text, &ChunkSettings::default(), None).unwrap();
    for chunk in &chunks {
        assert!(chunk.text.ends_with('.'), "{:?}", chunk.text);
        assert!(
            chunk.text.starts_with("The ") || chunk.text.starts_with("## "),
            "{:?}",
            chunk.text
        );
    }
    // The requirement is 15–40 %.
    let cost = overlap_cost(&chunks, text.chars().count());
    assert!((0.15..=0.40).contains(&cost), "{cost}");
}

#[test]
fn overlap_cost_equals_a_case_computed_by_hand() {
    let settings = ChunkSettings {
        size: 4,
        overlap: 2,
        unit: ChunkUnit::Characters,
    };
    let chunks = chunk("abcdefgh", &settings, None).unwrap();
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text).collect();
    assert_eq!(texts, ["abcd", "cdef", "efgh"]);
    assert_eq!(overlap_cost(&chunks, 8), 0.5);
    assert_eq!(overlap_cost(&[], 0), 0.0);
}

#[test]
fn sentences_can_be_the_unit() {
    let settings = ChunkSettings {
        size: 2,
        overlap: 1,
        unit: ChunkUnit::Sentences,
    };
    let chunks = chunk("One is here. Two is here. Three is here.", &settings, None).unwrap();
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text).collect();
    assert_eq!(
        texts,
        ["One is here. Two is here.", "Two is here. Three is here."]
    );
}

#[test]
fn settings_are_checked() {
    let with = |size, overlap| {
        chunk(
            "a",
            &ChunkSettings {
                size,
                overlap,
                unit: ChunkUnit::Tokens,
            },
            None,
        )
        .map(|_: Vec<Chunk>| ())
    };
    assert_eq!(with(0, 0), Err(DocumentError::EmptyChunk));
    assert_eq!(
        with(8, 8),
        Err(DocumentError::OverlapTooLarge {
            overlap: 8,
            size: 8
        })
    );
    assert_eq!(with(8, 7), Ok(()));
    assert_eq!(
        with(8, 9).unwrap_err().to_string(),
        "chunk overlap 9 is not less than chunk size 8"
    );
}

/// Ten megabytes of prose, and of each text for which an algorithm might restart. Quadratic time would not finish.
#[test]
fn ten_megabytes_take_linear_time() {
    let large = 10_000_000;
    let prose = document(large);
    let chunks = chunk(&prose, &ChunkSettings::default(), None).unwrap();
    assert!(chunks.iter().all(|chunk| chunk.tokens <= 512));
    assert_eq!(
        chunks.last().map(|chunk| chunk.byte_end),
        Some(prose.trim_end().len())
    );
}

#[test]
fn adversarial_megabytes_take_linear_time() {
    for unit in [
        " ",
        "a",
        "\u{301}",
        "🇩🇪",
        "👩\u{200d}",
        ". ",
        "\n",
        "字",
        "[",
        "0",
    ] {
        let text = format!("x.{}y", unit.repeat(1_000_000 / unit.len()));
        for measure in [
            ChunkUnit::Tokens,
            ChunkUnit::Characters,
            ChunkUnit::Sentences,
        ] {
            let chunks = chunk(
                &text,
                &ChunkSettings {
                    unit: measure,
                    ..Default::default()
                },
                None,
            )
            .unwrap();
            assert_eq!(
                chunks.last().map(|chunk| chunk.byte_end),
                Some(text.len()),
                "{unit:?}"
            );
        }
    }
}
