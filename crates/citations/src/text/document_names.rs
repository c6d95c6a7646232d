//! Compares names of documents that are spelled in different ways.

use reground_documents::{TRACKING_PARAMETERS, canonical_uri, is_uri};

/// Returns the normal form of a name that is a web address, in lower case, because the server looks up names without
/// regard to case.
pub(crate) fn address(name: &str) -> Option<String> {
    is_uri(name).then(|| canonical_uri(name, TRACKING_PARAMETERS).to_lowercase())
}

/// Returns the last segment of a name without folder, extension, case and word separators. Names that [`shortens`]
/// accepts as a pair have the same stem.
pub(crate) fn stem(name: &str) -> String {
    segments(name).next().unwrap_or_default()
}

/// Returns whether `cited` is `full` without some of its outer folders. Both are names that are not web addresses.
/// The folders in `cited` must match: `b/readme` does not shorten `a/readme.md`.
pub(crate) fn shortens(cited: &str, full: &str) -> bool {
    let mut full = segments(full);
    segments(cited).all(|segment| full.next() == Some(segment))
}

/// Returns the segments of a path in their normal form, last segment first and without its extension. The path of a
/// web address begins with its host.
fn segments(name: &str) -> impl Iterator<Item = String> {
    let path = match name.split_once("://") {
        Some((_, path)) if is_uri(name) => path,
        _ => name,
    };
    path.trim_end_matches('/')
        .rsplit('/')
        .enumerate()
        .map(|(place, segment)| {
            let segment = if place == 0 {
                without_extension(segment)
            } else {
                segment
            };
            let spaced = segment.replace(separates, " ").to_lowercase();
            spaced.split_whitespace().collect::<Vec<_>>().join(" ")
        })
}

/// Returns whether a character separates words: answers are read with plain hyphens in place of dashes.
fn separates(c: char) -> bool {
    matches!(c, '_' | '-' | '‐'..='—' | '−')
}

fn without_extension(file: &str) -> &str {
    match file.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && is_extension(extension) => stem,
        _ => file,
    }
}

fn is_extension(text: &str) -> bool {
    (1..=4).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric())
        && text.bytes().any(|b| b.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_compared_whole() {
        let one = address("https://ours.example/guide/1");
        assert!(one.is_some());
        assert_eq!(
            one,
            address("HTTPS://Ours.example:443/guide/./1?utm_source=x#top")
        );
        for other in [
            "https://elsewhere.example/guide/1",
            "https://ours.example/1",
            "http://ours.example/guide/1",
            "https://ours.example/guide/1?page=2",
        ] {
            assert_ne!(one, address(other), "{other}");
        }
        for name in ["1", "guide/1", "ours.example/guide/1", "Report: final", ""] {
            assert_eq!(address(name), None, "{name}");
        }
    }

    #[test]
    fn names_without_their_folder_match() {
        for (cited, full) in [
            ("install", "docs/guide/install.md"),
            ("Guide/INSTALL.md", "docs/guide/install.md"),
            ("user_manual.pdf", "User manual"),
            ("Q3-Q4 report", "Q3–Q4 report"),
            ("1", "https://ours.example/guide/1"),
            ("ours.example/guide/1/", "https://ours.example/guide/1"),
        ] {
            assert!(shortens(cited, full), "{cited} {full}");
            assert_eq!(stem(cited), stem(full));
        }
        for (cited, full) in [
            ("other/install.md", "docs/guide/install.md"),
            ("docs/install.md", "docs/guide/install.md"),
            ("docs/install.md", "install.md"),
            ("elsewhere.example/guide/1", "https://ours.example/guide/1"),
            ("installing", "install"),
        ] {
            assert!(!shortens(cited, full), "{cited} {full}");
        }
    }
}
