//! Checks the quotes that an API returned with its citations.

use reground_interrupt::checked;

use super::judgement::{Detail, Judgement};
use super::status::Status;
use crate::Source;
use crate::support::contains_quote;

/// Changes the verdict on citations whose quote is not in the cited source of the context to unsupported: the place
/// is right, but the content is not there. `quotes` has one entry for each judgement; `None` is not checked.
pub fn check_quotes(judgements: &mut [Judgement], quotes: &[Option<String>], sources: &[Source]) {
    for (judgement, quote) in checked(judgements.iter_mut().zip(quotes)) {
        let source = judgement.source.and_then(|source| sources.get(source));
        let source = source.filter(|source| !source.hidden);
        let (Some(source), Some(quote)) = (source, quote) else {
            continue;
        };
        if !contains_quote(&source.content, quote) {
            judgement.detail = Some(Detail::QuoteNotFound);
            if judgement.status.holds() == Some(true) {
                judgement.status = Status::Unsupported;
            }
        }
    }
}
