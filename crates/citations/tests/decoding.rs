//! Grammars for constrained decoding, checked with an independent matcher, regex engine and schema check.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests are tests"
)]

use proptest::prelude::*;
use regex::Regex;
use reground_citations::{
    Families, GrammarFormat, InvalidMarker, Reference, citation_grammar, extract,
};
use serde_json::{Value, json};

/// A matcher for the part of GBNF that these grammars use: literals, classes, groups, alternatives, `*` and `?`. It
/// keeps the set of all reachable positions.
mod gbnf {
    use std::collections::{BTreeMap, BTreeSet};

    pub struct Grammar(BTreeMap<String, Node>);

    enum Node {
        Literal(Vec<char>),
        Class { negated: bool, members: Vec<char> },
        Rule(String),
        Sequence(Vec<Node>),
        Choice(Vec<Node>),
        Repeat { of: Box<Node>, most: usize },
    }

    type Positions = BTreeSet<usize>;

    impl Grammar {
        pub fn parse(text: &str) -> Self {
            let rules = text.lines().map(|line| {
                let (name, body) = line.split_once(" ::= ").unwrap();
                let mut rest: Vec<char> = body.chars().rev().collect();
                let node = choice(&mut rest);
                assert!(rest.is_empty(), "left over: {rest:?}");
                (name.to_owned(), node)
            });
            Self(rules.collect())
        }

        pub fn admits(&self, text: &str) -> bool {
            let text: Vec<char> = text.chars().collect();
            self.step(&self.0["root"], &text, Positions::from([0]))
                .contains(&text.len())
        }

        fn step(&self, node: &Node, text: &[char], from: Positions) -> Positions {
            match node {
                Node::Literal(literal) => {
                    let fits = |at: &usize| text[*at..].starts_with(literal);
                    from.into_iter()
                        .filter(fits)
                        .map(|at| at + literal.len())
                        .collect()
                }
                Node::Class { negated, members } => {
                    let fits = |at: &usize| {
                        text.get(*at)
                            .is_some_and(|c| members.contains(c) != *negated)
                    };
                    from.into_iter().filter(fits).map(|at| at + 1).collect()
                }
                Node::Rule(name) => self.step(&self.0[name], text, from),
                Node::Sequence(parts) => parts
                    .iter()
                    .fold(from, |from, part| self.step(part, text, from)),
                Node::Choice(ways) => ways
                    .iter()
                    .flat_map(|way| self.step(way, text, from.clone()))
                    .collect(),
                Node::Repeat { of, most } => {
                    let mut all = from.clone();
                    let mut last = from;
                    for _ in 0..*most {
                        last = self
                            .step(of, text, last)
                            .difference(&all)
                            .copied()
                            .collect();
                        if last.is_empty() {
                            break;
                        }
                        all.extend(&last);
                    }
                    all
                }
            }
        }
    }

    fn spaces(rest: &mut Vec<char>) {
        while rest.last() == Some(&' ') {
            rest.pop();
        }
    }

    fn choice(rest: &mut Vec<char>) -> Node {
        let mut ways = vec![sequence(rest)];
        while rest.last() == Some(&'|') {
            rest.pop();
            ways.push(sequence(rest));
        }
        Node::Choice(ways)
    }

    fn sequence(rest: &mut Vec<char>) -> Node {
        let mut parts = Vec::new();
        loop {
            spaces(rest);
            let mut part = match rest.last() {
                None | Some('|' | ')') => return Node::Sequence(parts),
                Some('"') => Node::Literal(quoted(rest, '"')),
                Some('[') => {
                    let mut members = quoted(rest, ']');
                    let negated = members.first() == Some(&'^');
                    members.drain(..usize::from(negated));
                    Node::Class { negated, members }
                }
                Some('(') => {
                    rest.pop();
                    let inner = choice(rest);
                    assert_eq!(rest.pop(), Some(')'));
                    inner
                }
                Some(_) => {
                    let mut name = String::new();
                    while rest.last().is_some_and(|c| c.is_ascii_lowercase()) {
                        name.extend(rest.pop());
                    }
                    assert!(!name.is_empty());
                    Node::Rule(name)
                }
            };
            for (sign, most) in [('*', usize::MAX), ('?', 1)] {
                if rest.last() == Some(&sign) {
                    rest.pop();
                    part = Node::Repeat {
                        of: Box::new(part),
                        most,
                    };
                }
            }
            parts.push(part);
        }
    }

    fn quoted(rest: &mut Vec<char>, end: char) -> Vec<char> {
        rest.pop();
        let mut out = Vec::new();
        loop {
            match rest.pop().unwrap() {
                '\\' => match rest.pop().unwrap() {
                    'u' => {
                        let code: String = (0..4).map(|_| rest.pop().unwrap()).collect();
                        out.extend(char::from_u32(u32::from_str_radix(&code, 16).unwrap()));
                    }
                    c @ ('[' | ']' | '"' | '\\') => out.push(c),
                    c => panic!("unknown escape {c}"),
                },
                c if c == end => return out,
                c => out.push(c),
            }
        }
    }
}

struct Both {
    gbnf: gbnf::Grammar,
    regex: Regex,
}

impl Both {
    fn of(markers: &[String]) -> Self {
        let grammar = |format| citation_grammar(markers, format).unwrap();
        Self {
            gbnf: gbnf::Grammar::parse(&grammar(GrammarFormat::Gbnf)),
            regex: Regex::new(&format!("^(?:{})$", grammar(GrammarFormat::Regex))).unwrap(),
        }
    }

    fn admit(&self, text: &str) -> bool {
        let admitted = self.gbnf.admits(text);
        assert_eq!(admitted, self.regex.is_match(text), "{text:?}");
        admitted
    }
}

/// Checks a value against the keywords that the schema uses. Other keywords are an error.
fn fits(schema: &Value, value: &Value) -> bool {
    let known = [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "maxItems",
        "pattern",
    ];
    let schema = schema.as_object().unwrap();
    assert!(schema.keys().all(|key| known.contains(&key.as_str())));
    if let Some(admitted) = schema.get("enum").and_then(Value::as_array)
        && (admitted.is_empty() || !admitted.contains(value))
    {
        return false;
    }
    match (schema["type"].as_str().unwrap(), value) {
        ("string", Value::String(text)) => schema
            .get("pattern")
            .is_none_or(|p| Regex::new(p.as_str().unwrap()).unwrap().is_match(text)),
        ("array", Value::Array(items)) => {
            schema
                .get("maxItems")
                .is_none_or(|most| items.len() as u64 <= most.as_u64().unwrap())
                && items.iter().all(|item| fits(&schema["items"], item))
        }
        ("object", Value::Object(fields)) => {
            let required = schema["required"].as_array().unwrap();
            schema["additionalProperties"] == json!(false)
                && required
                    .iter()
                    .all(|name| fields.contains_key(name.as_str().unwrap()))
                && fields.iter().all(|(name, value)| {
                    schema["properties"]
                        .get(name)
                        .is_some_and(|s| fits(s, value))
                })
        }
        _ => false,
    }
}

fn schema(markers: &[&str]) -> Value {
    serde_json::from_str(&citation_grammar(markers, GrammarFormat::JsonSchema).unwrap()).unwrap()
}

#[test]
fn printed_grammars() {
    let grammar = |format| citation_grammar(&["A1", "B12", "A1"], format).unwrap();
    assert_eq!(
        grammar(GrammarFormat::Gbnf),
        "root ::= ([^\\[\\u3010\\uFF3B] | citation)*\n\
         citation ::= \"[\" marker (\",\" \" \"? marker)* \"]\"\n\
         marker ::= \"A1\" | \"B12\"\n"
    );
    assert_eq!(
        grammar(GrammarFormat::Regex),
        r"([^\[【［]|\[(A1|B12)(, ?(A1|B12))*\])*"
    );
}

#[test]
fn accepted_and_rejected_answers() {
    let both = Both::of(&["A1".to_owned(), "A12".to_owned(), "7".to_owned()]);
    for text in [
        "",
        "Plain.\n\n```x```",
        "So [A1]. And [A12, A1][7].",
        "[A1,7]",
        "a ] b) (c 🙂",
        "[A1](x)",
    ] {
        assert!(both.admit(text), "{text}");
    }
    for text in [
        "[B1]", "[A1", "[A1, B2]", "[A1,]", "[]", "[a1]", "[A1 ]", "[[A1]]", "【A1】", "［A1］",
        "[x](y)", "a[0]", "[A1, A12", "[1]",
    ] {
        assert!(!both.admit(text), "{text}");
    }
    let none = Both::of(&[]);
    assert!(none.admit("No source at all.") && !none.admit("[A1]") && !none.admit("["));
}

#[test]
fn structured_output() {
    let schema_of = schema(&["A1", "2"]);
    let answer = |text: &str, citations: Value| json!({"sentences": [{"text": text, "citations": citations}]});
    assert!(fits(&schema_of, &answer("Rye grows.", json!(["A1", "2"]))));
    assert!(fits(&schema_of, &answer("So it is", json!([]))));
    assert!(fits(&schema_of, &json!({"sentences": []})));
    for citations in [json!(["B1"]), json!([2]), json!("A1"), json!([["A1"]])] {
        assert!(!fits(&schema_of, &answer("Rye grows.", citations)));
    }
    assert!(!fits(&schema_of, &answer("Rye grows [B1].", json!([]))));
    assert!(!fits(&schema_of, &json!({"sentences": [{"text": "x"}]})));
    assert!(!fits(&schema_of, &json!({"sentences": [], "more": 1})));
    let none = schema(&[]);
    assert!(fits(&none, &answer("x", json!([]))) && !fits(&none, &answer("x", json!(["A1"]))));
}

#[test]
fn invalid_markers_are_an_error() {
    for text in [
        "", "A", "a1", "A1]", "A1|B2", "1.", "A 1", "Ä1", "١", "\"", ".*", "1A", "A1\n",
    ] {
        for format in [
            GrammarFormat::Gbnf,
            GrammarFormat::Regex,
            GrammarFormat::JsonSchema,
        ] {
            assert_eq!(
                citation_grammar(&["A1", text], format),
                Err(InvalidMarker(text.to_owned()))
            );
        }
    }
}

fn marker() -> impl Strategy<Value = String> {
    prop_oneof!["[A-C]{1,2}[1-9][0-9]?", "[1-9][0-9]?"]
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => marker(),
        6 => prop::sample::select(vec![
            "[", "]", ", ", ",", " ", "【", "】", "［", "］", "(", ")", "[[", "]]", "](x)", "`", "``` ", "\n", "\n\n", "<think>", "`x` ", ". ",
            "Source: ", "[A1]", "[1]", "-", "^", "[x", "p. 3",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn answers_with_given_markers_are_accepted(
        markers in prop::collection::btree_set(marker(), 1..6),
        sentences in prop::collection::vec(("[^\\[【［]{0,12}", prop::collection::vec(any::<prop::sample::Index>(), 1..4)), 0..5),
        other in marker(),
    ) {
        let markers: Vec<String> = markers.into_iter().collect();
        let both = Both::of(&markers);
        let cited = |picks: &[prop::sample::Index]| -> Vec<&str> { picks.iter().map(|p| p.get(&markers).as_str()).collect() };
        let answer: String = sentences.iter().map(|(text, picks)| format!("{text}[{}]", cited(picks).join(", "))).collect();
        prop_assert!(both.admit(&answer));
        let admits_other = markers.contains(&other);
        let answer_with_other = format!("{answer}[{other}]");
        prop_assert_eq!(both.admit(&answer_with_other), admits_other);
    }

    #[test]
    fn accepted_answers_cite_only_given_markers(
        markers in prop::collection::btree_set(marker(), 0..6),
        pieces in prop::collection::vec(piece(), 0..12),
    ) {
        let markers: Vec<String> = markers.into_iter().collect();
        let answer = pieces.concat();
        if Both::of(&markers).admit(&answer) {
            for citation in extract(&answer, &Families::ALL).citations {
                if !citation.raw(&answer).starts_with(['[', '【', '［']) {
                    continue;
                }
                let named = match &citation.reference {
                    Reference::Marker { marker, .. } => marker.clone(),
                    Reference::Ordinal { number, .. } => number.to_string(),
                    other => return Err(TestCaseError::fail(format!("{other:?} in {answer:?}"))),
                };
                prop_assert!(markers.contains(&named), "{} in {:?}", named, answer);
            }
        }
    }
}
