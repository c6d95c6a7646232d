//! Decides what is corrected.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use reground_interrupt::checked;

use super::change::{Change, ChangeKind};
use super::mode::RepairMode;
use super::unrepaired::Unrepaired;
use crate::{
    CitationScope, Claim, ExtractedCitation, Form, Judgement, Position, Reference,
    StatementSupport, Status, StringKind, extract,
};

/// Smallest support, in [0, 1], with which a source clearly supports a statement. It is higher than the threshold of verdicts, because a
/// correction claims more than a verdict: that this source is the right one.
const CLEAR_SUPPORT: f64 = 0.6;

/// The mark of a sentence that nothing supports. No grammar reads it as a citation.
const MARK: &str = "[?]";

/// Smallest number of content units of a sentence that is marked or removed. `Yes.` and `Done.` have fewer.
const LEAST_UNITS: usize = 2;

/// A correction of an answer.
pub(super) enum Correction {
    /// A citation string is replaced, or removed if the text is empty.
    String {
        bytes: Range<usize>,
        text: String,
        changes: Vec<Change>,
    },
    /// A citation or a mark is added at the end of a sentence.
    Insert {
        sentence: usize,
        text: String,
        change: Change,
    },
    /// A sentence is removed.
    Sentence { sentence: usize, change: Change },
}

/// The corrections of an answer.
pub(super) fn corrections(given: &Unrepaired<'_>, mode: RepairMode) -> Vec<Correction> {
    let strings = match mode {
        RepairMode::Mark => Vec::new(),
        RepairMode::Repoint | RepairMode::Strict => corrected_strings(given),
    };
    let mut replaced: BTreeMap<usize, Option<usize>> = BTreeMap::new();
    for string in &strings {
        if let Correction::String { changes, .. } = string {
            let pairs = changes
                .iter()
                .filter_map(|change| Some((change.citation?, change.source)));
            replaced.extend(pairs);
        }
    }
    let cited = cited_sentences(given, &replaced);
    // A source without text, as one that the caller cannot read, may support anything.
    let lacks_text = checked(given.sources).any(|source| source.content.trim().is_empty());
    let mut corrections = strings;
    let statements = given.extraction.statements.iter().zip(given.statements);
    for (statement, support) in checked(statements) {
        let cited = cited.get(&statement.sentence);
        let Some(support) = support.as_ref().filter(|_| cited != Some(&Cited::Rightly)) else {
            continue;
        };
        let added = match mode != RepairMode::Mark && cited.is_none() {
            true => added_citation(given, statement, support),
            false => None,
        };
        corrections.extend(match added {
            None if mode != RepairMode::Repoint && !lacks_text => {
                unsupported(given, statement, support, mode)
            }
            added => added,
        });
    }
    corrections
}

/// How a sentence is cited after the citations were corrected.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cited {
    /// All its citations fail.
    Wrongly,
    /// A citation holds, was corrected, or cannot be judged.
    Rightly,
}

fn cited_sentences(
    given: &Unrepaired<'_>,
    replaced: &BTreeMap<usize, Option<usize>>,
) -> BTreeMap<usize, Cited> {
    let mut cited = BTreeMap::new();
    let citations = given.extraction.citations.iter().zip(given.judgements);
    for (number, (citation, judgement)) in checked(citations.enumerate()) {
        let Some(sentence) = citation
            .sentence
            .filter(|_| citation.scope == CitationScope::Sentence)
        else {
            continue;
        };
        let how = match (replaced.get(&number), judgement.status.holds()) {
            (Some(None), _) => continue,
            (Some(Some(_)), _) | (None, Some(true) | None) => Cited::Rightly,
            (None, Some(false)) => Cited::Wrongly,
        };
        let known = cited.entry(sentence).or_insert(how);
        *known = how.max(*known);
    }
    cited
}

/// Adds a citation to a sentence without one, if a source clearly supports it.
fn added_citation(
    given: &Unrepaired<'_>,
    statement: &Claim,
    support: &StatementSupport,
) -> Option<Correction> {
    let source = support.best?;
    if support.alone[source] < CLEAR_SUPPORT {
        return None;
    }
    Some(Correction::Insert {
        sentence: statement.sentence,
        text: citation_of(given, [source])?,
        change: Change::of_sentence(ChangeKind::Added, statement.sentence, Some(source)),
    })
}

/// Marks or removes a sentence that nothing supports.
fn unsupported(
    given: &Unrepaired<'_>,
    statement: &Claim,
    support: &StatementSupport,
    mode: RepairMode,
) -> Option<Correction> {
    let alone = support.best.map_or(0.0, |best| support.alone[best]);
    let sentence = statement.sentence;
    if alone.max(support.pair) >= given.threshold || support.units < LEAST_UNITS {
        return None;
    }
    // A row of a table would lose its other cells.
    Some(
        match mode == RepairMode::Strict && !is_table_row(given, sentence) {
            true => Correction::Sentence {
                sentence,
                change: Change::of_sentence(ChangeKind::SentenceRemoved, sentence, None),
            },
            false => Correction::Insert {
                sentence,
                text: MARK.to_owned(),
                change: Change::of_sentence(ChangeKind::Marked, sentence, None),
            },
        },
    )
}

/// Whether a sentence is in a row of a table.
fn is_table_row(given: &Unrepaired<'_>, sentence: usize) -> bool {
    let span = &given.extraction.sentences[sentence];
    let line = given.answer[..span.start]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let line = given.answer[line..].lines().next().unwrap_or_default();
    line.trim_start().starts_with('|') || line.contains(" | ")
}

/// The strings with a citation that is wrong, and how they are written.
fn corrected_strings(given: &Unrepaired<'_>) -> Vec<Correction> {
    // The parts of claims that a cited source clearly supports.
    let clear: BTreeSet<_> = given
        .extraction
        .citations
        .iter()
        .zip(given.judgements)
        .filter(|(_, judgement)| {
            let clear = judgement
                .support
                .is_some_and(|support| support >= CLEAR_SUPPORT);
            clear && judgement.status.holds() == Some(true)
        })
        .map(|(citation, judgement)| (citation.claim, segment(judgement)))
        .collect();
    let mut taken = BTreeSet::new();
    let mut corrected = Vec::new();
    for string in given
        .extraction
        .citations
        .chunk_by(|a, b| a.span.bytes == b.span.bytes)
    {
        let first = corrected.len();
        corrected.resize(first + string.len(), None);
        for (offset, citation) in checked(string).enumerate() {
            let number = first + offset;
            let judgement = given.judgements.get(number);
            corrected[number] = judgement
                .and_then(|judgement| correction(citation, judgement, &clear, &mut taken))
                .filter(|source| source.is_some() || !is_word(given, citation));
        }
    }
    let mut strings = Vec::new();
    let mut first = 0;
    for string in given
        .extraction
        .citations
        .chunk_by(|a, b| a.span.bytes == b.span.bytes)
    {
        let numbers = first..first + string.len();
        first = numbers.end;
        if corrected[numbers.clone()].iter().any(Option::is_some) {
            strings.extend(rewritten(given, string, numbers, &corrected));
        }
    }
    strings
}

/// The part of a claim that a citation was judged by, if it is not the whole.
fn segment(judgement: &Judgement) -> Option<&str> {
    judgement.parts.as_ref()?.segment.as_deref()
}

/// Returns how a citation is corrected: the source that it names then, or `None` for none. `clear` are the parts of claims that a cited
/// source clearly supports, `taken` the sources that corrected citations of each claim name.
fn correction(
    citation: &ExtractedCitation,
    judgement: &Judgement,
    clear: &BTreeSet<(Option<usize>, Option<&str>)>,
    taken: &mut BTreeSet<(Option<usize>, usize)>,
) -> Option<Option<usize>> {
    let invented = matches!(judgement.status, Status::UnknownId | Status::OutOfBounds);
    let wrong = matches!(
        judgement.status,
        Status::WrongSource | Status::Unsupported | Status::InvalidPage | Status::StaleTurn
    );
    if !invented && !wrong {
        return None;
    }
    let in_sentence = citation.scope == CitationScope::Sentence && citation.claim.is_some();
    if in_sentence && clear.contains(&(citation.claim, segment(judgement))) {
        return Some(None);
    }
    let other = judgement.best_other.as_ref();
    let right = other.filter(|other| other.support >= CLEAR_SUPPORT);
    match right {
        Some(other) if in_sentence => {
            let is_new = taken.insert((citation.claim, other.source));
            Some(is_new.then_some(other.source))
        }
        _ if invented => Some(None),
        _ => None,
    }
}

/// Words before a citation that stands for a noun: `according to [9]`.
const BEFORE_NOUNS: [&str; 33] = [
    "see", "to", "in", "per", "by", "from", "of", "with", "on", "than", "source", "sources",
    "siehe", "laut", "nach", "von", "aus", "mit", "zu", "vgl", "selon", "voir", "dans", "par",
    "de", "según", "ver", "en", "por", "с", "в", "по", "из",
];

/// Whether a citation stands for a word of its sentence, which would break without it.
fn is_word(given: &Unrepaired<'_>, citation: &ExtractedCitation) -> bool {
    let string = &citation.span.bytes;
    let sentences = &given.extraction.sentences;
    let within = sentences.partition_point(|sentence| sentence.end <= string.start);
    let Some(sentence) = sentences
        .get(within)
        .filter(|sentence| sentence.start <= string.start)
    else {
        return false;
    };
    if citation.scope == CitationScope::Answer {
        return false;
    }
    let before = given
        .answer
        .get(sentence.start..string.start)
        .unwrap_or_default();
    let after = given
        .answer
        .get(string.end..sentence.end)
        .unwrap_or_default();
    let mut words = before.trim_end().rsplit(|c: char| !c.is_alphanumeric());
    match words.next().filter(|word| !word.is_empty()) {
        Some(word) => BEFORE_NOUNS.contains(&word.to_lowercase().as_str()),
        // `[9] says so`
        None => {
            let leads =
                !before.contains(char::is_alphanumeric) && citation.sentence == Some(within);
            leads && after.trim_start().starts_with(char::is_lowercase)
        }
    }
}

/// Writes a citation string with its corrections; `None` if it cannot be written.
fn rewritten(
    given: &Unrepaired<'_>,
    string: &[ExtractedCitation],
    numbers: Range<usize>,
    corrected: &[Option<Option<usize>>],
) -> Option<Correction> {
    let bytes = string.first()?.span.bytes.clone();
    if !string
        .iter()
        .all(|citation| is_mark(citation, given.answer))
    {
        return None;
    }
    let mut sources: Vec<usize> = Vec::new();
    let mut changes = Vec::new();
    for (number, citation) in numbers.zip(string) {
        let source = match corrected[number] {
            Some(source) => {
                changes.push(Change {
                    kind: match source {
                        Some(_) => ChangeKind::Repointed,
                        None => ChangeKind::Removed,
                    },
                    citation: Some(number),
                    sentence: citation.sentence,
                    source,
                    before: bytes.clone(),
                    after: 0..0,
                });
                source
            }
            // A citation that stays has to be written, too.
            None => {
                let whole = citation.reference.position() == Position::default();
                Some(given.judgements.get(number)?.source.filter(|_| whole)?)
            }
        };
        sources.extend(source.filter(|source| !sources.contains(source)));
    }
    let text = match sources.is_empty() {
        true => String::new(),
        false => citation_of(given, sources)?,
    };
    Some(Correction::String {
        bytes,
        text,
        changes,
    })
}

/// Whether a citation string names sources and nothing else.
fn is_mark(citation: &ExtractedCitation, answer: &str) -> bool {
    let encloses = matches!(
        citation.form,
        Form::CohereSpan | Form::GeminiSpan | Form::SourceTag | Form::CiteTag
    );
    let malformed = matches!(citation.reference, Reference::Malformed(_));
    let kind = StringKind::of(&citation.form, citation.raw(answer), malformed, false);
    !encloses && citation.form != Form::Footnote && kind == StringKind::Mark
}

/// The string that cites sources; `None` if the grammar would not read it.
fn citation_of(given: &Unrepaired<'_>, sources: impl IntoIterator<Item = usize>) -> Option<String> {
    let markers: Vec<&str> = sources
        .into_iter()
        .map(|source| {
            given
                .sources
                .get(source)
                .map(|source| source.marker.as_str())
        })
        .collect::<Option<_>>()?;
    let text = format!("[{}]", markers.join(", "));
    let read = extract(&text, given.grammar).citations.len();
    (read == markers.len()).then_some(text)
}
