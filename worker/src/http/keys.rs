//! Keys of the APIs.

use std::collections::BTreeMap;
use std::fmt;

/// A value that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a value, without the white space around it that files end with.
    pub fn new(value: &str) -> Self {
        Self(value.trim().to_owned())
    }

    /// Returns the value.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A key and the hosts that it may be sent to.
#[derive(Debug, Clone)]
pub struct Key {
    /// The key.
    pub value: Secret,
    /// The only hosts that get the key; none means every host over https, and allowed private addresses.
    pub hosts: Vec<String>,
}

/// All keys by name.
#[derive(Debug, Clone, Default)]
pub struct Keys(BTreeMap<String, Key>);

/// Why a key is not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The worker has no such key.
    #[error("the worker has no key \"{0}\"")]
    Unknown(String),
    /// The key is bound to other hosts.
    #[error("the key \"{name}\" is not sent to {host}")]
    Host {
        /// The name of the key.
        name: String,
        /// The host.
        host: String,
    },
}

impl Keys {
    /// Adds a key. Empty values are ignored.
    pub fn insert(&mut self, name: &str, key: Key) {
        if !key.value.expose().is_empty() {
            self.0.insert(normalise(name), key);
        }
    }

    /// Binds a key to hosts.
    pub fn bind(&mut self, name: &str, hosts: Vec<String>) {
        if let Some(key) = self.0.get_mut(&normalise(name)) {
            key.hosts = hosts;
        }
    }

    /// Returns the hosts that a key is bound to.
    pub fn hosts(&self, name: &str) -> Vec<String> {
        self.0
            .get(&normalise(name))
            .map(|key| key.hosts.clone())
            .unwrap_or_default()
    }

    /// Returns whether there is a key of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(&normalise(name))
    }

    /// Returns the key of this name for a host.
    ///
    /// # Errors
    /// [`KeyError`] if there is none, or if it is bound to other hosts.
    pub fn get(&self, name: &str, host: &str) -> Result<&Secret, KeyError> {
        let key = self
            .0
            .get(&normalise(name))
            .ok_or_else(|| KeyError::Unknown(name.to_owned()))?;
        let bound = |entry: &String| entry.eq_ignore_ascii_case(host);
        if key.hosts.is_empty() || key.hosts.iter().any(bound) {
            Ok(&key.value)
        } else {
            Err(KeyError::Host {
                name: name.to_owned(),
                host: host.to_owned(),
            })
        }
    }

    /// Replaces every key in a text by `***`.
    pub fn scrub(&self, text: &str) -> String {
        let mut values: Vec<&str> = self.0.values().map(|key| key.value.expose()).collect();
        // The longest first, because a key can be the beginning of another one.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        let mut scrubbed = text.to_owned();
        for value in values {
            scrubbed = scrubbed.replace(value, "***");
        }
        scrubbed
    }
}

/// Key names are compared as variables spell them: `my-key` is `MY_KEY`.
fn normalise(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: &str, hosts: &[&str]) -> Key {
        Key {
            value: Secret::new(value),
            hosts: hosts.iter().map(|&host| host.to_owned()).collect(),
        }
    }

    #[test]
    fn a_key_is_sent_to_its_hosts() {
        let mut keys = Keys::default();
        keys.insert("openai", key("sk-1\n", &[]));
        keys.insert("my-key", key("sk-2", &["api.example.com"]));
        assert_eq!(
            keys.get("OpenAI", "any.example").map(Secret::expose),
            Ok("sk-1")
        );
        assert!(keys.get("MY_KEY", "API.example.com").is_ok());
        assert!(matches!(
            keys.get("my-key", "evil.example"),
            Err(KeyError::Host { .. })
        ));
        assert!(matches!(
            keys.get("other", "any"),
            Err(KeyError::Unknown(_))
        ));
    }

    #[test]
    fn keys_are_neither_printed_nor_quoted() {
        let mut keys = Keys::default();
        keys.insert("a", key("sk-1", &[]));
        keys.insert("b", key("sk-12", &[]));
        assert_eq!(keys.scrub("bad key sk-12, sk-1"), "bad key ***, ***");
        assert!(!format!("{keys:?}").contains("sk-1"));
    }
}
