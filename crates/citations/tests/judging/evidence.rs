//! Requests and evidence for judging.

use proptest::prelude::*;
use reground_citations::{
    Cues, Error, Evidence, Families, KnownMarker, Status, extract, judge, registry_names,
};

use crate::fixture::{RULES, context, judged_by, judged_knowing, known};

proptest! {
    #[test]
    fn markers_that_the_answer_does_not_name_have_no_effect(
        cites in prop::collection::vec(
            prop::sample::select(vec![
                "[A1]", "[a2]", "[B1]", "[C9]", "[C9, p. 4]", "[C9, C10; B7]", "[3]", "[12]", "[^C9]", "(C10)", "[old.md]", "[old.md, p. 2]",
                "(Source: old.md)", "[install.md, p. 9]", "[b.md]", "[C9](old.md)", "<cite id=\"C10\">so</cite>", "[faq.md, p. 5]", "[old]",
                "\u{3010}C9\u{3011}", "[c10]",
            ]),
            0..6,
        ),
        numbers in prop::collection::vec((1u32..20, 0usize..4), 0..30),
    ) {
        let answer: String = cites.iter().map(|cite| format!("Licences renew every spring {cite}. ")).collect();
        let extraction = extract(&answer, &Families::ALL);
        let documents = ["old.md", "b.md", "install.md", "faq.md"];
        let registry: Vec<KnownMarker> = known().into_iter().chain(numbers.into_iter().map(|(number, document)| KnownMarker {
            marker: if document < 2 { format!("C{number}") } else { number.to_string() },
            corpus: "manual".to_owned(),
            doc_id: documents[document].to_owned(),
            chunk_id: format!("{number}"),
            pages: None,
            replaced: false,
        })).collect();
        let names = registry_names(&extraction);
        let named: Vec<KnownMarker> = registry.iter().filter(|row| names.contains(&row.marker) || names.contains(&row.doc_id)).cloned().collect();
        let all = judged_knowing(&extraction, &context(), &registry);
        prop_assert_eq!(judged_knowing(&extraction, &context(), &named), all);
    }
}

#[test]
fn evidence_of_the_wrong_length_is_an_error() {
    let extraction = extract("It is so [A1].", &Families::ALL);
    let evidence = Evidence {
        sources: &[],
        known: &[],
        named: &[],
        claims: &[],
        rules: RULES,
        cues: &Cues::LANGUAGE_FREE,
    };
    assert_eq!(
        judge(&extraction, &evidence),
        Err(Error::ClaimLexemes {
            claims: 1,
            given: 0
        })
    );
}

#[test]
fn ten_thousand_markers_are_judged() {
    let answer: String = (0..10_000)
        .map(|n| format!("Fact {n} about servers [A{}]. ", n % 3))
        .collect();
    let (_, judged) = judged_by(&answer, &context());
    assert_eq!(judged.len(), 10_000);
    let unknown = judged
        .iter()
        .filter(|j| j.status == Status::UnknownId)
        .count();
    assert_eq!(unknown, 3_334);
}
