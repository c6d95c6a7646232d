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

/// The hosts of the APIs, which get keys without hosts.
const API_HOSTS: [&str; 3] = ["api.openai.com", "api.anthropic.com", "api.cohere.com"];

/// A key and the hosts that it may be sent to.
#[derive(Debug, Clone)]
pub struct Key {
    /// The key.
    pub value: Secret,
    /// The only hosts that get the key; `*` is every host. None means the hosts of the APIs and allowed private addresses.
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
    /// The key is not for this host.
    #[error(
        "the key \"{name}\" is not sent to {host}; REGROUND_KEY_{}_HOSTS lists its hosts",
        normalise(name)
    )]
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

    /// Returns the key of this name for a host, and whether only the allowed private addresses of the host may get it. The
    /// endpoint comes from the database, whose administrator could have a key sent to a host of his own.
    ///
    /// # Errors
    /// [`KeyError`] if there is none, or if it is for other hosts.
    pub fn get(&self, name: &str, host: &str, listed: bool) -> Result<(&Secret, bool), KeyError> {
        let key = self
            .0
            .get(&normalise(name))
            .ok_or_else(|| KeyError::Unknown(name.to_owned()))?;
        let bound = |entry: &String| entry == "*" || entry.eq_ignore_ascii_case(host);
        let api = || API_HOSTS.iter().any(|api| api.eq_ignore_ascii_case(host));
        if key.hosts.iter().any(bound) || (key.hosts.is_empty() && api()) {
            Ok((&key.value, false))
        } else if key.hosts.is_empty() && listed {
            Ok((&key.value, true))
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
        keys.insert("all", key("sk-3", &["*"]));
        let get = |name, host, listed| {
            keys.get(name, host, listed)
                .map(|(key, private)| (key.expose(), private))
        };
        for host in ["api.openai.com", "api.anthropic.com", "API.cohere.com"] {
            assert_eq!(get("OpenAI", host, false), Ok(("sk-1", false)));
        }
        assert_eq!(get("openai", "tei.internal", true), Ok(("sk-1", true)));
        assert_eq!(get("MY_KEY", "API.example.com", false), Ok(("sk-2", false)));
        assert_eq!(get("all", "any.example", false), Ok(("sk-3", false)));
        for (name, host, listed) in [
            ("openai", "evil.example", false),
            ("openai", "api.openai.com.evil.example", false),
            ("my-key", "evil.example", true),
            ("my-key", "api.openai.com", false),
        ] {
            let error = get(name, host, listed).expect_err(host).to_string();
            let variable = format!("REGROUND_KEY_{}_HOSTS", normalise(name));
            assert!(
                error.contains(&variable) && !error.contains("sk-"),
                "{error}"
            );
        }
        assert_eq!(
            get("other", "any", true),
            Err(KeyError::Unknown("other".into()))
        );
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
