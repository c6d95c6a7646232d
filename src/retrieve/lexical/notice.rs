//! The notice of `search` that it read a large corpus instead of an index.

use std::cell::RefCell;
use std::collections::BTreeSet;

use reground_grounding::begin::warnings::is_large_scan;
use reground_grounding::settings::Settings;

use super::strategy::{LexicalStrategy, ScanReason};
use crate::error::{Result, notice};
use crate::sql;
use crate::store::corpora::Corpus;

thread_local! {
    /// Corpora for which this session has had the notice.
    static NOTICED: RefCell<BTreeSet<i64>> = RefCell::default();
}

/// Sends the notice, once per session and corpus.
pub fn notice_scan(corpus: &Corpus, settings: &Settings, passages_read: u64) -> Result<()> {
    if !is_large_scan(passages_read)
        || !NOTICED.with_borrow_mut(|noticed| noticed.insert(corpus.corpus_id))
    {
        return Ok(());
    }
    let LexicalStrategy::Scan(reason) = LexicalStrategy::of(corpus, settings)? else {
        return Ok(());
    };
    let name = sql::literal(&corpus.name);
    let hint = match reason {
        ScanReason::NoIndex => {
            format!("SELECT * FROM reground.check_corpus({name}) shows the command for an index.")
        }
        ScanReason::Statistics => format!(
            "SELECT reground.alter_corpus({name}, settings => '{{\"lexical_statistics\": \"all\"}}') makes searches use the index; hidden rows then influence scores."
        ),
        ScanReason::Setting => "The setting lexical_search is exact.".to_owned(),
        ScanReason::Past => "Indexes contain the current passages only.".to_owned(),
    };
    notice(
        format!("the lexical branch read all {passages_read} visible passages"),
        &hint,
    );
    Ok(())
}
