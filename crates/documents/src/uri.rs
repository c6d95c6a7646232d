//! Canonical URIs: normalisation of RFC 3986 by syntax, case, percent-encoding, path and scheme.
//!
//! The `url` crate is not used because it follows the WHATWG standard, which aims to read what browsers accept. It neither
//! decodes unreserved characters nor normalises the case of percent-encodings, so two spellings of one address would be two
//! documents. It also parses `C:\a` and `a.md:12` as addresses.

mod percent;

use percent::{Part, encode, lower_plain};
use reground_interrupt::checked;
use unicode_normalization::UnicodeNormalization;

/// Query parameters that describe where a reader came from and do not identify the document. A trailing `*` matches any suffix.
pub const TRACKING_PARAMETERS: &[&str] = &[
    "utm_*",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "dclid",
    "fbclid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "igshid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "msclkid",
    "oly_anon_id",
    "oly_enc_id",
    "srsltid",
    "ttclid",
    "twclid",
    "vero_id",
    "wbraid",
    "wickedid",
    "yclid",
];

/// Schemes that are recognised without `//`. Others are not: `Report:final.pdf` is a path.
const OPAQUE_SCHEMES: &[&str] = &[
    "arxiv", "cid", "data", "doi", "hdl", "info", "isbn", "magnet", "mailto", "mid", "news", "oai",
    "tag", "tel", "urn",
];

/// Default ports by scheme.
const DEFAULT_PORTS: &[(&str, &str)] = &[
    ("http", "80"),
    ("https", "443"),
    ("ws", "80"),
    ("wss", "443"),
    ("ftp", "21"),
    ("ssh", "22"),
    ("sftp", "22"),
];

/// Returns the canonical spelling of a document's address.
///
/// Scheme and host are in lower case. The default port, the fragment and tracking parameters are dropped, and dot segments
/// removed. Percent-encodings have one form: unreserved characters are decoded, other encodings use upper-case digits, and
/// non-ASCII characters are encoded as UTF-8. The other parameters keep their order. `tracking` contains names as in
/// [`TRACKING_PARAMETERS`], compared without regard to ASCII case.
///
/// Text that is not a URI is treated as a storage path: only dot segments and empty segments are removed. Idempotent; linear.
///
/// ```
/// use reground_documents::{TRACKING_PARAMETERS, canonical_uri};
/// let canonical = |uri| canonical_uri(uri, TRACKING_PARAMETERS);
/// assert_eq!(canonical("HTTP://Example.COM:80/%7Ea/./b/../c?utm_source=x&q=1#top"), "http://example.com/~a/c?q=1");
/// assert_eq!(canonical("./docs//guide/../install.md"), "docs/install.md");
/// ```
pub fn canonical_uri(uri: &str, tracking: &[&str]) -> String {
    // Composed and decomposed spellings are the same address (RFC 3987, 5.3.2.2).
    let uri: String = checked(uri.chars()).nfc().collect();
    match scheme(uri.trim()) {
        Some((scheme, rest)) => canonical(&scheme.to_ascii_lowercase(), rest, tracking),
        None => clean_path(&uri),
    }
}

/// Returns whether [`canonical_uri`] treats a text as a URI and not as a storage path.
pub fn is_uri(text: &str) -> bool {
    scheme(text.trim()).is_some()
}

/// Splits a URI into its scheme and the rest after the colon. Returns `None` if the text is not a URI.
fn scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    // A single letter is a Windows drive.
    let named = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let opaque = || {
        OPAQUE_SCHEMES
            .iter()
            .any(|known| known.eq_ignore_ascii_case(scheme))
            && !rest.is_empty()
    };
    let file = || scheme.eq_ignore_ascii_case("file") && rest.starts_with('/');
    (named && (rest.starts_with("//") || opaque() || file())).then_some((scheme, rest))
}

fn canonical(scheme: &str, rest: &str, tracking: &[&str]) -> String {
    let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
    let (hierarchy, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut uri = format!("{scheme}:");
    match hierarchy.strip_prefix("//") {
        Some(hierarchy) => {
            let (authority, path) =
                hierarchy.split_at(hierarchy.find('/').unwrap_or(hierarchy.len()));
            uri.push_str("//");
            uri.push_str(&canonical_authority(scheme, authority));
            uri.push_str(&absolute_path(path));
        }
        // RFC 8089: `file:/a` is `file:///a`.
        None if scheme == "file" => {
            uri.push_str("//");
            uri.push_str(&absolute_path(hierarchy));
        }
        None => uri.push_str(&encode(hierarchy, Part::Path)),
    }
    let query = kept_parameters(query, tracking);
    if !query.is_empty() {
        uri.push('?');
        uri.push_str(&query);
    }
    uri
}

/// Returns the canonical user information, host and port.
fn canonical_authority(scheme: &str, authority: &str) -> String {
    let (user, host) = authority
        .rsplit_once('@')
        .map_or((None, authority), |(user, host)| (Some(user), host));
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
        _ => (host, ""),
    };
    let mut host = canonical_host(host);
    if scheme == "file" && host == "localhost" {
        host.clear();
    }
    let mut canonical = String::new();
    if let Some(user) = user {
        canonical.push_str(&encode(user, Part::User));
        canonical.push('@');
    }
    canonical.push_str(&host);
    let port = port.trim_start_matches('0');
    if !port.is_empty() && !DEFAULT_PORTS.contains(&(scheme, port)) {
        canonical.push(':');
        canonical.push_str(port);
    }
    canonical
}

/// Returns the host in lower case. An IP literal keeps its brackets.
fn canonical_host(host: &str) -> String {
    let literal = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    if let Some(address) = literal
        && address
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte))
    {
        return host.to_ascii_lowercase();
    }
    // Lower-casing before the encoding handles non-ASCII letters, and after it the decoded letters. Only the digits of
    // percent-encodings stay upper case.
    let lower: String = host.to_lowercase().nfc().collect();
    lower_plain(&encode(&lower, Part::Host))
}

/// Returns the path after an authority: absolute, at least `/` (RFC 3986, 6.2.3), without dot segments (5.2.4).
fn absolute_path(path: &str) -> String {
    let path = encode(path, Part::Path);
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            _ => {
                kept.push(segment);
                continue;
            }
        }
        if last {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

/// Returns the query without tracking parameters and empty parameters.
fn kept_parameters(query: &str, tracking: &[&str]) -> String {
    let query = encode(query, Part::Query);
    let is_tracking = |parameter: &&str| {
        let name = parameter
            .split_once('=')
            .map_or(*parameter, |(name, _)| name);
        tracking
            .iter()
            .any(|pattern| match pattern.strip_suffix('*') {
                Some(prefix) => name
                    .get(..prefix.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(prefix)),
                None => name.eq_ignore_ascii_case(pattern),
            })
    };
    checked(query.split('&'))
        .filter(|parameter| !parameter.is_empty() && !is_tracking(parameter))
        .collect::<Vec<_>>()
        .join("&")
}

/// Returns a storage path without empty and dot segments. `..` above the top of a relative path stays.
fn clean_path(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if kept.last().is_some_and(|&last| last != "..") => {
                kept.pop();
            }
            ".." if rooted => {}
            _ => kept.push(segment),
        }
    }
    let joined = kept.join("/");
    if rooted {
        return format!("/{joined}");
    }
    // If the first segment would be parsed as a scheme, "./" is put before it (RFC 3986, 4.2).
    if scheme(joined.trim()).is_some() {
        format!("./{joined}")
    } else {
        joined
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn canonical(uri: &str) -> String {
        canonical_uri(uri, TRACKING_PARAMETERS)
    }

    #[test]
    fn addresses_have_canonical_spellings() {
        for (uri, expected) in [
            ("http://example.com", "http://example.com/"),
            // RFC 3986, 6.2.2: equivalent to the canonical form on the right.
            (
                "eXAMPLE://a/./b/../b/%63/%7bfoo%7d",
                "example://a/b/c/%7Bfoo%7D",
            ),
            (
                "HTTPS://User@EXAMPLE.com:0443/a%2fb",
                "https://User@example.com/a%2Fb",
            ),
            ("http://example.com:/?", "http://example.com/"),
            ("http://[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
            ("http://a/b/c/%2E%2E/d/..", "http://a/b/"),
            ("http://a/b/../../../c", "http://a/c"),
            ("http://a/b//c/", "http://a/b//c/"),
            (
                "http://a/?b=2&UTM_Medium=m&a=1&fbclid=9&&%75tm_id=1",
                "http://a/?b=2&a=1",
            ),
            (
                " http://a/straße 100% \u{e9}#x ",
                "http://a/stra%C3%9Fe%20100%25%20%C3%A9",
            ),
            ("http://a/e\u{301}", "http://a/%C3%A9"),
            ("file:/a/b", "file:///a/b"),
            ("FILE://LocalHost/a", "file:///a"),
            ("URN:isbn:0451450523", "urn:isbn:0451450523"),
            ("doi:10.1000/182", "doi:10.1000/182"),
            ("s3://Bucket/Key", "s3://bucket/Key"),
        ] {
            assert_eq!(canonical(uri), expected, "{uri}");
        }
        assert_eq!(
            canonical_uri("http://a/?ref=1&utm_id=2", &["ref"]),
            "http://a/?utm_id=2"
        );
    }

    #[test]
    fn storage_paths_are_cleaned() {
        for (path, expected) in [
            ("install.md", "install.md"),
            ("./a//b/./c/../d.md", "a/b/d.md"),
            ("../../a", "../../a"),
            ("/../a/", "/a"),
            ("C:\\docs\\a.md", "C:\\docs\\a.md"),
            ("Report:final.pdf", "Report:final.pdf"),
            ("README.md:12", "README.md:12"),
            ("a b%20c?d#e", "a b%20c?d#e"),
            ("./http://x", "http:/x"),
            ("./urn:a", "./urn:a"),
            ("", ""),
        ] {
            assert_eq!(canonical(path), expected, "{path}");
        }
    }

    proptest! {
        #[test]
        fn canonical_uris_are_idempotent(uri in prop_oneof![
            any::<String>(),
            "(http|HTTPS|file|urn|x)?:?/{0,3}[a-zA-Z%@:\\[\\].éÉ]{0,8}(:[0-9]{0,4})?(/[a-z.%2eE :]{0,4}){0,5}(\\?[a-z=&%_éE]{0,9})?(#[a-z]{0,3})?",
        ]) {
            let once = canonical(&uri);
            prop_assert_eq!(canonical(&once), once);
        }

        /// Plain and percent-encoded spellings of characters give the same address.
        #[test]
        fn plain_and_encoded_spellings_are_equal(characters in prop::collection::vec((any::<char>(), any::<bool>(), any::<bool>()), 0..12)) {
            let mut plain = String::from("http://h/");
            let mut mixed = plain.clone();
            for (character, escaped, lower) in characters {
                // Reserved characters and the percent sign change their meaning when encoded. NFC would change other plain
                // characters.
                if !(character.is_ascii_alphanumeric() || ('一'..'龠').contains(&character)) {
                    continue;
                }
                plain.push(character);
                for byte in character.to_string().bytes() {
                    match (escaped, lower) {
                        (true, true) => mixed.push_str(&format!("%{byte:02x}")),
                        (true, false) => mixed.push_str(&format!("%{byte:02X}")),
                        (false, _) => {}
                    }
                }
                if !escaped {
                    mixed.push(character);
                }
            }
            prop_assert_eq!(canonical(&plain), canonical(&mixed));
        }
    }
}
