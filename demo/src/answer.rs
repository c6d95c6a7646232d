//! Stands in for the language model: quotes the sources that the turn returned, and cites some of them wrongly.

use std::collections::{BTreeMap, BTreeSet};

use crate::sentences::{is_quotable, one_line, overlap, quotable};
use crate::turn::{Begun, Source};

/// Right statements of an answer.
const RIGHT: usize = 3;
/// Share of a sentence's words that another source may have and still plainly not say it.
const ELSEWHERE: f64 = 0.34;
/// The page that a made-up citation names, where the document has fewer.
const FAR_PAGE: i32 = 99;

/// A way to cite wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A marker of an earlier turn whose source is not in this turn's context.
    Stale,
    /// A marker that was never allotted.
    Invented,
    /// A sentence of one source, cited as another.
    Misattributed,
    /// A page that the document does not have.
    OutOfBounds,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Self; 4] = [
        Self::Stale,
        Self::Invented,
        Self::Misattributed,
        Self::OutOfBounds,
    ];

    /// What it is, in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stale => "stale marker",
            Self::Invented => "invented marker",
            Self::Misattributed => "misattributed",
            Self::OutOfBounds => "page out of bounds",
        }
    }

    /// The verdict that finds it.
    pub fn verdict(self) -> &'static str {
        match self {
            Self::Stale => "stale_turn",
            Self::Invented => "unknown_id",
            Self::Misattributed => "wrong_source",
            Self::OutOfBounds => "out_of_bounds",
        }
    }
}

/// A sentence of an answer, with its one citation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// First character of the citation in the answer.
    pub start: usize,
    /// What is wrong with it; `None` for a right one.
    pub planted: Option<Fault>,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The text that the database is given.
    pub text: String,
    /// Its statements, in order.
    pub statements: Vec<Statement>,
}

impl Answer {
    /// Adds a sentence that ends with a full stop; the citation goes before it.
    fn state(&mut self, sentence: &str, citation: &str, planted: Option<Fault>) {
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

/// What the writer still knows of a source of an earlier turn.
#[derive(Debug)]
struct Known {
    chunk_id: String,
    sentences: Vec<String>,
}

/// Writes the answers of one conversation. It says nothing twice.
#[derive(Debug, Default)]
pub struct Writer {
    earlier: BTreeMap<String, Known>,
    said: BTreeSet<String>,
}

impl Writer {
    /// Answers a turn: right statements first, then the wanted faults as far as the sources give an opportunity.
    pub fn write(&mut self, turn: &Begun, faults: &[Fault]) -> Answer {
        let mut answer = Answer::default();
        for (number, index) in preferred(&turn.sources).into_iter().enumerate() {
            if answer.statements.len() == RIGHT {
                break;
            }
            let source = &turn.sources[index];
            if let Some(sentence) = self.sentence_of(source) {
                let by_page = (number % 2 == 1).then(|| page_citation(source, &source.locator));
                let citation = by_page.flatten().unwrap_or_else(|| marker(&source.marker));
                answer.state(&sentence, &citation, None);
            }
        }
        for &fault in faults {
            if let Some((sentence, citation)) = self.wrong(turn, fault) {
                answer.state(&sentence, &citation, Some(fault));
            }
        }
        if answer.statements.is_empty() {
            answer.text.push_str("The sources do not say.");
        }
        for source in &turn.sources {
            let known = Known {
                chunk_id: source.chunk_id.clone(),
                sentences: sentences(source),
            };
            self.earlier.insert(source.marker.clone(), known);
        }
        answer
    }

    /// A sentence of the source that was not said yet.
    fn sentence_of(&mut self, source: &Source) -> Option<String> {
        sentences(source)
            .into_iter()
            .find(|sentence| self.said.insert(sentence.clone()))
    }

    /// A sentence and what it is wrongly cited as.
    fn wrong(&mut self, turn: &Begun, fault: Fault) -> Option<(String, String)> {
        let sources = &turn.sources;
        match fault {
            Fault::Stale => self.stale(turn),
            Fault::Invented => {
                let sentence = sources.iter().find_map(|source| self.sentence_of(source))?;
                Some((sentence, marker(&self.unused_marker(sources))))
            }
            Fault::Misattributed => sources.iter().find_map(|source| {
                sentences(source).into_iter().find_map(|sentence| {
                    let other = unlike(&sentence, source, sources)?;
                    self.said
                        .insert(sentence.clone())
                        .then(|| (sentence, marker(&other.marker)))
                })
            }),
            Fault::OutOfBounds => sources.iter().find_map(|source| {
                let page = FAR_PAGE.max(source.page_count?.saturating_add(1));
                let citation = page_citation(source, &format!("p. {page}"))?;
                Some((self.sentence_of(source)?, citation))
            }),
        }
    }

    /// A sentence of an earlier turn under its marker of then, where its passage is not in this turn's context.
    fn stale(&mut self, turn: &Begun) -> Option<(String, String)> {
        let present = |name: &str, known: &Known| {
            turn.sources.iter().any(|source| source.marker == name)
                || turn.passages.contains(&known.chunk_id)
        };
        let said = &mut self.said;
        self.earlier
            .iter()
            .filter(|(name, known)| !present(name, known))
            .find_map(|(name, known)| {
                let sentence = known
                    .sentences
                    .iter()
                    .find(|sentence| said.insert((*sentence).clone()))?;
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

/// Sources in the order in which they are quoted: the most relevant first, but the best carried one second at the latest, so
/// that it is seen to hold.
fn preferred(sources: &[Source]) -> Vec<usize> {
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

/// What can be quoted of a source: its facts first, they were chosen for the question.
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

/// The source of another document that says least of a sentence, if that is little enough.
fn unlike<'a>(sentence: &str, of: &Source, sources: &'a [Source]) -> Option<&'a Source> {
    sources
        .iter()
        .filter(|other| other.doc_id != of.doc_id)
        .map(|other| {
            let text = format!("{} {}", other.title, other.content);
            (overlap(sentence, &text), other)
        })
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .filter(|(share, _)| *share <= ELSEWHERE)
        .map(|(_, other)| other)
}

fn marker(name: &str) -> String {
    format!("[{name}]")
}

/// A citation by document and page; `None` where the source has no pages or the name does not fit between brackets.
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

    fn turn(sources: &[Source]) -> Begun {
        Begun {
            sources: sources.to_vec(),
            passages: sources.iter().map(|s| s.chunk_id.clone()).collect(),
            ..Begun::default()
        }
    }

    #[test]
    fn every_citation_stands_where_the_statement_says() {
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
    fn without_a_sentence_nothing_is_claimed() {
        let answer = Writer::default().write(&turn(&[source("A1", "| a | table |")]), &Fault::ALL);
        assert_eq!(
            (answer.text.as_str(), answer.statements.len()),
            ("The sources do not say.", 0)
        );
    }

    #[test]
    fn awkward_names_are_quoted_or_left() {
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
