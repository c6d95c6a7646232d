//! Judges citations of the answer: `Sources: [A1], [B1]`, and the entries of a list of references.
//!
//! Such a citation does not say which statement it supports. A reader expects that the source supports some of the answer. So the
//! source is compared with each statement before the citation, and the citation holds if it supports at least one of them: alone,
//! or with the other sources of its line if none of these does alone. An entry of a list also holds if a sentence before it cites the source correctly.

use std::collections::{BTreeMap, BTreeSet};

use reground_interrupt::{check_interrupt, checked};

use super::evidence::{Evidence, EvidenceUnits};
use super::in_context::{Finding, Resolved};
use super::judgement::{AnswerSupport, Judgement};
use super::status::Status;
use crate::resolving::Resolution;
use crate::support::{ClaimSupport, ClaimUnits, Quote, Verdict, Vocabulary};
use crate::{CitationScope, Extraction, Reference, SupportRules, excerpt};

/// Largest number of statements that a document outside the context is compared with, because it may have hundreds of passages.
const MAX_OUTSIDE: usize = 32;
/// Largest number of cited sources whose joint support with the others of their line is computed. Further ones are judged alone.
const MAX_JOINT: usize = 64;

/// The statements of an answer as units.
pub(super) struct Statements<'a> {
    texts: Vec<&'a str>,
    units: Vec<ClaimUnits<'a>>,
}

impl<'a> Statements<'a> {
    /// Reads the statements except those of `known` text, and adds their units to the vocabulary.
    pub fn read(
        extraction: &'a Extraction,
        evidence: &Evidence<'_>,
        vocabulary: &mut Vocabulary,
        known: &BTreeSet<&str>,
    ) -> Self {
        let lexemes = evidence.claims.iter().skip(extraction.claims.len());
        let texts = extraction
            .statements
            .iter()
            .map(|claim| claim.text.as_str());
        let read = checked(texts.zip(lexemes)).filter(|(text, _)| !known.contains(text));
        let (texts, units) = read
            .map(|(text, lexemes)| {
                let units = ClaimUnits::read(text, lexemes, evidence.cues, vocabulary);
                (text, units)
            })
            .unzip();
        Self { texts, units }
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Compares each statement with all sources of the context; `None` for one without content.
    pub fn supports<'e>(
        &'e self,
        evidence: &'e EvidenceUnits<'e>,
    ) -> Vec<Option<ClaimSupport<'e>>> {
        let cues = evidence.evidence.cues;
        checked(&self.units)
            .map(|units| ClaimSupport::of(units, &evidence.sources, cues))
            .collect()
    }
}

/// The support of the first statements by one source.
#[derive(Clone, Copy, Default)]
struct Running {
    /// Number of statements with content.
    statements: usize,
    /// Number of those that are supported.
    supported: usize,
    /// Sum of the supports.
    sum: f64,
    /// The statement with the highest support, the first in case of a tie, and this support.
    best: Option<(usize, f64)>,
}

/// The statements compared with all sources of the context.
struct ComparedAnswer<'e, 'a> {
    evidence: &'e EvidenceUnits<'a>,
    statements: &'e Statements<'e>,
    supports: &'e [Option<ClaimSupport<'e>>],
    /// For each set of sources that one line cites, and each source of it: the support of the first n statements at index n.
    by_set: BTreeMap<(Vec<usize>, usize), Vec<Running>>,
    /// The first citation of a sentence that holds, for each source.
    held: BTreeMap<usize, usize>,
}

/// The citations of the answer, by sentence.
pub(super) fn lists(extraction: &Extraction) -> BTreeMap<Option<usize>, Vec<usize>> {
    let mut lists: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (number, citation) in checked(extraction.citations.iter().enumerate()) {
        if citation.scope == CitationScope::Answer {
            lists.entry(citation.sentence).or_default().push(number);
        }
    }
    lists
}

impl EvidenceUnits<'_> {
    /// Judges all citations of the answer. `lists` are those of each sentence, `supports` belong to the statements, and `judged` are the
    /// verdicts on the other citations.
    pub fn judge_lists<'r>(
        &self,
        extraction: &Extraction,
        lists: BTreeMap<Option<usize>, Vec<usize>>,
        statements: &Statements<'_>,
        supports: &[Option<ClaimSupport<'_>>],
        judged: &[(usize, Judgement)],
        resolved: impl Fn(&usize) -> Resolved<'r>,
    ) -> Vec<(usize, Judgement)> {
        if lists.is_empty() {
            return Vec::new();
        }
        let mut held: BTreeMap<usize, usize> = BTreeMap::new();
        for (number, judgement) in judged {
            let holds = judgement.status.holds() == Some(true);
            if let Some(source) = judgement.source.filter(|_| holds) {
                let first = held.entry(source).or_insert(*number);
                *first = (*first).min(*number);
            }
        }
        let mut answer = ComparedAnswer {
            evidence: self,
            statements,
            supports,
            by_set: BTreeMap::new(),
            held,
        };
        let mut verdicts = Vec::new();
        for citations in lists.into_values() {
            let citations: Vec<Resolved<'_>> = checked(&citations).map(&resolved).collect();
            let range = citations
                .first()
                .and_then(|(first, ..)| extraction.citations.get(*first))
                .map_or(0, |citation| extraction.statements_of(citation).end);
            verdicts.extend(answer.judge_list(&citations, range));
        }
        verdicts
    }
}

impl ComparedAnswer<'_, '_> {
    /// Judges the citations of one line by the first statements.
    fn judge_list(
        &mut self,
        citations: &[Resolved<'_>],
        statements: usize,
    ) -> Vec<(usize, Judgement)> {
        let meant: Vec<Option<usize>> = checked(citations)
            .map(|(.., resolution)| self.meant(resolution, statements))
            .collect();
        let cited: BTreeSet<usize> = meant.iter().copied().flatten().collect();
        let first = citations.first().map_or(0, |(number, ..)| *number);
        let whole = statements == self.supports.len();
        let mut findings = BTreeMap::new();
        for &source in &cited {
            let before = |number: &usize| whole || *number < first;
            let held = self.held.get(&source).is_some_and(before);
            findings.insert(source, self.finding(source, &cited, statements, held));
        }
        let judge = |(citation, meant): (&Resolved<'_>, Option<usize>)| {
            let (number, repaired, reference, resolution) = citation;
            let sources = self.evidence.evidence.sources;
            let mut judgement = match meant {
                Some(index) if sources[index].hidden => self.evidence.hidden(index),
                Some(index) => {
                    let (finding, answer) = findings.get(&index).cloned().flatten().unzip();
                    let pages = reference.position().pages;
                    let judgement = self.evidence.in_context(index, resolution, finding, pages);
                    Judgement {
                        answer,
                        ..judgement
                    }
                }
                None => self.outside_context(resolution, statements, reference),
            };
            judgement.repaired |= repaired;
            let mentions = matches!(reference, Reference::Mention { .. });
            if mentions && judgement.status.holds() == Some(true) {
                judgement.status = Status::Imprecise;
            }
            (*number, judgement)
        };
        checked(citations).zip(meant).map(judge).collect()
    }

    /// Returns the source that a resolution means: the one that supports a statement best; the first in case of a tie.
    fn meant(&mut self, resolution: &Resolution, statements: usize) -> Option<usize> {
        let Resolution::Context { sources, .. } = resolution else {
            return None;
        };
        if let [only] = sources[..] {
            return Some(only);
        }
        let mut support = |source: usize| {
            let running = self.running(source, &BTreeSet::from([source]), statements);
            running.best.map_or(0.0, |(_, support)| support)
        };
        let candidates = sources.iter().map(|&source| (source, support(source)));
        let best = candidates.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(source, _)| source)
    }

    /// The finding of the statement that the source supports best; `None` if no statement has content.
    fn finding(
        &mut self,
        source: usize,
        cited: &BTreeSet<usize>,
        statements: usize,
        held: bool,
    ) -> Option<(Finding, AnswerSupport)> {
        let running = self.running(source, cited, statements);
        let (best, _) = running.best?;
        let units = &self.evidence.sources[source];
        let mut parts = self.supports.get(best)?.as_ref()?.parts(source, units);
        parts.segment = Some(excerpt(self.statements.texts.get(best)?).into_owned());
        let finding = Finding {
            verdict: match running.supported > 0 || held {
                true => Verdict::Held,
                false => Verdict::Unsupported,
            },
            parts,
            quote: Quote::best(units, self.statements.units.get(best)?),
        };
        let count = running.statements as f64;
        let answer = AnswerSupport {
            statements: running.statements,
            supported: running.supported,
            share: running.supported as f64 / count,
            mean: running.sum / count,
        };
        Some((finding, answer))
    }

    /// Returns the support of the first statements by a source that is cited with others.
    fn running(&mut self, source: usize, cited: &BTreeSet<usize>, statements: usize) -> Running {
        let alone = self.by_set.len() >= MAX_JOINT;
        let mut key = (cited.iter().copied().collect(), source);
        if alone && !self.by_set.contains_key(&key) {
            key.0 = vec![source];
        }
        let rules = &self.evidence.evidence.rules;
        let supports = self.supports;
        let runs = self
            .by_set
            .entry(key)
            .or_insert_with_key(|(cited, source)| runs(supports, *source, cited, rules));
        runs.get(statements).copied().unwrap_or_default()
    }

    /// Judges a place outside the context by the statement that it supports best.
    fn outside_context(
        &self,
        resolution: &Resolution,
        statements: usize,
        reference: &Reference,
    ) -> Judgement {
        let outside = matches!(resolution, Resolution::OutsideContext { .. });
        let statements = self.statements.units.iter().take(match outside {
            true => statements.min(MAX_OUTSIDE),
            false => 0,
        });
        statements
            .zip(&self.statements.texts)
            .map(|(units, text)| {
                let mut judgement =
                    self.evidence
                        .outside_context(resolution, Some(units), reference);
                if let Some(parts) = &mut judgement.parts {
                    parts.segment = Some(excerpt(text).into_owned());
                }
                judgement
            })
            .reduce(|best, next| match next.support > best.support {
                true => next,
                false => best,
            })
            .unwrap_or_else(|| self.evidence.outside_context(resolution, None, reference))
    }
}

/// Returns the support of the first n statements by a source, at index n.
fn runs(
    supports: &[Option<ClaimSupport<'_>>],
    source: usize,
    cited: &[usize],
    rules: &SupportRules,
) -> Vec<Running> {
    let mut running = Running::default();
    let mut runs = Vec::with_capacity(supports.len() + 1);
    runs.push(running);
    for (number, support) in supports.iter().enumerate() {
        if let Some(support) = support {
            check_interrupt(cited.len());
            let alone = support.support(source);
            let enough = |source: &usize| support.support(*source) >= rules.threshold;
            // If one source of the line supports the statement, the others are not needed for it: one more word of a long
            // passage would otherwise be enough.
            let held = alone >= rules.threshold
                || !cited.iter().any(enough)
                    && support.verdict(source, &support.joint(cited), rules) == Verdict::Held;
            running.statements += 1;
            running.supported += usize::from(held);
            running.sum += alone;
            if running.best.is_none_or(|(_, best)| alone > best) {
                running.best = Some((number, alone));
            }
        }
        runs.push(running);
    }
    runs
}
