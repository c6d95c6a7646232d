//! Reads a folder of documents with their titles, headings and pages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// Lines per page of plain text without form feeds.
const LINES_PER_PAGE: usize = 50;

/// A file of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Path relative to the folder, with `/`.
    pub id: String,
    /// First heading, or the file name if there is none.
    pub title: String,
    /// Headings below the title, in order.
    pub headings: Vec<String>,
    /// Character offsets at which pages begin, the first 0; `None` if form feeds separate the pages.
    pub page_starts: Option<Vec<i32>>,
    /// Text of the file.
    pub text: String,
}

/// The files of a folder.
#[derive(Debug, Default)]
pub struct Folder {
    /// Files with text, sorted by path.
    pub documents: Vec<Document>,
    /// Number of files without text.
    pub empty: usize,
}

/// Reads all .md and .txt files at or below `root`, except hidden files. Links to folders are not followed.
///
/// # Errors
/// A folder or file that cannot be read, or a folder without any text.
pub fn read(root: &Path) -> Result<Folder> {
    let mut paths = Vec::new();
    collect(root, &mut paths)?;
    paths.sort_unstable();
    let mut folder = Folder::default();
    for path in paths {
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        // PostgreSQL text cannot contain NUL.
        let text = String::from_utf8_lossy(&bytes).replace('\0', "");
        if text.trim().is_empty() {
            folder.empty += 1;
            continue;
        }
        let relative = path.strip_prefix(root).unwrap_or(&path);
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        folder.documents.push(Document::new(parts.join("/"), text));
    }
    if folder.documents.is_empty() {
        bail!(
            "there are no .md or .txt files with text in {}",
            root.display()
        );
    }
    Ok(folder)
}

/// Returns whether the folder is the project's manual.
pub fn is_manual(root: &Path) -> bool {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    matches!((root.canonicalize(), manual.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            collect(&path, paths)?;
        } else if is_text(&path) && path.is_file() {
            paths.push(path);
        }
    }
    Ok(())
}

fn is_text(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("txt")
    })
}

impl Document {
    fn new(id: String, text: String) -> Self {
        let file = id.rsplit('/').next().unwrap_or(&id);
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let markdown = id.to_ascii_lowercase().ends_with(".md");
        let headings = if markdown {
            headings(&text)
        } else {
            Vec::new()
        };
        let title = headings.first().map_or_else(
            || stem.replace(['-', '_'], " "),
            |heading| heading.title.clone(),
        );
        let page_starts = (!text.contains('\u{c}')).then(|| {
            if markdown {
                section_starts(&headings)
            } else {
                printed_page_starts(&text)
            }
        });
        Self {
            title,
            headings: headings
                .into_iter()
                .skip(1)
                .map(|heading| heading.title)
                .collect(),
            page_starts,
            id,
            text,
        }
    }
}

/// A Markdown heading with its position in characters.
struct Heading {
    level: usize,
    title: String,
    start: usize,
}

/// Returns the headings outside of code blocks.
fn headings(text: &str) -> Vec<Heading> {
    let mut found = Vec::new();
    let mut fenced = false;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let level = line.chars().take_while(|&c| c == '#').count();
        let title = line.trim_start_matches('#');
        if !fenced && (1..=6).contains(&level) && title.starts_with(' ') && !title.trim().is_empty()
        {
            found.push(Heading {
                level,
                title: title.trim().to_owned(),
                start,
            });
        }
        start += line.chars().count();
    }
    found
}

/// Returns the starts of the second-level sections. They serve as pages, because Markdown has no pages to cite.
fn section_starts(headings: &[Heading]) -> Vec<i32> {
    let sections = headings
        .iter()
        .filter(|heading| heading.level == 2 && heading.start > 0)
        .filter_map(|heading| i32::try_from(heading.start).ok());
    std::iter::once(0).chain(sections).collect()
}

fn printed_page_starts(text: &str) -> Vec<i32> {
    let mut starts = vec![0];
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if number > 0 && number.is_multiple_of(LINES_PER_PAGE) {
            starts.extend(i32::try_from(start));
        }
        start += line.chars().count();
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_files_have_headings_and_sections() {
        let text = "# Überblick\n\nText.\n\n## Teil A\n\n```\n# no heading\n```\n\n## Teil B\n";
        let document = Document::new("a/b.md".into(), text.into());
        assert_eq!(document.title, "Überblick");
        assert_eq!(document.headings, ["Teil A", "Teil B"]);
        let starts = document.page_starts.unwrap();
        let at = |start: i32| {
            text.chars()
                .skip(start as usize)
                .take(9)
                .collect::<String>()
        };
        assert_eq!(
            starts.iter().map(|&s| at(s)).collect::<Vec<_>>(),
            ["# Überbli", "## Teil A", "## Teil B"]
        );
    }

    #[test]
    fn text_files_have_pages_of_fifty_lines() {
        let document = Document::new("long_notes.txt".into(), "a line\n".repeat(120));
        assert_eq!(document.title, "long notes");
        assert_eq!(document.page_starts, Some(vec![0, 350, 700]));
        let paged = Document::new("p.txt".into(), "one\u{c}two".into());
        assert_eq!(paged.page_starts, None);
    }
}
