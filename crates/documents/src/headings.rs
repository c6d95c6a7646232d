//! The title and the headings above each passage of a document.

use reground_interrupt::checked;

use crate::sentences::is_heading;

/// Maximum number of characters of a heading in a path.
const LONGEST_HEADING: usize = 200;
/// Maximum number of characters of a path.
const LONGEST_PATH: usize = 1_000;
/// Separates the headings of a path.
const SEPARATOR: &str = " > ";

/// Returns whether a text of this media type can have Markdown headings. A text of no type is read as Markdown.
pub fn has_headings(media_type: Option<&str>) -> bool {
    let Some(media_type) = media_type else {
        return true;
    };
    let kind = media_type.split(';').next().unwrap_or_default().trim();
    ["text/markdown", "text/x-markdown"]
        .iter()
        .any(|markdown| kind.eq_ignore_ascii_case(markdown))
}

/// A heading and its level, 1 to 6.
struct Heading {
    level: usize,
    text: String,
}

/// Returns the Markdown headings above each place of a text, outermost first. `starts` are ascending offsets in characters. A heading
/// that begins at the place is not above it, but closes the sections of its level.
pub fn paths(text: &str, starts: &[usize]) -> Vec<Vec<String>> {
    let mut open: Vec<Heading> = Vec::new();
    let mut fence = None;
    let mut found = Vec::with_capacity(starts.len());
    let mut end = 0;
    for line in checked(text.split_inclusive(['\n', '\u{c}'])) {
        end += line.chars().count();
        let heading = match (fence, fence_of(line)) {
            (Some(opened), Some(mark)) if opened == mark => {
                fence = None;
                None
            }
            (Some(_), _) => None,
            (None, Some(mark)) => {
                fence = Some(mark);
                None
            }
            (None, None) => heading(line),
        };
        let level = heading.as_ref().map_or(usize::MAX, |heading| heading.level);
        while starts.get(found.len()).is_some_and(|&start| start < end) {
            let above = open.iter().filter(|above| above.level < level);
            found.push(above.map(|above| above.text.clone()).collect());
        }
        if let Some(heading) = heading {
            open.retain(|above| above.level < level);
            open.push(heading);
        }
    }
    // Places beyond the text.
    found.resize_with(starts.len(), Vec::new);
    found
}

/// Returns the character of a line that opens or closes a block of code.
fn fence_of(line: &str) -> Option<char> {
    let line = line.trim_start();
    ['`', '~']
        .into_iter()
        .find(|&mark| line.chars().take(3).filter(|&c| c == mark).count() == 3)
}

/// Returns the heading of a line, if it has a text.
fn heading(line: &str) -> Option<Heading> {
    let content = line.trim();
    if !is_heading(content) {
        return None;
    }
    let text = content.trim_start_matches('#');
    let level = content.len() - text.len();
    let text = text.trim_end_matches('#').trim();
    (!text.is_empty()).then(|| Heading {
        level,
        text: one_line(text, LONGEST_HEADING),
    })
}

/// Joins the title of a document and the headings above a passage; `None` if there are none. A first heading that repeats the title is
/// left out.
pub fn join<'a>(
    title: Option<&'a str>,
    headings: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let all = title.into_iter().chain(headings);
    for part in all.map(|part| one_line(part, LONGEST_PATH)) {
        let is_repeated =
            (parts.last()).is_some_and(|last| last.to_lowercase() == part.to_lowercase());
        if !part.is_empty() && !is_repeated {
            parts.push(part);
        }
    }
    (!parts.is_empty()).then(|| beginning(&parts.join(SEPARATOR), LONGEST_PATH).to_owned())
}

/// Returns the beginning of a text with single spaces.
fn one_line(text: &str, longest: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in checked(text.split_whitespace()) {
        if count >= longest {
            break;
        }
        if count > 0 {
            line.push(' ');
        }
        line.push_str(word);
        count += word.chars().count() + 1;
    }
    beginning(&line, longest).trim_end().to_owned()
}

/// Returns the first characters of a text.
fn beginning(text: &str, longest: usize) -> &str {
    let end = text.char_indices().nth(longest);
    end.map_or(text, |(end, _)| text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "Before.\n# Pumps\nIntro.\n## Oil ##\nChange it.\n```\n# not a heading\n```\nMore.\n# Valves\nClose.\n";

    fn path_at(text: &str, place: &str) -> String {
        let at = text[..text.find(place).unwrap()].chars().count();
        paths(text, &[at])[0].join("/")
    }

    #[test]
    fn headings_above_a_place() {
        for (place, expected) in [
            ("Before", ""),
            ("# Pumps", ""),
            ("Intro", "Pumps"),
            ("## Oil", "Pumps"),
            ("Change", "Pumps/Oil"),
            ("# not", "Pumps/Oil"),
            ("More", "Pumps/Oil"),
            ("# Valves", ""),
            ("Close", "Valves"),
        ] {
            assert_eq!(path_at(TEXT, place), expected, "{place}");
        }
        assert_eq!(path_at("é\n# Ü\n日本\u{c}# 語\nx", "日本"), "Ü");
        assert_eq!(path_at("é\n# Ü\n日本\u{c}# 語\nx", "x"), "語");
    }

    #[test]
    fn only_markdown_has_headings() {
        for (media_type, expected) in [
            (None, true),
            (Some("text/markdown"), true),
            (Some("Text/Markdown; charset=utf-8"), true),
            (Some("text/plain"), false),
            (Some("text/x-python"), false),
        ] {
            assert_eq!(has_headings(media_type), expected, "{media_type:?}");
        }
    }

    #[test]
    fn titles_and_headings_are_joined() {
        let joined = |title, headings: &[&'static str]| join(title, headings.iter().copied());
        assert_eq!(joined(None, &[]), None);
        assert_eq!(joined(Some(" \n"), &[""]), None);
        assert_eq!(
            joined(Some("Pumps"), &["PUMPS", "Oil"]).unwrap(),
            "Pumps > Oil"
        );
        assert_eq!(
            joined(Some("The\npump"), &["Oil"]).unwrap(),
            "The pump > Oil"
        );
        let long = "é ".repeat(1_000_000);
        let joined = join(Some(&long), [long.as_str(), "x"]).unwrap_or_default();
        assert!((LONGEST_PATH - 1..=LONGEST_PATH).contains(&joined.chars().count()));
    }

    /// The rules once more, for a single place: lines above it, read backwards.
    fn backwards(text: &str, start: usize) -> Vec<String> {
        let level_of = |line: &str| line.len() - line.trim_start_matches('#').len();
        let (mut at, mut above, mut own) = (0, Vec::new(), None);
        for line in text.split_inclusive('\n') {
            if start < at + line.chars().count() {
                own = Some(line);
                break;
            }
            at += line.chars().count();
            above.push(line);
        }
        let mut most = match own {
            Some(line) if line.starts_with('#') => level_of(line),
            _ => usize::MAX,
        };
        let mut path = Vec::new();
        for line in above.iter().rev().filter(|line| line.starts_with('#')) {
            if level_of(line) < most {
                most = level_of(line);
                path.push(line.trim_matches(['#', ' ', '\n']).to_owned());
            }
        }
        path.reverse();
        if own.is_some() { path } else { Vec::new() }
    }

    proptest! {
        #[test]
        fn paths_are_those_found_backwards(
            lines in proptest::collection::vec("#{1,6} [ab]|[abé]{1,3}", 1..20), starts in proptest::collection::vec(0_usize..80, 0..10)
        ) {
            let text = lines.join("\n");
            let mut starts = starts;
            starts.sort_unstable();
            let expected: Vec<Vec<String>> = starts.iter().map(|&start| backwards(&text, start)).collect();
            prop_assert_eq!(paths(&text, &starts), expected);
        }

        #[test]
        fn any_text_has_bounded_paths(text in "(#{0,7}|\n|\u{c}|```|~~~| |\u{0}|é|[a-z]{1,300}){0,40}", title in ".{0,2000}") {
            let starts: Vec<usize> = (0..text.chars().count() + 2).collect();
            for path in paths(&text, &starts) {
                prop_assert!(path.len() <= 6);
                let joined = join(Some(&title), path.iter().map(String::as_str)).unwrap_or_default();
                prop_assert!(joined.chars().count() <= LONGEST_PATH && !joined.contains('\n'));
            }
        }
    }
}
