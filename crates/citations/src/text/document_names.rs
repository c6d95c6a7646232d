//! When two names mean one document although they are spelled otherwise.

use reground_documents::{TRACKING_PARAMETERS, canonical_uri, is_uri};

/// A name that is an address, in the spelling that all spellings of it share; letter case tells no two documents apart, as
/// it does not where the server looks names up.
pub(crate) fn address(name: &str) -> Option<String> {
    is_uri(name).then(|| canonical_uri(name, TRACKING_PARAMETERS).to_lowercase())
}

/// What is left of a name without its folder, the extension of a file, letter case and the signs between words: names that
/// [`shortens`] pairs have it in common.
pub(crate) fn stem(name: &str) -> String {
    segments(name).next().unwrap_or_default()
}

/// Whether `cited` is `full` without some of its outer folders, as far as names that are no addresses go. What it does have
/// of them must be there: `b/readme` is not `a/readme.md`.
pub(crate) fn shortens(cited: &str, full: &str) -> bool {
    let mut full = segments(full);
    segments(cited).all(|segment| full.next() == Some(segment))
}

/// The segments of a path from the last one outward, each as readers may spell it; the last one without its extension. The
/// path of an address begins with its host.
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
            let spaced = segment.replace(['_', '-'], " ").to_lowercase();
            spaced.split_whitespace().collect::<Vec<_>>().join(" ")
        })
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
    fn a_name_may_come_without_its_folder() {
        for (cited, full) in [
            ("install", "docs/guide/install.md"),
            ("Guide/INSTALL.md", "docs/guide/install.md"),
            ("user_manual.pdf", "User manual"),
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
