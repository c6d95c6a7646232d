//! Citations of the answer: `Sources: [A1], [B1]`, lists of references.
#![allow(clippy::unwrap_used)] // for the shared functions of tests

use std::time::{Duration, Instant};

use reground_citations::{CitationScope, Detail, Families, Judgement, Status, extract};

use crate::fixture::{context, judged_by, source, statuses};

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// The only citation of the answer that follows the text.
fn listed(answer: &str) -> Judgement {
    let (extraction, judged) = judged_by(answer, &context());
    let mut of_answer = extraction
        .citations
        .iter()
        .zip(judged)
        .filter(|(citation, _)| citation.scope == CitationScope::Answer);
    let (citation, judgement) = of_answer.next().unwrap();
    assert!(
        citation.claim.is_none() && of_answer.next().is_none(),
        "{answer}"
    );
    judgement
}

#[test]
fn a_source_that_supports_no_statement_does_not_hold() {
    for label in ["Citation:", "Sources:", "**Source:**"] {
        let judged = listed(&format!(
            "Quantum toasters hover above meadows.\n\n{label} [A1]"
        ));
        assert_eq!(
            (judged.status, judged.support),
            (Status::Unsupported, Some(0.0)),
            "{label}"
        );
        assert!(judged.best_other.is_none());
    }
    // Another source would be right, but nothing tells which statement this one was cited for.
    let judged = listed("Passwords expire after ninety days.\n\nSources: [A1]");
    assert_eq!(judged.status, Status::Unsupported);
}

#[test]
fn support_of_the_statements() {
    let judged = listed(
        "# Servers\n\nWhat is known? The server listens on port 5432. Quantum toasters hover. Backups take 90 minutes.\n\nSources: [A1]",
    );
    assert_eq!(
        (judged.status, judged.support),
        (Status::ResolvedCurrent, Some(1.0))
    );
    let answer = judged.answer.unwrap();
    // Three statements: the heading and the question state nothing.
    assert_eq!((answer.statements, answer.supported), (3, 1));
    assert!(
        near(answer.share, 1.0 / 3.0) && near(answer.mean, 1.0 / 3.0),
        "{answer:?}"
    );
    assert_eq!(
        judged.parts.unwrap().segment.as_deref(),
        Some("The server listens on port 5432.")
    );
    assert_eq!(
        judged.quote.unwrap().text,
        "The server listens on port 5432."
    );
}

#[test]
fn short_answers() {
    assert_eq!(
        listed("5432.\nSources: [A1]").status,
        Status::ResolvedCurrent
    );
    assert_eq!(listed("5433.\nSources: [A1]").status, Status::Unsupported);
    // Nothing can be compared.
    for empty in ["Yes.\nSources: [A1]", "Sources: [A1]"] {
        let judged = listed(empty);
        assert_eq!(
            (judged.status, judged.support),
            (Status::ResolvedCurrent, None)
        );
        assert!(judged.answer.is_none());
    }
}

#[test]
fn sources_of_one_line_support_a_statement_together() {
    let both = "Administrators open settings, backups nightly minutes.\n\nSources: [A1], [A2]";
    let (_, judged) = judged_by(both, &context());
    for judgement in &judged {
        assert_eq!(judgement.status, Status::ResolvedCurrent, "{judgement:?}");
        assert_eq!(judgement.detail, Some(Detail::HeldJointly));
        assert_eq!(judgement.answer.unwrap().supported, 1);
    }
    assert_eq!(
        statuses("The server listens on port 5432.\n\nSources: [A1], [B1]"),
        [Status::ResolvedCurrent, Status::Unsupported]
    );
    // A source that adds only a word to a statement that another one supports is not needed for it.
    assert_eq!(
        statuses("The server listens nightly on port 5432.\n\nSources: [A1], [A2]"),
        [Status::ResolvedCurrent, Status::Unsupported]
    );
    // A document with several passages: the passage that supports a statement is meant.
    let (_, judged) = judged_by(
        "Backups run nightly.\n\nSources: [Source: install.md]",
        &context(),
    );
    assert_eq!(
        (judged[0].source, judged[0].status),
        (Some(1), Status::ResolvedCurrent)
    );
}

/// An entry of a list repeats a citation. It holds if the citation in the text does.
#[test]
fn entries_of_reference_lists() {
    let spanning = "Administrators open settings, backups nightly minutes [A1][A2].";
    let list = "\n\n## References\n[A1] Installing the server\n[A2] Keeping backups\n";
    assert_eq!(
        statuses(&format!("{spanning}{list}")),
        [Status::ResolvedCurrent; 4]
    );
    assert_eq!(
        statuses(&format!(
            "Quantum toasters hover [A1]. Backups run nightly [A2].{list}"
        )),
        [
            Status::Unsupported,
            Status::ResolvedCurrent,
            Status::Unsupported,
            Status::ResolvedCurrent
        ]
    );
    // A later sentence does not help a list before it, because the verdict on a list is final when it ends.
    assert_eq!(
        statuses("Quantum toasters hover.\n\nSources: [A1]\n\nThe server listens on port 5432."),
        [Status::Unsupported]
    );
    // A list before all statements is judged by all.
    assert_eq!(
        statuses("Sources: [A1]\n\nQuantum toasters hover. The server listens on port 5432."),
        [Status::ResolvedCurrent]
    );
}

#[test]
fn documents_outside_the_context() {
    let by = |answer: &str| {
        let answer = format!("{answer}\n\nSources: [Source: faq.md, p. 5]");
        judged_by(&answer, &context()).1.remove(0).status
    };
    assert_eq!(
        by("Quantum toasters hover. Licences renew every spring."),
        Status::Unretrieved
    );
    assert_eq!(by("Quantum toasters hover."), Status::InvalidPage);
    assert_eq!(
        statuses("Quantum toasters hover.\n\nSources: [Z1]"),
        [Status::UnknownId]
    );
}

#[test]
fn hidden_sources_are_not_compared() {
    let mut sources = context();
    sources[2] = sources[2].clone().hide();
    let answer = "Passwords expire after ninety days.\n\nSources: [B1]";
    let judged = judged_by(answer, &sources).1.remove(0);
    assert_eq!(
        (judged.status, judged.support),
        (Status::Unresolvable, None)
    );
    assert!(judged.answer.is_none() && judged.parts.is_none());
}

/// The verdicts equal those of a plain reading: the best of the statements before the list, one by one.
#[test]
fn many_lists_are_judged_in_linear_time() {
    let sources: Vec<_> = (0..10)
        .map(|n| {
            let text = format!(
                "Server number {n} listens on port {}. It has {n} disks.",
                5000 + n
            );
            source(&format!("S{n}"), &format!("{n}.md"), None, &text)
        })
        .collect();
    let mut answer = String::new();
    for n in 0..2_000 {
        let port = 5000 + n % 13;
        answer += &format!(
            "Fact {n}: the server listens on port {port}.\n\nSources: [S{}], [S{}]\n\n",
            n % 10,
            (n * 7) % 10
        );
    }
    let begun = Instant::now();
    let (extraction, judged) = judged_by(&answer, &sources);
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(
        extraction.statements.len(),
        reground_citations::MAX_STATEMENTS
    );
    for (citation, judgement) in extraction.citations.iter().zip(&judged).take(60) {
        let statements = &extraction.statements[extraction.statements_of(citation)];
        let marker = &judgement.place.as_ref().unwrap().doc_id;
        let own = &sources.iter().find(|s| s.doc_id == *marker).unwrap().marker;
        let alone = statements.iter().map(|statement| {
            let text = statement.text.trim_end_matches('.');
            let (_, judged) = judged_by(&format!("{text} [{own}]."), &sources);
            judged[0].support.unwrap()
        });
        let alone: Vec<f64> = alone.collect();
        let best = alone.iter().copied().fold(0.0, f64::max);
        assert!(near(judgement.support.unwrap(), best));
        let mean = alone.iter().sum::<f64>() / alone.len() as f64;
        assert!(near(judgement.answer.unwrap().mean, mean));
    }
}

#[test]
fn sentences_of_code_and_lists_state_nothing() {
    let extraction = extract(
        "It is so. Why? These are it:\n\n```\nPorts are open.\n```\n\nReferences\n[A1] Ports are closed.\n",
        &Families::ALL,
    );
    let texts: Vec<&str> = extraction
        .statements
        .iter()
        .map(|s| s.text.as_str())
        .collect();
    assert_eq!(texts, ["It is so."]);
    assert!(
        extract("It is so [A1].", &Families::ALL)
            .statements
            .is_empty()
    );
}
