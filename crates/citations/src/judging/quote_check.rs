//! What an API says that a source says: looked for in the source, believed no more than the answer.

use reground_interrupt::checked;

use super::judgement::{Detail, Judgement};
use super::status::Status;
use crate::Source;
use crate::support::contains_quote;

/// Takes back the verdict on citations whose quote is not in the source of the context that they name: the place is right,
/// the content is not there. `quotes` go with the judgements by index; `None` says nothing.
pub fn check_quotes(judgements: &mut [Judgement], quotes: &[Option<String>], sources: &[Source]) {
    for (judgement, quote) in checked(judgements.iter_mut().zip(quotes)) {
        let source = judgement.source.and_then(|source| sources.get(source));
        let (Some(source), Some(quote)) = (source, quote) else {
            continue;
        };
        if !contains_quote(&source.text, quote) {
            judgement.detail = Some(Detail::QuoteNotFound);
            if judgement.status.holds() == Some(true) {
                judgement.status = Status::Unsupported;
            }
        }
    }
}
