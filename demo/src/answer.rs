//! Replaces the language model: quotes the sources of the turn, and cites some of them wrongly on purpose.

use std::collections::{BTreeMap, BTreeSet};

use crate::sentences::{is_quotable, one_line, overlap, quotable};
use crate::turn::{BegunTurn, Source};

/// Number of correct statements in an answer.
const CORRECT_STATEMENTS: usize = 3;
/// Maximum share of a sentence's words in a source that clearly does not support it.
const MAX_OVERLAP: f64 = 0.34;
/// Page of an out-of-bounds citation, unless the document has more pages.
const FAR_PAGE: i32 = 99;

/// A kind of wrong citation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A marker of an earlier turn whose source is not in the context of this turn.
    Stale,
    /// A marker that was never assigned.
    Invented,
    /// A sentence of one source that is cited as another.
    Misattributed,
    /// A page that the document does not have.
    OutOfBounds,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 4] = [
        Self::Stale,
        Self::Invented,
        Self::Misattributed,
        Self::OutOfBounds,
    ];

    /// Returns the name that is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stale => "stale marker",
            Self::Invented => "invented marker",
            Self::Misattributed => "misattributed",
            Self::OutOfBounds => "page out of bounds",
        }
    }

    /// Returns the expected status.
    pub fn verdict(self) -> &'static str {
        match self {
            Self::Stale => "stale_turn",
            Self::Invented => "unknown_id",
            Self::Misattributed => "wrong_source",
            Self::OutOfBounds => "out_of_bounds",
        }
    }
}

/// A sentence of an answer with its citation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Start of the citation in the answer, in characters.
    pub start: usize,
    /// The planted fault; `None` for a correct citation.
    pub planted: Option<Fault>,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Text of the answer.
    pub text: String,
    /// Statements in order.
    pub statements: Vec<Statement>,
}

impl Answer {
    /// Adds a sentence and puts the citation before its full stop.
    fn add_statement(&mut self, sentence: &str, citation: &str, planted: Option<Fault>) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(sentence.trim_end_matches('.'));
        self.text.push(' ');
        let start = self.text.chars().count();
        self.statements.push(Statement { start, planted });
        self.text.push_str(citation);
        self.text.push('.');
    }
}

/// A source of an earlier turn.
#[derive(Debug)]
struct EarlierSource {
    chunk_id: String,
    sentences: Vec<String>,
}

/// Writes the answers of one conversation without repeating a sentence.
#[derive(Debug, Default)]
pub struct Writer {
    earlier: BTreeMap<String, EarlierSource>,
    used_sentences: BTreeSet<String>,
}

impl Writer {
    /// Writes the answer of a turn: correct statements first, then the requested faults, if the sources allow them.
    pub fn write(&mut self, turn: &BegunTurn, faults: &[Fault]) -> Answer {
        let mut answer = Answer::default();
        for (number, index) in quoting_order(&turn.sources).into_iter().enumerate() {
            if answer.statements.len() == CORRECT_STATEMENTS {
                break;
            }
            let source = &turn.sources[index];
            if let Some(sentence) = self.unused_sentence(source) {
                let by_page = (number % 2 == 1).then(|| page_citation(source, &source.locator));
                let citation = by_page.flatten().unwrap_or_else(|| marker(&source.marker));
                answer.add_statement(&sentence, &citation, None);
            }
        }
        for &fault in faults {
            if let Some((sentence, citation)) = self.wrong_statement(turn, fault) {
                answer.add_statement(&sentence, &citation, Some(fault));
            }
        }
        if answer.statements.is_empty() {
            answer.text.push_str("The sources do not say.");
        }
        for source in &turn.sources {
            let earlier = EarlierSource {
                chunk_id: source.chunk_id.clone(),
                sentences: sentences(source),
            };
            self.earlier.insert(source.marker.clone(), earlier);
        }
        answer
    }

    /// Returns a sentence of the source that no answer contains yet.
    fn unused_sentence(&mut self, source: &Source) -> Option<String> {
        sentences(source)
            .into_iter()
            .find(|sentence| self.used_sentences.insert(sentence.clone()))
    }

    /// Returns a sentence with a wrong citation.
    fn wrong_statement(&mut self, turn: &BegunTurn, fault: Fault) -> Option<(String, String)> {
        let sources = &turn.sources;
        match fault {
            Fault::Stale => self.stale_statement(turn),
            Fault::Invented => {
                let sentence = sources
                    .iter()
                    .find_map(|source| self.unused_sentence(source))?;
                Some((sentence, marker(&self.unused_marker(sources))))
            }
            Fault::Misattributed => sources.iter().find_map(|source| {
                sentences(source).into_iter().find_map(|sentence| {
                    let other = unrelated_source(&sentence, source, sources)?;
                    self.used_sentences
                        .insert(sentence.clone())
                        .then(|| (sentence, marker(&other.marker)))
                })
            }),
            Fault::OutOfBounds => sources.iter().find_map(|source| {
                let page = FAR_PAGE.max(source.page_count?.saturating_add(1));
                let citation = page_citation(source, &format!("p. {page}"))?;
                Some((self.unused_sentence(source)?, citation))
            }),
        }
    }

    /// Returns a sentence of an earlier turn with its marker, if the passage is not in the context of this turn.
    fn stale_statement(&mut self, turn: &BegunTurn) -> Option<(String, String)> {
        let present = |name: &str, earlier: &EarlierSource| {
            turn.sources.iter().any(|source| source.marker == name)
                || turn.chunk_ids.contains(&earlier.chunk_id)
        };
        let used_sentences = &mut self.used_sentences;
        self.earlier
            .iter()
            .filter(|(name, earlier)| !present(name, earlier))
            .find_map(|(name, earlier)| {
                let sentence = earlier
                    .sentences
                    .iter()
                    .find(|sentence| used_sentences.insert((*sentence).clone()))?;
                Some((sentence.clone(), marker(name)))
            })
    }

    fn unused_marker(&self, sources: &[Source]) -> String {
        let letters = |marker: &str| {
            marker
                .trim_end_matches(|c: char| c.is_ascii_digit())
                .to_owned()
        };
        let used: BTreeSet<String> = self
            .earlier
            .keys()
            .chain(sources.iter().map(|source| &source.marker))
            .map(|marker| letters(marker))
            .collect();
        let free = ["Q", "X", "Z", "QX", "ZQ"]
            .into_iter()
            .find(|&letters| !used.contains(letters));
        format!("{}7", free.unwrap_or("ZZZ"))
    }
}

/// Returns the order in which sources are quoted: by relevance, but the best carried source is at most second, so that every answer
/// shows how it is judged.
fn quoting_order(sources: &[Source]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by(|&a, &b| sources[b].score.total_cmp(&sources[a].score));
    if let Some(place) = order
        .iter()
        .position(|&index| sources[index].origin == "carried")
    {
        let carried = order.remove(place);
        order.insert(place.min(1), carried);
    }
    order
}

/// Returns the quotable sentences of a source. Its facts come first, because they were selected for the question.
fn sentences(source: &Source) -> Vec<String> {
    let facts = source.facts.iter().map(|fact| one_line(fact));
    let mut all: Vec<String> = facts.filter(|fact| is_quotable(fact)).collect();
    for sentence in quotable(&source.content) {
        if !all.contains(&sentence) {
            all.push(sentence);
        }
    }
    all
}

/// Returns the source of another document that overlaps least with a sentence, if the overlap is small enough.
fn unrelated_source<'a>(sentence: &str, of: &Source, sources: &'a [Source]) -> Option<&'a Source> {
    sources
        .iter()
        .filter(|other| other.doc_id != of.doc_id)
        .map(|other| {
            let text = format!("{} {}", other.title, other.content);
            (overlap(sentence, &text), other)
        })
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .filter(|(share, _)| *share <= MAX_OVERLAP)
        .map(|(_, other)| other)
}

fn marker(name: &str) -> String {
    format!("[{name}]")
}

/// Returns a citation by document and page, or `None` if the source has no pages or its name cannot be written in brackets.
fn page_citation(source: &Source, pages: &str) -> Option<String> {
    let name = &source.doc_id;
    let awkward = |c: char| "[]\"()\n".contains(c) || c.is_control();
    if !source.locator.starts_with('p') || name.contains(awkward) {
        return None;
    }
    let plain = name
        .chars()
        .all(|c| c.is_alphanumeric() || "._-/".contains(c));
    Some(if plain {
        format!("[Source: {name}, {pages}]")
    } else {
        format!("[Source: \"{name}\", {pages}]")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(marker: &str, content: &str) -> Source {
        Source {
            marker: marker.into(),
            doc_id: format!("{marker}.md"),
            chunk_id: format!("chunk of {marker}"),
            locator: "p. 2".into(),
            page_count: Some(3),
            content: content.into(),
            ..Source::default()
        }
    }

    fn turn(sources: &[Source]) -> BegunTurn {
        BegunTurn {
            sources: sources.to_vec(),
            chunk_ids: sources.iter().map(|s| s.chunk_id.clone()).collect(),
            ..BegunTurn::default()
        }
    }

    #[test]
    fn statements_have_the_positions_of_their_citations() {
        let apples = source(
            "A1",
            "Apples ripen slowly in cool orchards. Older trees bear fewer apples than young ones. Pickers climb wooden ladders every morning.",
        );
        let boats = source(
            "B1",
            "Boats leave the northern harbour at dawn. Sailors repair their torn canvas every winter. Lanterns guide vessels past hidden rocks.",
        );
        let mut writer = Writer::default();
        let first = writer.write(&turn(&[apples]), &[]);
        assert_eq!(first.text, "Apples ripen slowly in cool orchards [A1].");

        let answer = writer.write(&turn(&[boats.clone(), source("C1", "")]), &Fault::ALL);
        let planted: Vec<_> = answer.statements.iter().map(|s| s.planted).collect();
        assert_eq!(
            planted,
            [
                None,
                Some(Fault::Stale),
                Some(Fault::Invented),
                Some(Fault::Misattributed)
            ]
        );
        for (statement, citation) in answer
            .statements
            .iter()
            .zip(["[B1]", "[A1]", "[Q7]", "[C1]"])
        {
            let rest: String = answer.text.chars().skip(statement.start).collect();
            assert!(rest.starts_with(citation), "{rest}");
        }
        let more = source("D1", "Bridges carry heavy traffic across the wide river.");
        let last = writer.write(&turn(&[source("D1", ""), more]), &[Fault::OutOfBounds]);
        assert!(last.text.contains("[Source: D1.md, p. 2]"), "{}", last.text);
    }

    #[test]
    fn without_quotable_sentences_nothing_is_claimed() {
        let answer = Writer::default().write(&turn(&[source("A1", "| a | table |")]), &Fault::ALL);
        assert_eq!(
            (answer.text.as_str(), answer.statements.len()),
            ("The sources do not say.", 0)
        );
    }

    #[test]
    fn unusual_names_are_quoted_or_not_cited() {
        let mut awkward = source("A1", "");
        awkward.doc_id = "Smith, Jones.md".into();
        assert_eq!(
            page_citation(&awkward, "p. 9").unwrap(),
            "[Source: \"Smith, Jones.md\", p. 9]"
        );
        awkward.doc_id = "notes [old].md".into();
        assert_eq!(page_citation(&awkward, "p. 9"), None);
    }
}
