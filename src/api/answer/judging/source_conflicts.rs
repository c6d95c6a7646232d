//! Sources of a context that contradict each other.

use reground_citations::{Lexemes, SourceConflict, Text, source_conflicts};

use crate::api::answer::judging::judge_context::{JudgeContext, TurnEvidence};
use crate::api::answer::judging::readers::{Reader, Readers};
use crate::error::Result;
use crate::profile::stage;
use crate::retrieve::evidence::content;
use crate::retrieve::visibility;
use crate::store::cues;
use crate::store::turns::Turn;

/// The conflicts of a turn's sources.
pub(in crate::api) fn of_turn(tenant: &str, turn: &Turn) -> Result<Vec<SourceConflict>> {
    of_context(&TurnEvidence::load(tenant, turn)?.context(&[], &[]))
}

/// The conflicts of the sources if the decision on an answer depends on them.
pub(in crate::api) fn to_decide(context: &JudgeContext<'_>) -> Result<Vec<SourceConflict>> {
    match context.settings.source_conflicts {
        true => of_context(context),
        false => Ok(Vec::new()),
    }
}

/// The conflicts of the sources that the caller can read. Only sources with the same reader are compared, because words of two languages
/// cannot be.
fn of_context(context: &JudgeContext<'_>) -> Result<Vec<SourceConflict>> {
    let readers = Readers::of(context)?;
    let mut all = Vec::new();
    for (number, reader) in readers.all().enumerate() {
        let own: Vec<bool> = readers.by_source.iter().map(|by| *by == number).collect();
        if own.iter().filter(|own| **own).count() > 1 {
            all.extend(stage("conflicts", || by_reader(context, reader, &own))?);
        }
    }
    Ok(all)
}

/// The conflicts of the sources of one reader. A source that is hidden or shown by its facts only counts as empty.
fn by_reader(
    context: &JudgeContext<'_>,
    reader: &Reader,
    own: &[bool],
) -> Result<Vec<SourceConflict>> {
    let shown = context.context.iter().zip(own);
    let texts: Vec<String> = shown
        .map(|(source, own)| {
            let hidden = visibility::is_hidden(&source.candidate, context.hidden);
            match *own && !hidden && !source.is_remembered() {
                true => source.candidate.passage.content.clone(),
                false => String::new(),
            }
        })
        .collect();
    let lexemes: Vec<Lexemes> = content(&reader.text_config, &texts)?;
    let texts: Vec<Text<'_>> = texts
        .iter()
        .zip(&lexemes)
        .map(|(text, lexemes)| Text { text, lexemes })
        .collect();
    Ok(source_conflicts(&texts, &cues::load(&reader.language)?))
}
