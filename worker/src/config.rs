//! The configuration: a TOML file and variables, which win.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::http::addresses::AllowedAddresses;
use crate::http::keys::{Key, Keys, Secret};

const KEY_PREFIX: &str = "REGROUND_KEY_";

/// The configuration is unusable. No message contains a key or a password.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is no TOML, or has unknown names.
    #[error("{} is invalid: {message}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong, without the line, which may hold a key.
        message: String,
    },
    /// A value is unusable.
    #[error("{0} has no usable value")]
    Value(&'static str),
    /// Everybody who reaches the server could use the models.
    #[error(
        "REGROUND_LISTEN is {0}, which others can reach: set REGROUND_LISTEN_TOKEN, or listen on 127.0.0.1"
    )]
    OpenServer(SocketAddr),
    /// No database is named.
    #[error("REGROUND_DATABASES names no database")]
    NoDatabase,
}

/// The configuration.
#[derive(Debug)]
pub struct Config {
    /// URIs of the databases.
    pub databases: Vec<Secret>,
    /// The folder of the local models.
    pub models: Option<PathBuf>,
    /// Where the server listens.
    pub listen: Option<SocketAddr>,
    /// The bearer token of the server.
    pub listen_token: Option<Secret>,
    /// Private addresses that may be called.
    pub allowed: AllowedAddresses,
    /// The keys.
    pub keys: Keys,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    databases: Vec<String>,
    models: Option<PathBuf>,
    listen: Option<String>,
    listen_token: Option<String>,
    allow_private: Vec<String>,
    keys: BTreeMap<String, FileKey>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FileKey {
    Value(String),
    Table(KeyTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyTable {
    value: Option<String>,
    file: Option<PathBuf>,
    #[serde(default)]
    hosts: Vec<String>,
}

impl std::fmt::Debug for FileKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

impl Config {
    /// Reads the configuration from the variables, and from the file that `REGROUND_CONFIG` names.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn load(variables: &BTreeMap<String, String>) -> Result<Self, ConfigError> {
        let variable = |name: &str| variables.get(name).filter(|value| !value.trim().is_empty());
        let file = match variable("REGROUND_CONFIG") {
            Some(path) => read_file(Path::new(path))?,
            None => File::default(),
        };
        let databases = match variable("REGROUND_DATABASES") {
            // Not at commas: a URI can list several hosts.
            Some(uris) => uris.split_whitespace().map(str::to_owned).collect(),
            None => file.databases,
        };
        if databases.is_empty() {
            return Err(ConfigError::NoDatabase);
        }
        let listen = variable("REGROUND_LISTEN").cloned().or(file.listen);
        let token = variable("REGROUND_LISTEN_TOKEN")
            .cloned()
            .or(file.listen_token);
        let private = match variable("REGROUND_ALLOW_PRIVATE") {
            Some(entries) => words(entries),
            None => file.allow_private,
        };
        let listen = listen
            .map(|address| address.trim().parse::<SocketAddr>())
            .transpose()
            .map_err(|_| ConfigError::Value("REGROUND_LISTEN"))?;
        let listen_token = token
            .map(|token| Secret::new(&token))
            .filter(|token| !token.expose().is_empty());
        if let (Some(address), None) = (listen, &listen_token)
            && !address.ip().to_canonical().is_loopback()
        {
            return Err(ConfigError::OpenServer(address));
        }
        Ok(Self {
            databases: databases.iter().map(|uri| Secret::new(uri)).collect(),
            models: variable("REGROUND_MODELS")
                .map(PathBuf::from)
                .or(file.models),
            listen,
            listen_token,
            allowed: AllowedAddresses::new(private),
            keys: read_keys(file.keys, variables)?,
        })
    }
}

fn read_file(path: &Path) -> Result<File, ConfigError> {
    toml::from_str(&read_text(path)?).map_err(|error| ConfigError::Invalid {
        path: path.to_owned(),
        message: error.message().to_owned(),
    })
}

fn read_text(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
        path: path.to_owned(),
        source,
    })
}

/// Reads the keys: of the TOML file, then of `REGROUND_KEY_NAME_FILE`, then of `REGROUND_KEY_NAME`; the last one wins.
fn read_keys(
    file: BTreeMap<String, FileKey>,
    variables: &BTreeMap<String, String>,
) -> Result<Keys, ConfigError> {
    let mut keys = Keys::default();
    for (name, key) in file {
        let (value, hosts) = match key {
            FileKey::Value(value) => (value, Vec::new()),
            FileKey::Table(KeyTable { value, file, hosts }) => match (value, file) {
                (Some(value), _) => (value, hosts),
                (None, Some(path)) => (read_text(&path)?, hosts),
                (None, None) => return Err(ConfigError::Value("a key of the file")),
            },
        };
        let value = Secret::new(&value);
        keys.insert(&name, Key { value, hosts });
    }
    let named = || {
        variables
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix(KEY_PREFIX)?, value)))
    };
    for (name, path) in
        named().filter_map(|(name, value)| Some((name.strip_suffix("_FILE")?, value)))
    {
        insert(&mut keys, name, &read_text(Path::new(path))?);
    }
    for (name, value) in named() {
        if !name.ends_with("_FILE") && !name.ends_with("_HOSTS") {
            insert(&mut keys, name, value);
        }
    }
    for (name, hosts) in
        named().filter_map(|(name, value)| Some((name.strip_suffix("_HOSTS")?, value)))
    {
        keys.bind(name, words(hosts));
    }
    Ok(keys)
}

/// Replaces the value of a key. Its hosts in the TOML file stay.
fn insert(keys: &mut Keys, name: &str, value: &str) {
    let hosts = keys.hosts(name);
    let value = Secret::new(value);
    keys.insert(name, Key { value, hosts });
}

/// Splits at white space and commas.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(list: &[(&str, &str)]) -> BTreeMap<String, String> {
        list.iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    fn value(config: &Config, name: &str, host: &str) -> Option<String> {
        let (key, _) = config.keys.get(name, host, false).ok()?;
        Some(key.expose().to_owned())
    }

    #[test]
    fn variables_win_over_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        std::fs::write(path("secret"), "sk-file\n").expect("written");
        let toml = format!(
            "databases = [\"postgresql://a\"]\nlisten = \"127.0.0.1:1\"\nallow_private = [\"10.0.0.0/8\"]\n\
             [keys]\nfirst = \"sk-1\"\nsecond = {{ file = \"{}\", hosts = [\"b.example\"] }}\n",
            path("secret")
        );
        std::fs::write(path("worker.toml"), toml).expect("written");
        let config = Config::load(&variables(&[
            ("REGROUND_CONFIG", &path("worker.toml")),
            ("REGROUND_DATABASES", "postgresql://b\n postgresql://c "),
            ("REGROUND_KEY_FIRST", "sk-variable"),
            ("REGROUND_KEY_THIRD_FILE", &path("secret")),
            ("REGROUND_KEY_THIRD_HOSTS", "c.example, d.example"),
        ]))
        .expect("a configuration");
        assert_eq!(config.databases.len(), 2);
        assert_eq!(config.listen, "127.0.0.1:1".parse().ok());
        assert!(config.allowed.permits("h", "10.1.1.1".parse().expect("ip")));
        assert_eq!(
            value(&config, "first", "api.openai.com").as_deref(),
            Some("sk-variable")
        );
        assert_eq!(value(&config, "second", "h"), None);
        assert_eq!(
            value(&config, "second", "b.example").as_deref(),
            Some("sk-file")
        );
        assert_eq!(value(&config, "third", "h"), None);
        assert_eq!(
            value(&config, "third", "d.example").as_deref(),
            Some("sk-file")
        );
        assert!(!format!("{config:?}").contains("sk-"));
    }

    #[test]
    fn a_server_that_others_reach_needs_a_token() {
        let load = |address: &str, token: &str| {
            Config::load(&variables(&[
                ("REGROUND_DATABASES", "postgresql://a"),
                ("REGROUND_LISTEN", address),
                ("REGROUND_LISTEN_TOKEN", token),
            ]))
        };
        for open in ["0.0.0.0:8085", "[::]:8085", "10.0.0.1:8085"] {
            let error = load(open, " ").expect_err(open).to_string();
            assert!(error.contains("REGROUND_LISTEN_TOKEN"), "{error}");
            assert!(load(open, "token").is_ok(), "{open}");
        }
        for local in ["127.0.0.1:8085", "[::1]:8085"] {
            assert!(load(local, "").is_ok(), "{local}");
        }
    }

    #[test]
    fn errors_quote_no_secret() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("worker.toml");
        std::fs::write(&path, "[keys]\nfirst = \"sk-1\nx").expect("written");
        let path = path.to_string_lossy();
        let error = Config::load(&variables(&[("REGROUND_CONFIG", &path)])).expect_err("invalid");
        assert!(!error.to_string().contains("sk-1"), "{error}");
        assert!(matches!(
            Config::load(&variables(&[("REGROUND_DATABASES", " ")])),
            Err(ConfigError::NoDatabase)
        ));
    }
}
