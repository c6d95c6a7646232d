//! Preparing a document is interruptible at any stage, for any text.

use reground_documents::prepare::{from_passages, from_text};
use reground_documents::{
    ChunkSettings, ChunkUnit, PageMap, TRACKING_PARAMETERS, canonical_uri, chunk, content_hash,
    normalise, sentence_spans,
};
use reground_interrupt::test_support::{assert_checked, text_of};
use reground_interrupt::{CHECK_INTERVAL, test_support};

#[test]
fn each_stage_checks_for_interrupts() {
    assert_checked("normalise", 1, |text| normalise(text).len());
    assert_checked("content_hash", 1, content_hash);
    assert_checked("pages", 1, PageMap::from_form_feeds);
    assert_checked("sentence_spans", 1, sentence_spans);
    assert_checked("canonical_uri", 1, |text| {
        canonical_uri(text, TRACKING_PARAMETERS)
    });
}

#[test]
fn chunking_checks_for_interrupts_in_each_unit() {
    for (unit, min_checks) in [
        (ChunkUnit::Tokens, 6),
        (ChunkUnit::Characters, 2),
        (ChunkUnit::Sentences, 2),
    ] {
        let settings = ChunkSettings {
            unit,
            ..ChunkSettings::default()
        };
        assert_checked("chunk", min_checks, |text| {
            chunk(text, &settings, None).map(|chunks| chunks.len())
        });
    }
}

#[test]
fn preparing_a_document_checks_for_interrupts() {
    let settings = ChunkSettings::default();
    let text = |text: &str| from_text(text, &settings, None, None);
    assert_checked("from_text", 8, text);
    let headings = |text: &str| {
        let mut prepared = from_passages(&serde_json::json!([{"content": "x"}]), None)?;
        prepared.set_headings(Some(text), None);
        Ok::<_, reground_documents::DocumentError>(prepared)
    };
    assert_checked("set_headings", 1, headings);
    let pages: Vec<i32> = (0..200_000).step_by(2).collect();
    let prose = text_of("The quick brown fox. ", 4 * CHECK_INTERVAL);
    let paged = test_support::measure(|| from_text(&prose, &settings, Some(&pages), None));
    // Each page is normalised separately, in addition to the work for a text without page starts.
    assert!(paged.count >= 4 * 9, "{paged:?}");
    let passages = |text: &str| from_passages(&serde_json::json!([{ "content": text }]), None);
    assert_checked("from_passages", 1, passages);
}
