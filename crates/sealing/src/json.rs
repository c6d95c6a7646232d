//! JSON with sealed members. It is changed as text, so that everything else keeps its bytes.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

use memchr::memmem;

use crate::error::SealingError;
use crate::key::TenantKey;
use crate::kind::Kind;
use crate::opened::{Mode, Opened};
use crate::token::{self, Found, PREFIX, Token};

/// A member of a record that is about to be stored.
#[derive(Clone, Copy)]
struct Taken {
    kind: Kind,
    /// Whether it is sealed, or only escaped.
    is_sealed: bool,
}

/// Seals the values of a tenant that are about to be stored.
pub enum Sealer {
    /// The tenant has no key. Texts that look like sealed values are escaped.
    Plain,
    /// The present key of the tenant.
    Key {
        /// The tenant.
        tenant: Rc<str>,
        /// Number of the key.
        key_id: i64,
        /// The key.
        key: Rc<TenantKey>,
    },
}

impl Sealer {
    /// JSON with the members of stored records sealed.
    #[must_use]
    pub fn json<'a>(&self, json: &'a str) -> Cow<'a, str> {
        if matches!(self, Self::Plain) && !mentions_prefix(json) {
            return Cow::Borrowed(json);
        }
        let rewritten = rewrite::<_, SealingError>(
            json,
            |member, first| self.takes(member, first),
            |taken, value, _| Ok(self.stored(taken, value)),
        );
        rewritten.map_or(Cow::Borrowed(json), Cow::Owned)
    }

    /// Stored JSON, sealed again: what another key sealed is sealed with this one. A value that cannot be opened stays as it is.
    #[must_use]
    pub fn json_again<'a>(&self, json: &'a str, key: impl Fn(i64) -> Opened) -> Cow<'a, str> {
        let again = |taken: Taken, value: &str, _| {
            let text = value.starts_with('"').then(|| serde_json::from_str(value));
            let text: Option<String> = text.and_then(Result::ok);
            let Some(token) = text.as_deref().and_then(Token::parse) else {
                return Ok(self.stored(taken, value));
            };
            // A locked or erased value has no plain one.
            let found = token::open(&token, taken.kind, &key, Mode::Strict)?;
            let plain = match found {
                Found::Value(json) => Some(json),
                Found::Text(text) => serde_json::to_string(&text).ok(),
                Found::Instead(_) | Found::Unknown => None,
            };
            Ok(plain.and_then(|plain| self.stored(taken, &plain)))
        };
        let rewritten =
            rewrite::<_, SealingError>(json, |member, first| self.takes(member, first), again);
        rewritten.map_or(Cow::Borrowed(json), Cow::Owned)
    }

    /// What to do with a member. Each member that a reader opens is sealed, or at least escaped.
    fn takes(&self, member: &str, first: u8) -> Option<Taken> {
        let kind = Kind::of_result(member)?;
        let is_sealed = Kind::of_column(member).is_some();
        let is_whole = matches!(self, Self::Key { .. }) && !kind.is_text() && is_sealed;
        (is_whole || first == b'"').then_some(Taken { kind, is_sealed })
    }

    /// The JSON string to store for a member; `None` if it is stored as it is.
    fn stored(&self, taken: Taken, json: &str) -> Option<String> {
        match taken.is_sealed {
            true => self.value(taken.kind, json),
            false => Self::Plain.value(taken.kind, json),
        }
    }

    /// The JSON string to store for a value of a kind; `None` if the value is stored as it is.
    #[must_use]
    pub fn value(&self, kind: Kind, json: &str) -> Option<String> {
        let is_string = json.starts_with('"');
        if matches!(json, "null" | "\"\"") || kind.is_text() && !is_string {
            return None;
        }
        let token = match self {
            Self::Key {
                tenant,
                key_id,
                key,
            } => token::sealed(tenant, *key_id, key, kind, json),
            Self::Plain => {
                let text: Option<String> =
                    is_string.then(|| serde_json::from_str(json).ok()).flatten();
                token::escaped(&text?)?
            }
        };
        serde_json::to_string(&token).ok()
    }
}

/// Whether a JSON text may contain a string that begins as a sealed value does.
fn mentions_prefix(json: &str) -> bool {
    memmem::find(json.as_bytes(), PREFIX.as_bytes()).is_some()
}

/// The numbers of the keys that the members of a JSON text are sealed with.
#[must_use]
pub fn key_ids(json: &str) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    let mut rest = json;
    while let Some(at) = memmem::find(rest.as_bytes(), PREFIX.as_bytes()) {
        rest = rest.get(at..).unwrap_or_default();
        if let Some(Token::Sealed { key_id, .. }) = Token::parse(rest) {
            found.insert(key_id);
        }
        rest = rest.get(PREFIX.len()..).unwrap_or_default();
    }
    found
}

/// The JSON of a result with its members unsealed.
///
/// # Errors
/// [`SealingError::Locked`] without a key in [`Mode::Strict`].
pub fn unseal_json(
    json: &str,
    key: impl Fn(i64) -> Opened,
    mode: Mode,
) -> Result<Cow<'_, str>, SealingError> {
    if !mentions_prefix(json) {
        return Ok(Cow::Borrowed(json));
    }
    let takes = |member: &str, first: u8| {
        let kind = Kind::of_result(member)?;
        (first == b'"').then_some(kind)
    };
    let rewritten = rewrite(json, takes, |kind, value, is_element| {
        let Ok(text) = serde_json::from_str::<String>(value) else {
            return Ok(None);
        };
        let Some(token) = Token::parse(&text) else {
            return Ok(None);
        };
        Ok(match token::open(&token, kind, &key, mode)? {
            Found::Value(json) => Some(json),
            Found::Text(text) => serde_json::to_string(&text).ok(),
            // As an erasure leaves it: a description is gone, a text is empty. Arrays contain texts only.
            Found::Instead("") if kind != Kind::Text && !is_element => Some("null".to_owned()),
            Found::Instead(word) if kind.is_text() => serde_json::to_string(word).ok(),
            Found::Instead(_) => Some("null".to_owned()),
            Found::Unknown => None,
        })
    })?;
    Ok(Cow::Owned(rewritten))
}

/// Passes the name and the first byte of each member of an object to `takes`, and of each element of an array under the name of the array.
/// If that gives anything, the result of `replace` replaces the JSON of the value; its last argument says whether the value is an element of an
/// array. Otherwise the members of the value are visited. The JSON must be valid; the rest of an invalid one is copied.
fn rewrite<T, E>(
    json: &str,
    takes: impl Fn(&str, u8) -> Option<T>,
    mut replace: impl FnMut(T, &str, bool) -> Result<Option<String>, E>,
) -> Result<String, E> {
    let mut scan = Scan { json, at: 0 };
    let mut out = String::with_capacity(json.len() + json.len() / 2);
    // The names of the arrays and objects around the present place; `None` for an object, whose members have names of their own.
    let mut around: Vec<Option<&str>> = Vec::new();
    let mut copied = 0;
    while let Some(byte) = scan.next_token() {
        let start = scan.at;
        match byte {
            b'}' | b']' => {
                around.pop();
                scan.at += 1;
            }
            b',' | b':' => scan.at += 1,
            _ => {
                // A member of an object begins with its name.
                let mut name = around.last().copied().flatten();
                let is_element = name.is_some();
                if around.last() == Some(&None) && byte == b'"' {
                    scan.skip_string();
                    name = json.get(start + 1..scan.at.saturating_sub(1));
                    if scan.next_token() != Some(b':') {
                        break;
                    }
                    scan.at += 1;
                    scan.next_token();
                }
                let value_start = scan.at;
                let first = scan.byte();
                if let Some(taken) = name.zip(first).and_then(|(name, first)| takes(name, first)) {
                    let mut end = Scan { ..scan };
                    end.skip_value();
                    let value = json.get(value_start..end.at).unwrap_or_default();
                    if let Some(replaced) = replace(taken, value, is_element)? {
                        out.push_str(json.get(copied..value_start).unwrap_or_default());
                        out.push_str(&replaced);
                        copied = end.at;
                        scan.at = end.at;
                        continue;
                    }
                }
                match first {
                    Some(b'{') => {
                        around.push(None);
                        scan.at += 1;
                    }
                    Some(b'[') => {
                        around.push(Some(name.unwrap_or_default()));
                        scan.at += 1;
                    }
                    _ => scan.skip_value(),
                }
            }
        }
    }
    out.push_str(json.get(copied..).unwrap_or_default());
    Ok(out)
}

/// A place in a JSON text.
struct Scan<'a> {
    json: &'a str,
    at: usize,
}

impl Scan<'_> {
    fn byte(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    /// Skips space; returns the byte there.
    fn next_token(&mut self) -> Option<u8> {
        while self.byte().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
        self.byte()
    }

    /// Skips a string; the place is at its opening quote.
    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.byte() {
            self.at += match byte {
                b'\\' => 2,
                _ => 1,
            };
            if byte == b'"' {
                return;
            }
        }
        self.at = self.json.len();
    }

    /// Skips a value; always moves on, unless the text has ended.
    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.byte() {
            match byte {
                b'"' => self.skip_string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b'}' | b']' if depth == 0 => return,
                _ => self.at += 1,
            }
            if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
                return;
            }
        }
    }
}
