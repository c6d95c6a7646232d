//! Sealing against a second implementation on the parsed JSON, and properties of keys and tokens.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;
use reground_documents::document_type;
use reground_sealing::{
    Kind, MasterKey, Mode, Opened, Sealer, SealingError, TenantKey, key_ids, unseal_json,
    unseal_text,
};
use serde_json::{Value, json};

const MASTER: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

fn key() -> Rc<TenantKey> {
    Rc::new(TenantKey::new(std::array::from_fn(|at| {
        u8::try_from(at).unwrap()
    })))
}

fn sealer() -> Sealer {
    Sealer::Key {
        tenant: "acme".into(),
        key_id: 7,
        key: key(),
    }
}

fn opened(tenant: &str) -> impl Fn(i64) -> Opened {
    let tenant: Rc<str> = tenant.into();
    move |key_id| match key_id {
        7 => Opened::Key {
            tenant: Rc::clone(&tenant),
            key: key(),
        },
        8 => Opened::Locked,
        9 => Opened::Erased,
        _ => Opened::Unknown,
    }
}

fn unsealed(json: &str) -> String {
    unseal_json(json, opened("acme"), Mode::Strict)
        .unwrap()
        .into_owned()
}

/// Members that stored records have, and others.
const MEMBERS: [&str; 9] = [
    "title", "uri", "locator", "content", "text", "pages", "metadata", "doc_id", "facts",
];

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        "[\\x00-\\x1f\"\\\\{}\\[\\]:, ]{0,8}",
        "sealed:[0-9]{1,2}:[A-Za-z0-9_-]{0,30}",
        Just("sealed:0:sealed:7:x".to_owned()),
        Just(String::new()),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&MEMBERS[..]), inner), 0..5).prop_map(
                |members| Value::Object(
                    members
                        .into_iter()
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect()
                )
            ),
        ]
    })
}

/// A record with its members sealed, on the parsed JSON.
fn sealed_tree(value: &Value, member: &str) -> Value {
    let kind = match member {
        "title" => Some(Kind::Title),
        "uri" => Some(Kind::Address),
        "locator" => Some(Kind::Locator),
        "content" | "text" => Some(Kind::Text),
        "pages" => Some(Kind::Pages),
        "metadata" => Some(Kind::Metadata),
        _ => None,
    };
    let is_whole = matches!(kind, Some(Kind::Pages | Kind::Metadata));
    let is_empty = value.is_null() || value == "";
    match (kind, value) {
        (Some(kind), value) if !is_empty && (is_whole || value.is_string()) => {
            let text = serde_json::to_string(value).unwrap();
            let data = key().seal("acme", kind, text.as_bytes());
            let data = URL_SAFE_NO_PAD.encode(data);
            let address = value.as_str().filter(|_| kind == Kind::Address);
            let extension = document_type(address, None).map(|extension| format!(".{extension}"));
            Value::from(format!("sealed:7:{data}{}", extension.unwrap_or_default()))
        }
        (_, Value::Array(values)) => values
            .iter()
            .map(|value| sealed_tree(value, member))
            .collect(),
        (_, Value::Object(members)) => Value::Object(
            members
                .iter()
                .map(|(name, value)| (name.clone(), sealed_tree(value, name)))
                .collect(),
        ),
        _ => value.clone(),
    }
}

proptest! {
    #[test]
    fn members_are_sealed_as_on_the_parsed_json_and_read_again_in_every_byte(value in any_json()) {
        // As jsonb prints it, with spaces.
        let text = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(unsealed(&sealer().json(&text)), text);
        let sealed = sealer().json(&value.to_string()).into_owned();
        prop_assert_eq!(serde_json::from_str::<Value>(&sealed).unwrap(), sealed_tree(&value, ""));
    }

    #[test]
    fn text_that_only_looks_sealed_is_read_as_it_was(value in any_json()) {
        let text = serde_json::to_string(&value).unwrap();
        let stored = Sealer::Plain.json(&text).into_owned();
        prop_assert_eq!(unsealed(&stored), text);
    }

    #[test]
    fn any_text_is_passed_through_without_a_panic(text in "\\PC{0,60}", sealed in any_text()) {
        for text in [text, format!("{{\"title\":\"{sealed}"), format!("[{{\"pages\":{sealed}"), format!("{{\"title\":\"{sealed}\"}}")] {
            let _ = sealer().json(&text);
            let _ = unseal_json(&text, opened("acme"), Mode::Shown);
            let _ = key_ids(&text);
        }
    }

    #[test]
    fn a_changed_value_is_not_read(at in 0_usize..60, bit in 0_u8..8) {
        let data = key().seal("acme", Kind::Title, b"\"Report on the merger\"");
        let mut changed = data.clone();
        let at = at % changed.len();
        changed[at] ^= 1 << bit;
        prop_assert_eq!(key().unseal("acme", Kind::Title, &changed), None);
    }
}

#[test]
fn members_of_sources_are_sealed_and_no_others() {
    let record = json!({
        "marker": "A1", "tags": {"project": "x"},
        "passage": {"doc_id": "d1", "title": "T", "uri": "https://a.example/b", "structured_locator": "§ 4", "pages": {"start": 3, "end": 4},
            "content": "the text", "content_hash": "ab", "metadata": {"secret": [1, 2]}, "chars": {"start": 1, "end": 2}},
        "facts": [{"text": "a fact", "chars": null}],
        "empty": {"title": "", "uri": null},
    });
    let sealed = sealer().json(&record.to_string()).into_owned();
    let value: Value = serde_json::from_str(&sealed).unwrap();
    let is_sealed = |path: &str| {
        value
            .pointer(path)
            .and_then(Value::as_str)
            .is_some_and(|text| text.starts_with("sealed:7:"))
    };
    for path in [
        "/passage/title",
        "/passage/uri",
        "/passage/structured_locator",
        "/passage/pages",
        "/passage/content",
        "/passage/metadata",
        "/facts/0/text",
    ] {
        assert!(is_sealed(path), "{path}: {sealed}");
    }
    for path in [
        "/marker",
        "/tags",
        "/passage/doc_id",
        "/passage/content_hash",
        "/passage/chars",
        "/facts/0/chars",
        "/empty/title",
        "/empty/uri",
    ] {
        assert_eq!(value.pointer(path), record.pointer(path), "{path}");
    }
    assert_eq!(key_ids(&sealed).into_iter().collect::<Vec<_>>(), [7]);
    assert_eq!(unsealed(&sealed), record.to_string());
}

#[test]
fn a_value_is_bound_to_its_tenant_its_kind_and_its_key() {
    let sealed = sealer().value(Kind::Title, "\"T\"").unwrap();
    let text: String = serde_json::from_str(&sealed).unwrap();
    let read = |kind, tenant| unseal_text(&text, kind, opened(tenant), Mode::Strict).unwrap();
    assert_eq!(read(Kind::Title, "acme"), "T");
    assert_eq!(read(Kind::Locator, "acme"), text);
    assert_eq!(read(Kind::Title, "globex"), text);
    let other = text.replace("sealed:7:", "sealed:3:");
    assert_eq!(
        unseal_text(&other, Kind::Title, opened("acme"), Mode::Strict).unwrap(),
        other
    );
}

#[test]
fn without_a_key_a_value_is_an_error_or_says_so() {
    let json = |key_id: i64| {
        format!(
            "{{\"title\":\"sealed:{key_id}:AAAA\",\"pages\":\"sealed:{key_id}:AAAA\",\"content\":\"sealed:{key_id}:AAAA\",\"cited\":[\"sealed:{key_id}:AAAA\"]}}"
        )
    };
    let read = |key_id, mode| {
        unseal_json(&json(key_id), opened("acme"), mode).map(|text| text.into_owned())
    };
    assert_eq!(read(8, Mode::Strict), Err(SealingError::Locked));
    assert_eq!(
        read(8, Mode::Shown).unwrap(),
        r#"{"title":"sealed","pages":null,"content":"sealed","cited":["sealed"]}"#
    );
    assert_eq!(
        read(9, Mode::Strict).unwrap(),
        r#"{"title":null,"pages":null,"content":"","cited":[""]}"#
    );
    assert_eq!(
        read(9, Mode::Shown).unwrap(),
        r#"{"title":"erased","pages":null,"content":"erased","cited":["erased"]}"#
    );
    assert_eq!(read(5, Mode::Strict).unwrap(), json(5));
}

#[test]
fn a_wrapped_key_opens_only_with_its_master_for_its_tenant() {
    let master = MasterKey::parse(&format!(" {MASTER}\n")).unwrap();
    let other = MasterKey::parse(&MASTER.replace("00", "01")).unwrap();
    let wrapped = master.wrap("acme", 7, &key());
    let value = key().seal("acme", Kind::Text, b"x");
    let unwrapped = master.unwrap("acme", 7, &wrapped).expect("opens");
    assert_eq!(unwrapped.seal("acme", Kind::Text, b"x"), value);
    assert!(master.unwrap("globex", 7, &wrapped).is_none());
    assert!(master.unwrap("acme", 8, &wrapped).is_none());
    assert!(other.unwrap("acme", 7, &wrapped).is_none());
    for text in [
        "",
        "00",
        &MASTER[1..],
        &format!("{MASTER}00"),
        &MASTER.replace('f', "g"),
    ] {
        assert_eq!(
            MasterKey::parse(text).map(|_| ()),
            Err(SealingError::MasterKey),
            "{text}"
        );
    }
}

/// Random bytes do not get longer, words get shorter, and both are read again.
#[test]
fn long_texts_are_compressed_before_they_are_sealed() {
    let words = "In the beginning God created the heaven and the earth. ".repeat(20);
    let mut state = 1_u32;
    let noise: String = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'!' + u8::try_from(state >> 24).unwrap() % 90)
    })
    .filter(|c| !"\"\\".contains(*c))
    .take(1000)
    .collect();
    for (text, most) in [(words, 400), (noise, 1400)] {
        let json = serde_json::to_string(&text).unwrap();
        let token = sealer().value(Kind::Text, &json).unwrap();
        assert!(token.len() < most, "{} bytes", token.len());
        let token: String = serde_json::from_str(&token).unwrap();
        let read = unseal_text(&token, Kind::Text, opened("acme"), Mode::Strict);
        assert_eq!(read.unwrap(), text);
    }
}

#[test]
fn an_address_keeps_the_extension_of_its_file() {
    for (address, expected) in [
        ("https://x.example/secret/B.PDF?page=2", Some("pdf")),
        ("https://x.example/secret", None),
    ] {
        let json = serde_json::to_string(address).unwrap();
        let token = sealer().value(Kind::Address, &json).unwrap();
        let token: String = serde_json::from_str(&token).unwrap();
        assert_eq!(document_type(Some(&token), None).as_deref(), expected);
        let read = unseal_text(&token, Kind::Address, opened("acme"), Mode::Strict);
        assert_eq!(read.unwrap(), address);
    }
}

/// Later versions must open the values of this one, so the bytes are fixed. The AESSIV of Python's cryptography gives the same.
#[test]
fn the_form_of_a_sealed_value_does_not_change() {
    let master = MasterKey::parse(MASTER).unwrap();
    let wrapped = master.wrap("acme", 7, &key());
    let hex: String = wrapped[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(hex, "2a5f5e238890f089");
    assert_eq!(
        sealer().value(Kind::Title, "\"T\"").unwrap(),
        "\"sealed:7:QeKqZ5VcuSXXq2pzuBSx9cbwqw\""
    );
}
