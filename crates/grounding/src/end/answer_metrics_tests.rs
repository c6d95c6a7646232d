use std::collections::BTreeMap;

use reground_citations::{Cues, Evidence, Families, Lexemes, Source, SupportRules, extract, judge};

use super::{Answer, answer_metrics, statements};

fn lexemes(text: &str) -> Lexemes {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| word.len() > 2).map(str::to_lowercase);
    Lexemes::of(text, words)
}

fn source(ordinal: u32, carried: bool, text: &str) -> Source {
    Source {
        marker: format!("A{ordinal}"),
        ordinal: Some(ordinal),
        doc_id: format!("d{ordinal}"),
        chunk_id: ordinal.to_string(),
        carried,
        content: text.to_owned(),
        lexemes: lexemes(text),
        ..Source::default()
    }
}

/// Each metric of an answer with three sources, the last one carried, as (numerator, denominator).
fn measured(answer: &str) -> BTreeMap<&'static str, (f64, u64)> {
    let sources = [
        source(1, false, "Cows give milk every day."),
        source(2, false, "Sheep give wool every year."),
        source(3, true, "Goats climb trees in Morocco."),
    ];
    let rules = SupportRules {
        threshold: 0.5,
        other_source_margin: 0.2,
    };
    let cues = Cues::built_in("en");
    let extraction = extract(answer, &Families::ALL);
    let claims: Vec<Lexemes> = extraction.claims.iter().map(|c| lexemes(&c.text)).collect();
    let judgements = judge(
        &extraction,
        &Evidence {
            sources: &sources,
            known: &[],
            named: &[],
            claims: &claims,
            cues: &cues,
            rules,
        },
    )
    .unwrap();
    let statements = statements(answer, &extraction);
    let lexemes: Vec<Lexemes> = statements.iter().map(|s| lexemes(s)).collect();
    answer_metrics(&Answer {
        extraction: &extraction,
        judgements: &judgements,
        sources: &sources,
        statements: &statements,
        lexemes: &lexemes,
        cues: &cues,
        rules,
    })
    .into_iter()
    .map(|row| (row.metric, (row.numerator, row.denominator)))
    .collect()
}

#[test]
fn metrics_equal_hand_computed_values() {
    // Correct; wrong source; correct with a superfluous citation; uncited; a question; unknown source.
    let of = measured(
        "Cows give milk every day [1]. Sheep give wool every year [1]. Goats climb trees in Morocco [2][3]. \
         Cows give milk. Is that so? Pigs fly backwards [9].",
    );
    assert_eq!(of["reference_validity"], (4.0, 5));
    // The question needs no citation.
    assert_eq!(of["citation_coverage"], (4.0, 5));
    // Of six sentences the first and the third are entailed by their citations; [9] is out of range.
    assert_eq!(of["alce_citation_recall"], (2.0, 6));
    // [1], not the second [1], not [2], [3]; the sentence of [9] is not counted.
    assert_eq!(of["alce_citation_precision"], (2.0, 4));
    // First citations: full, none, none, none.
    assert_eq!(of["trec_hard_precision"], (1.0, 4));
    assert_eq!(of["trec_hard_recall"], (1.0, 6));
    // The second source shares half of the words of the second sentence.
    assert_eq!(of["all_citations_recall"], (2.5, 6));
    assert_eq!(of["faithfulness"], (4.0, 5));
    assert_eq!(of["context_utilisation"], (3.0, 3));
    assert_eq!(of["carry_over_hit_rate"], (1.0, 1));
}

#[test]
fn metrics_of_an_empty_answer_are_null() {
    let of = measured("Why?");
    assert_eq!(of["reference_validity"], (0.0, 0));
    assert_eq!(of["citation_coverage"], (0.0, 0));
    assert_eq!(of["faithfulness"], (0.0, 0));
    assert_eq!(of["carry_over_hit_rate"], (0.0, 1));
}
