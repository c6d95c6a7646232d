use super::*;
use proptest::prelude::*;

fn figure(name: &str, value: f64, margin: f64) -> Figure {
    Figure {
        name: name.into(),
        value,
        margin,
    }
}

fn floors(floors: &[(&str, f64)]) -> ByName {
    floors
        .iter()
        .map(|&(name, floor)| (name.to_owned(), floor))
        .collect()
}

#[test]
fn figures_below_their_floors_and_missing_figures_are_reported() {
    let floors = floors(&[("a", 0.5), ("b", 0.5), ("gone", 0.1)]);
    let figures = [
        figure("a", 0.5, 0.0),
        figure("b", 0.4999, 0.0),
        figure("new", 0.0, 0.0),
    ];
    let below = below(&floors, &figures);
    let named: Vec<_> = below
        .iter()
        .map(|one| (&*one.name, one.floor, one.measured))
        .collect();
    assert_eq!(named, [("b", 0.5, Some(0.4999)), ("gone", 0.1, None)]);
}

#[test]
fn floors_rise_to_the_measured_value_minus_its_margin_and_never_fall() {
    let floors = floors(&[("higher", 0.3), ("lower", 0.5), ("within", 0.395)]);
    let figures = [
        figure("higher", 0.41239, 0.0),
        figure("lower", 0.4, 0.0),
        figure("within", 0.4, 0.005),
        figure("new", 0.001, 0.01),
    ];
    let raised = raised(&floors, &figures);
    let named: Vec<_> = raised
        .iter()
        .map(|one| (&*one.name, one.from, one.to))
        .collect();
    assert_eq!(named, [("higher", Some(0.3), 0.4123), ("new", None, 0.0)]);
}

#[test]
fn the_file_contains_shares_and_no_unknown_fields() {
    let kept = parse(r#"{"full": {"a": 0.25}, "sample": {}}"#).unwrap();
    assert_eq!(kept.full, floors(&[("a", 0.25)]));
    assert_eq!(
        parse(&serde_json::to_string_pretty(&kept).unwrap()).unwrap(),
        kept
    );
    for wrong in [
        r#"{"full": {"a": 25}, "sample": {}}"#,
        r#"{"full": {}}"#,
        r#"{"full": {}, "sample": {}, "rest": {}}"#,
    ] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

proptest! {
    /// A run never fails the floors that it raised, for any earlier floors.
    #[test]
    fn a_run_passes_the_floors_that_it_sets(
        values in prop::collection::vec((0.0..=1.0_f64, 0.0..0.02_f64), 1..8),
        before in prop::collection::vec(0.0..=1.0_f64, 0..8),
    ) {
        let name = |n: usize| format!("figure {n}");
        let figures: Vec<Figure> = values.iter().enumerate()
            .map(|(n, &(value, margin))| figure(&name(n), value, margin))
            .collect();
        let mut floors: ByName = before.iter().enumerate()
            .filter(|(n, floor)| values.get(*n).is_some_and(|(value, _)| **floor <= *value))
            .map(|(n, &floor)| (name(n), floor))
            .collect();
        let raised = raised(&floors, &figures);
        for one in &raised {
            prop_assert!(one.from.is_none_or(|from| from < one.to));
        }
        floors.extend(raised.into_iter().map(|one| (one.name, one.to)));
        prop_assert_eq!(below(&floors, &figures), []);
        prop_assert_eq!(super::raised(&floors, &figures), []);
    }
}
