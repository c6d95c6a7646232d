//! The folder of documents: what is in it, and what each file calls itself.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// Lines of a page of plain text that has no form feeds.
const LINES_PER_PAGE: usize = 50;

/// A file of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its path below the folder, with `/`.
    pub id: String,
    /// Its first heading, or else the name of the file.
    pub title: String,
    /// Headings below the title, in order.
    pub headings: Vec<String>,
    /// Character offsets at which pages begin, the first 0; `None` where form feeds say it.
    pub page_starts: Option<Vec<i32>>,
    /// Its text.
    pub text: String,
}

/// A folder that was read.
#[derive(Debug, Default)]
pub struct Folder {
    /// Files with text, by path.
    pub documents: Vec<Document>,
    /// Files without text.
    pub empty: usize,
}

/// Reads every .md and .txt file at or below `root`; hidden files and links to folders are left out.
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
        // PostgreSQL's text has no NUL.
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

/// Whether the folder is the project's own manual.
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

/// A Markdown heading with its place in characters.
struct Heading {
    level: usize,
    title: String,
    start: usize,
}

/// Headings outside of code.
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

/// Markdown has no pages: each section of the second level stands for one, so that pages can be cited.
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
    fn a_markdown_file() {
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
    fn a_text_file() {
        let document = Document::new("long_notes.txt".into(), "a line\n".repeat(120));
        assert_eq!(document.title, "long notes");
        assert_eq!(document.page_starts, Some(vec![0, 350, 700]));
        let paged = Document::new("p.txt".into(), "one\u{c}two".into());
        assert_eq!(paged.page_starts, None);
    }
}
