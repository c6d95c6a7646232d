//! Text measures: published values, cases computed by hand, and bounds.

use proptest::prelude::*;
use reground_metrics::rouge::rouge_l;
use reground_metrics::squad::{exact_match, token_f1};

#[test]
fn rouge_l_equals_published_figures() {
    // Lin 2004, section 3.1.
    let reference = "police killed the gunman";
    for (text, published) in [
        ("police kill the gunman", 0.75),
        ("the gunman kill police", 0.5),
        ("the gunman police killed", 0.5),
    ] {
        let found = rouge_l(text, reference).unwrap();
        assert_eq!(
            (found.precision, found.recall, found.f1),
            (published, published, published)
        );
    }
    // The example of rouge_score's documentation: the common words are "the quick brown … jumps … the".
    let found = rouge_l(
        "The quick brown dog jumps on the log.",
        "The quick brown fox jumps over the lazy dog",
    )
    .unwrap();
    assert_eq!((found.precision, found.recall), (5.0 / 8.0, 5.0 / 9.0));
    assert_eq!(found.f1, 10.0 / 17.0);
}

#[test]
fn rouge_l_of_empty_texts() {
    let found = rouge_l("?!", "words").unwrap();
    assert_eq!((found.precision, found.recall, found.f1), (0.0, 0.0, 0.0));
    assert_eq!(rouge_l("words", "—"), None);
}

#[test]
fn squad_measures_computed_by_hand() {
    assert!(exact_match("The Eiffel Tower!", "eiffel  tower"));
    assert!(!exact_match("tower eiffel", "eiffel tower"));
    assert_eq!(token_f1("tower eiffel", "eiffel tower"), 1.0);
    // 2 of 3 and 2 of 4 tokens are shared.
    assert_eq!(
        token_f1("in the rye field", "rye of the field of barley"),
        4.0 / 8.0
    );
    // A token counts as often as both texts contain it.
    assert_eq!(token_f1("rye rye rye", "rye"), 0.5);
    assert_eq!(token_f1("no", "yes"), 0.0);
    assert_eq!((token_f1("", "The."), exact_match("", "The.")), (1.0, true));
    assert_eq!((token_f1("rye", ""), exact_match("rye", "")), (0.0, false));
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(
            prop::sample::select(vec![
                "rye", "The", "a", "Field,", "b.", "été", "字", "—", "x-y"
            ]),
            0..12
        )
        .prop_map(|words| words.join(" ")),
        any::<String>(),
    ]
}

proptest! {
    #[test]
    fn values_are_bounded_and_f1_is_symmetric(one in text(), other in text()) {
        let f1 = token_f1(&one, &other);
        prop_assert!((0.0..=1.0).contains(&f1));
        prop_assert_eq!(token_f1(&other, &one), f1);
        prop_assert_eq!(exact_match(&other, &one), exact_match(&one, &other));
        // Equal answers have the same tokens. The converse fails when the order differs.
        prop_assert!(f1 == 1.0 || !exact_match(&one, &other));
        if let (Some(there), Some(back)) = (rouge_l(&one, &other), rouge_l(&other, &one)) {
            prop_assert!([there.precision, there.recall, there.f1].iter().all(|value| (0.0..=1.0).contains(value)));
            prop_assert_eq!((back.precision, back.recall, back.f1), (there.recall, there.precision, there.f1));
        }
    }

    #[test]
    fn a_text_matches_itself_in_any_case_and_spacing(text in text()) {
        let spaced = format!(" {} \n", text.to_uppercase().to_lowercase().replace(' ', "  "));
        let plain = text.to_uppercase().to_lowercase();
        prop_assert!(exact_match(&plain, &spaced));
        prop_assert_eq!(token_f1(&plain, &spaced), 1.0);
        prop_assert!(rouge_l(&plain, &spaced).is_none_or(|found| found.f1 == 1.0));
    }
}
