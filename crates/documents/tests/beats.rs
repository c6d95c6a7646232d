//! Preparing a document can be given up at any stage, whatever its text.

use reground_documents::prepare::{from_passages, from_text};
use reground_documents::{
    ChunkSettings, ChunkUnit, PageMap, TRACKING_PARAMETERS, canonical_uri, chunk, content_hash,
    normalise, sentence_spans,
};
use reground_pulse::felt::{check, text_of};
use reground_pulse::{STRETCH, felt};

#[test]
fn each_stage_beats() {
    check("normalise", 1, |text| normalise(text).len());
    check("content_hash", 1, content_hash);
    check("pages", 1, PageMap::from_form_feeds);
    check("sentence_spans", 1, sentence_spans);
    check("canonical_uri", 1, |text| {
        canonical_uri(text, TRACKING_PARAMETERS)
    });
}

#[test]
fn chunks_beat_in_each_unit() {
    for (unit, least) in [
        (ChunkUnit::Tokens, 6),
        (ChunkUnit::Characters, 2),
        (ChunkUnit::Sentences, 2),
    ] {
        let settings = ChunkSettings {
            unit,
            ..ChunkSettings::default()
        };
        check("chunk", least, |text| {
            chunk(text, &settings, None).map(|chunks| chunks.len())
        });
    }
}

#[test]
fn a_whole_document_beats() {
    let settings = ChunkSettings::default();
    let text = |text: &str| from_text(text, &settings, None, None);
    check("from_text", 8, text);
    let pages: Vec<i32> = (0..200_000).step_by(2).collect();
    let prose = text_of("The quick brown fox. ", 4 * STRETCH);
    let paged = felt::of(|| from_text(&prose, &settings, Some(&pages), None));
    // One a stretch, and those of a text without given pages.
    assert!(paged.beats >= 4 * 9, "{paged:?}");
    let passages = |text: &str| from_passages(&serde_json::json!([{ "text": text }]), None);
    check("from_passages", 1, passages);
}
