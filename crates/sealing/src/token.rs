//! A sealed value as text: `sealed:KEY:DATA`, with the number of the key and the data in base64url.
//!
//! An address keeps the extension of its file, `sealed:KEY:DATA.pdf`, so that rates by type of document need no key.
//!
//! A text of this form that is not sealed is stored as `sealed:0:TEXT`. So what a user writes is never taken for a sealed value.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lz4_flex::{compress_prepend_size, decompress_size_prepended};
use reground_documents::document_type;

use crate::error::SealingError;
use crate::key::TenantKey;
use crate::kind::Kind;
use crate::opened::{Mode, Opened};

/// Beginning of a sealed value.
pub(crate) const PREFIX: &str = "sealed:";

/// Number of the key of a text that only looks like a sealed value.
const NO_KEY: i64 = 0;

/// A stored value.
pub(crate) enum Token<'a> {
    /// A value, sealed with the key of this number.
    Sealed { key_id: i64, data: &'a str },
    /// A text that begins as a sealed value does.
    Escaped(&'a str),
}

impl<'a> Token<'a> {
    /// The token of a text; `None` for other texts.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (key_id, data) = text.strip_prefix(PREFIX)?.split_once(':')?;
        let key_id: i64 = key_id.parse().ok()?;
        match key_id {
            NO_KEY => Some(Self::Escaped(data)),
            _ => Some(Self::Sealed { key_id, data }),
        }
    }
}

/// Bytes from which a value is compressed.
const COMPRESSED_FROM: usize = 200;

/// First byte of a compressed value. No JSON begins with it.
const COMPRESSED: u8 = 1;

/// The bytes to encrypt for a value. Encrypted bytes cannot be compressed later.
fn packed(value: &str) -> Cow<'_, [u8]> {
    if value.len() >= COMPRESSED_FROM {
        let compressed = compress_prepend_size(value.as_bytes());
        if compressed.len() + 1 < value.len() {
            return Cow::Owned([&[COMPRESSED], compressed.as_slice()].concat());
        }
    }
    Cow::Borrowed(value.as_bytes())
}

/// The value of decrypted bytes; `None` if they are none.
fn unpacked(bytes: Vec<u8>) -> Option<String> {
    let bytes = match bytes.split_first() {
        Some((&COMPRESSED, compressed)) => decompress_size_prepended(compressed).ok()?,
        _ => bytes,
    };
    String::from_utf8(bytes).ok()
}

/// A value sealed with a key. `value` is its JSON.
pub(crate) fn sealed(
    tenant: &str,
    key_id: i64,
    key: &TenantKey,
    kind: Kind,
    value: &str,
) -> String {
    let data = key.seal(tenant, kind, &packed(value));
    let data = URL_SAFE_NO_PAD.encode(data);
    let address: Option<String> = match kind {
        Kind::Address => serde_json::from_str(value).ok(),
        _ => None,
    };
    match document_type(address.as_deref(), None) {
        Some(extension) => format!("{PREFIX}{key_id}:{data}.{extension}"),
        None => format!("{PREFIX}{key_id}:{data}"),
    }
}

/// A text that looks like a sealed value, escaped; `None` if it does not.
pub(crate) fn escaped(text: &str) -> Option<String> {
    text.starts_with(PREFIX)
        .then(|| format!("{PREFIX}{NO_KEY}:{text}"))
}

/// What a reader gets for a token.
pub(crate) enum Found {
    /// The JSON of the value.
    Value(String),
    /// The text was only escaped.
    Text(String),
    /// A text that says why the value cannot be shown.
    Instead(&'static str),
    /// Not the value of a known key: it stays as it is.
    Unknown,
}

/// Looks up the key of a token and decrypts.
pub(crate) fn open(
    token: &Token<'_>,
    kind: Kind,
    key: &impl Fn(i64) -> Opened,
    mode: Mode,
) -> Result<Found, SealingError> {
    let (key_id, data) = match token {
        Token::Escaped(text) => return Ok(Found::Text((*text).to_owned())),
        Token::Sealed { key_id, data } => (*key_id, data),
    };
    Ok(match (key(key_id), mode) {
        (Opened::Unknown, _) => Found::Unknown,
        (Opened::Locked, Mode::Strict) => return Err(SealingError::Locked),
        (Opened::Locked, Mode::Shown) => Found::Instead("sealed"),
        (Opened::Erased, Mode::Strict) => Found::Instead(""),
        (Opened::Erased, Mode::Shown) => Found::Instead("erased"),
        (Opened::Key { tenant, key }, _) => {
            let data = data.split('.').next().unwrap_or_default();
            let data = URL_SAFE_NO_PAD.decode(data).ok();
            let value = data.and_then(|data| key.unseal(&tenant, kind, &data));
            match value.and_then(unpacked) {
                Some(value) => Found::Value(value),
                None => Found::Unknown,
            }
        }
    })
}

/// The text of a column of a kind, as its readers see it.
///
/// # Errors
/// [`SealingError::Locked`] without the key in [`Mode::Strict`].
pub fn unseal_text(
    text: &str,
    kind: Kind,
    key: impl Fn(i64) -> Opened,
    mode: Mode,
) -> Result<String, SealingError> {
    let Some(token) = Token::parse(text) else {
        return Ok(text.to_owned());
    };
    Ok(match open(&token, kind, &key, mode)? {
        // A text is its own JSON string, any other value is shown as JSON.
        Found::Value(json) => serde_json::from_str::<String>(&json).unwrap_or(json),
        Found::Text(text) => text,
        Found::Instead(word) => word.to_owned(),
        Found::Unknown => text.to_owned(),
    })
}
