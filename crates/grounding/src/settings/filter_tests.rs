//! Tests of filters.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn kind(column: &str) -> ColumnKind {
    match column {
        "meta" => ColumnKind::Json,
        "tags" => ColumnKind::Array,
        _ => ColumnKind::Scalar,
    }
}

fn read(filter: &Value) -> Result<Tree, GroundingError> {
    parse(filter, kind)
}

fn column(column: &str, test: Test) -> Tree {
    Tree::Column(Condition {
        column: column.into(),
        test,
    })
}

fn not(tree: Tree) -> Tree {
    Tree::Not(Box::new(Tree::All(vec![tree])))
}

#[test]
fn every_form_is_parsed() {
    let equal = |value: &str| Test::Compare(Comparison::Equal, value.into());
    let texts = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    for (filter, expected) in [
        (json!({"lang": "en"}), vec![column("lang", equal("en"))]),
        (json!({"open": true}), vec![column("open", equal("true"))]),
        (
            json!({"kind": ["a", 2]}),
            vec![column("kind", Test::AnyOf(texts(&["a", "2"])))],
        ),
        (
            json!({"kind": {"any": ["a"]}}),
            vec![column("kind", Test::AnyOf(texts(&["a"])))],
        ),
        (
            json!({"retired": null}),
            vec![column("retired", Test::IsNull)],
        ),
        (
            json!({"tags": "a"}),
            vec![column("tags", Test::HasAll(texts(&["a"])))],
        ),
        (
            json!({"tags": ["a", "b"]}),
            vec![column("tags", Test::Overlaps(texts(&["a", "b"])))],
        ),
        (
            json!({"tags": {"any": ["a"]}}),
            vec![column("tags", Test::Overlaps(texts(&["a"])))],
        ),
        (
            json!({"tags": {"all": ["a", "b"]}}),
            vec![column("tags", Test::HasAll(texts(&["a", "b"])))],
        ),
        (
            json!({"lang": {"not": "en"}}),
            vec![not(column("lang", equal("en")))],
        ),
        (
            json!({"tags": {"not": {"all": ["a"]}}}),
            vec![not(column("tags", Test::HasAll(texts(&["a"]))))],
        ),
        (
            json!({"year": {"<": 2024, ">=": 2020}}),
            vec![
                column("year", Test::Compare(Comparison::Less, "2024".into())),
                column(
                    "year",
                    Test::Compare(Comparison::GreaterOrEqual, "2020".into()),
                ),
            ],
        ),
        (
            json!({"$or": [{"lang": "en"}, {}]}),
            vec![Tree::Any(vec![
                Tree::All(vec![column("lang", equal("en"))]),
                Tree::All(vec![]),
            ])],
        ),
        (
            json!({"$not": {"lang": "en"}}),
            vec![not(column("lang", equal("en")))],
        ),
    ] {
        assert_eq!(read(&filter).unwrap(), Tree::All(expected), "{filter}");
    }
}

#[test]
fn operators_follow_members_of_a_jsonb_column() {
    for (filter, expected) in [
        (
            json!({"meta": {"a": {"b": 1}, "any": 2}}),
            vec![column(
                "meta",
                Test::Contains(json!({"a": {"b": 1}, "any": 2})),
            )],
        ),
        (
            json!({"meta": {"a": {"b": {"any": [1, "x"]}}, "c": true}}),
            vec![
                Tree::Any(vec![
                    column("meta", Test::Contains(json!({"a": {"b": 1}}))),
                    column("meta", Test::Contains(json!({"a": {"b": [1]}}))),
                    column("meta", Test::Contains(json!({"a": {"b": "x"}}))),
                    column("meta", Test::Contains(json!({"a": {"b": ["x"]}}))),
                ]),
                column("meta", Test::Contains(json!({"c": true}))),
            ],
        ),
        (
            json!({"meta": {"tags": {"all": ["a", "b"]}}}),
            vec![Tree::All(vec![column(
                "meta",
                Test::Contains(json!({"tags": ["a", "b"]})),
            )])],
        ),
        (
            json!({"meta": {"not": {"a": {">=": 2}}}}),
            vec![not(Tree::All(vec![column(
                "meta",
                Test::Member(vec!["a".into()], Comparison::GreaterOrEqual, json!(2)),
            )]))],
        ),
        (
            json!({"meta": {"a": {"not": null}}}),
            vec![not(column("meta", Test::Contains(json!({"a": null}))))],
        ),
        (
            json!({"meta": {"not": null}}),
            vec![not(column("meta", Test::IsNull))],
        ),
    ] {
        assert_eq!(read(&filter).unwrap(), Tree::All(expected), "{filter}");
    }
}

#[test]
fn invalid_filters_are_errors() {
    for filter in [
        json!([1]),
        json!("x"),
        json!({"a": {}}),
        json!({"a": {"like": "x"}}),
        json!({"a": [[1]]}),
        json!({"a": {"=": null}}),
        json!({"a": {"all": ["x"]}}),
        json!({"a": {"any": "x"}}),
        json!({"tags": {"any": [null]}}),
        json!({"tags": {"all": "x"}}),
        json!({"$or": []}),
        json!({"$or": {"a": 1}}),
        json!({"$or": [1]}),
        json!({"$not": [{"a": 1}]}),
    ] {
        assert!(read(&filter).is_err(), "{filter}");
    }
}

#[test]
fn depth_and_number_are_limited() {
    let nested = |depth: usize| (1..depth).fold(json!({}), |inner, _| json!({"$not": inner}));
    assert!(read(&nested(MAX_DEPTH)).is_ok());
    assert!(read(&nested(MAX_DEPTH + 1)).is_err());
    let of_column = (0..MAX_DEPTH).fold(json!("x"), |inner, _| json!({"not": inner}));
    assert!(read(&json!({"a": of_column})).is_err());
    let many = |count: usize| json!({"$or": vec![json!({"a": 1}); count]});
    assert!(read(&many(MAX_CONDITIONS)).is_ok());
    assert!(read(&many(MAX_CONDITIONS + 1)).is_err());
}

/// A row of the tests: a nullable number and a nullable array.
type Row = (Option<i64>, Option<Vec<String>>);

/// Evaluates a parsed filter. NULL counts as false.
fn holds(tree: &Tree, row: &Row) -> bool {
    match tree {
        Tree::All(parts) => parts.iter().all(|part| holds(part, row)),
        Tree::Any(parts) => parts.iter().any(|part| holds(part, row)),
        Tree::Not(part) => !holds(part, row),
        Tree::Column(Condition { column, test }) => match (column.as_str(), test) {
            ("n", Test::IsNull) => row.0.is_none(),
            ("tags", Test::IsNull) => row.1.is_none(),
            ("n", Test::Compare(comparison, value)) => row.0.is_some_and(|n| {
                let value = value.parse::<i64>().unwrap();
                match comparison {
                    Comparison::Equal => n == value,
                    Comparison::NotEqual => n != value,
                    Comparison::Less => n < value,
                    Comparison::LessOrEqual => n <= value,
                    Comparison::Greater => n > value,
                    Comparison::GreaterOrEqual => n >= value,
                }
            }),
            ("n", Test::AnyOf(values)) => row.0.is_some_and(|n| values.contains(&n.to_string())),
            ("tags", Test::Overlaps(values)) => {
                (row.1.as_ref()).is_some_and(|tags| values.iter().any(|value| tags.contains(value)))
            }
            ("tags", Test::HasAll(values)) => {
                (row.1.as_ref()).is_some_and(|tags| values.iter().all(|value| tags.contains(value)))
            }
            other => panic!("{other:?}"),
        },
    }
}

/// Evaluates the JSON of a filter without parsing it into a tree.
fn means(filter: &Value, row: &Row) -> bool {
    filter
        .as_object()
        .unwrap()
        .iter()
        .all(|(name, value)| match name.as_str() {
            "$or" => value
                .as_array()
                .unwrap()
                .iter()
                .any(|part| means(part, row)),
            "$not" => !means(value, row),
            column => column_means(column, value, row),
        })
}

fn column_means(column: &str, value: &Value, row: &Row) -> bool {
    let present: Option<Vec<Value>> = match column {
        "n" => row.0.map(|n| vec![json!(n)]),
        _ => row
            .1
            .as_ref()
            .map(|tags| tags.iter().map(|tag| json!(tag)).collect()),
    };
    let has = |value: &Value| present.as_ref().is_some_and(|own| own.contains(value));
    match value {
        Value::Null => present.is_none(),
        Value::Array(values) => values.iter().any(has),
        Value::Object(operators) => {
            operators
                .iter()
                .all(|(operator, operand)| match operator.as_str() {
                    "not" => !column_means(column, operand, row),
                    "any" => operand.as_array().unwrap().iter().any(has),
                    "all" => present.is_some() && operand.as_array().unwrap().iter().all(has),
                    ">=" => row.0.is_some_and(|n| n >= operand.as_i64().unwrap()),
                    "<" => row.0.is_some_and(|n| n < operand.as_i64().unwrap()),
                    _ => row.0.is_some_and(|n| n != operand.as_i64().unwrap()),
                })
        }
        value => has(value),
    }
}

fn filters() -> impl Strategy<Value = Value> {
    let tags = || proptest::collection::vec("[a-c]", 0..3);
    let condition = prop_oneof![
        (0i64..4).prop_map(|n| json!({"n": n})),
        proptest::collection::vec(0i64..4, 0..3).prop_map(|list| json!({"n": list})),
        (0i64..4, 0i64..4).prop_map(|(from, to)| json!({"n": {">=": from, "<": to}})),
        (0i64..4).prop_map(|n| json!({"n": {"not": {"<>": n}}})),
        Just(json!({"tags": null})),
        "[a-c]".prop_map(|tag| json!({"tags": tag})),
        tags().prop_map(|list| json!({"tags": list})),
        tags().prop_map(|list| json!({"tags": {"any": list}})),
        tags().prop_map(|list| json!({"tags": {"all": list}})),
        tags().prop_map(|list| json!({"tags": {"not": list}})),
    ];
    condition.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..3).prop_map(|list| json!({"$or": list})),
            inner.clone().prop_map(|filter| json!({"$not": filter})),
            (inner, 0i64..4).prop_map(|(filter, n)| json!({"$not": filter, "n": {"<": n}})),
        ]
    })
}

proptest! {
    #[test]
    fn a_tree_means_what_the_filter_says(
        filter in filters(),
        n in proptest::option::of(0i64..4),
        tags in proptest::option::of(proptest::collection::vec("[a-c]", 0..3)),
    ) {
        let row = (n, tags);
        prop_assert_eq!(holds(&read(&filter).unwrap(), &row), means(&filter, &row));
    }
}
