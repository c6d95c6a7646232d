//! Metrics of an answer from the literature, with textual support in place of an entailment model.

use std::collections::BTreeSet;

use reground_citations::{
    Cues, Extraction, Judgement, Lexemes, Source, SupportRules, Text, support,
};
use reground_metrics::trec_rag::{Support, Weighting};
use reground_metrics::{Ratio, alce, claims, context, references, trec_rag};
use serde::Serialize;

/// A metric of one answer. Metrics of several answers are combined as the sum of the numerators over the sum of the
/// denominators.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnswerMetric {
    /// Its name.
    pub metric: &'static str,
    /// The numerator.
    pub numerator: f64,
    /// The denominator: the number of items that can each count 1.
    pub denominator: u64,
    /// Numerator over denominator; `None` if the denominator is 0.
    pub value: Option<f64>,
}

/// A judged answer, with the lexemes of its sentences.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The parsed answer.
    pub extraction: &'a Extraction,
    /// The judgement on each citation.
    pub judgements: &'a [Judgement],
    /// The context.
    pub sources: &'a [Source],
    /// The result of [`statements`], in the order of the sentences.
    pub statements: &'a [String],
    /// The lexemes of each statement.
    pub lexemes: &'a [Lexemes],
    /// The words for negation and the number formats of the language.
    pub cues: &'a Cues,
    /// The thresholds of support.
    pub rules: SupportRules,
}

/// The statement of each sentence: its text without citations.
pub fn statements(answer: &str, extraction: &Extraction) -> Vec<String> {
    let sentences = extraction.sentences.iter();
    let mut statements: Vec<String> = sentences
        .map(|sentence| answer.get(sentence.clone()).unwrap_or_default().to_owned())
        .collect();
    for claim in extraction.claims.iter().rev() {
        if let Some(statement) = statements.get_mut(claim.sentence) {
            statement.clone_from(&claim.text);
        }
    }
    statements
}

/// All metrics, in a fixed order.
///
/// A set of passages entails a sentence if its support reaches the threshold of the rules. One passage then supports it
/// fully, and partly from half of the threshold.
pub fn answer_metrics(answer: &Answer<'_>) -> Vec<AnswerMetric> {
    let sentences: Vec<Sentence> = (0..answer.statements.len())
        .map(|number| answer.sentence(number))
        .collect();
    let alce: Vec<alce::Sentence> = sentences.iter().map(|s| s.alce.clone()).collect();
    let trec: Vec<&[Support]> = sentences.iter().map(|s| s.trec.as_slice()).collect();
    let cited = || {
        answer
            .judgements
            .iter()
            .filter_map(|judgement| judgement.source)
    };
    let carried = (0..answer.sources.len()).filter(|&source| answer.sources[source].carried);
    let statuses = answer.judgements.iter().map(|judgement| judgement.status);
    let stating = || sentences.iter().filter(|sentence| sentence.states);
    let rows = [
        (
            "reference_validity",
            references::validity(statuses, |status| {
                status.score().is_some_and(|score| score > 0.0)
            })
            .ratio,
        ),
        (
            "citation_coverage",
            references::coverage(sentences.iter().map(|sentence| references::Sentence {
                needs_citation: sentence.states,
                is_cited: sentence.cited,
            })),
        ),
        ("alce_citation_recall", alce::recall(&alce)),
        ("alce_citation_precision", alce::precision(&alce)),
        (
            "trec_weighted_precision",
            trec_rag::precision(&trec, Weighting::Weighted),
        ),
        (
            "trec_weighted_recall",
            trec_rag::recall(&trec, Weighting::Weighted),
        ),
        (
            "trec_hard_precision",
            trec_rag::precision(&trec, Weighting::Hard),
        ),
        ("trec_hard_recall", trec_rag::recall(&trec, Weighting::Hard)),
        (
            "all_citations_precision",
            trec_rag::all_citations_precision(&trec, Weighting::Weighted),
        ),
        (
            "all_citations_recall",
            trec_rag::all_citations_recall(&trec, Weighting::Weighted),
        ),
        (
            "faithfulness",
            claims::faithfulness(stating().map(|sentence| sentence.in_context)),
        ),
        (
            "context_utilisation",
            context::utilisation(cited(), 0..answer.sources.len()),
        ),
        (
            "carry_over_hit_rate",
            context::carry_over_hit_rate(cited(), carried),
        ),
    ];
    rows.into_iter()
        .map(|(metric, ratio): (_, Ratio)| AnswerMetric {
            metric,
            numerator: ratio.numerator,
            denominator: ratio.denominator,
            value: ratio.value(),
        })
        .collect()
}

/// A sentence as the metrics need it.
struct Sentence {
    /// Whether it makes a statement that needs a source. Headings, questions and announcements do not.
    states: bool,
    cited: bool,
    /// Whether the context as a whole entails it.
    in_context: bool,
    alce: alce::Sentence,
    trec: Vec<Support>,
}

impl Answer<'_> {
    fn sentence(&self, number: usize) -> Sentence {
        let citations: Vec<&Judgement> = self
            .extraction
            .citations
            .iter()
            .zip(self.judgements)
            .filter(|(citation, _)| citation.sentence == Some(number) && citation.claim.is_some())
            .map(|(_, judgement)| judgement)
            .collect();
        let sources: Vec<Option<usize>> =
            citations.iter().map(|judgement| judgement.source).collect();
        let distinct: BTreeSet<usize> = sources.iter().copied().flatten().collect();
        let alone = |source: Option<usize>| {
            source.map_or(0.0, |source| self.support(number, [source].into()))
        };
        let entails = |set: BTreeSet<usize>| self.support(number, set) >= self.rules.threshold;
        Sentence {
            states: self.states(number),
            cited: !citations.is_empty(),
            in_context: entails((0..self.sources.len()).collect()),
            alce: alce::Sentence {
                joint: entails(distinct.clone()),
                citations: sources
                    .iter()
                    .map(|&source| alce::Citation {
                        in_range: source.is_some(),
                        alone: alone(source) >= self.rules.threshold,
                        others: {
                            let mut others = distinct.clone();
                            if let Some(source) = source {
                                others.remove(&source);
                            }
                            entails(others)
                        },
                    })
                    .collect(),
            },
            trec: sources
                .iter()
                .map(|&source| match alone(source) {
                    support if support >= self.rules.threshold => Support::Full,
                    support if support >= self.rules.threshold / 2.0 => Support::Partial,
                    _ => Support::None,
                })
                .collect(),
        }
    }

    fn states(&self, number: usize) -> bool {
        let statement = self.statements[number].trim();
        let content = self.lexemes.get(number).is_some_and(|own| !own.is_empty());
        content && !statement.starts_with('#') && !statement.ends_with(['?', '？', ':', '：'])
    }

    /// Support of a sentence by a set of sources together; 0 for an empty set.
    fn support(&self, number: usize, set: BTreeSet<usize>) -> f64 {
        let Some(lexemes) = self.lexemes.get(number) else {
            return 0.0;
        };
        let claim = Text {
            text: &self.statements[number],
            lexemes,
        };
        let texts: Vec<Text<'_>> = set
            .into_iter()
            .filter_map(|source| self.sources.get(source))
            .map(|source| Text {
                text: &source.content,
                lexemes: &source.lexemes,
            })
            .collect();
        if texts.is_empty() {
            return 0.0;
        }
        support(claim, &texts, self.cues).map_or(0.0, |parts| parts.support)
    }
}

#[cfg(test)]
#[path = "answer_metrics_tests.rs"]
mod tests;
