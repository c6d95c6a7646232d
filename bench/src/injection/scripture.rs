//! Citations of book, chapter and verse: true places resolve, invented places are out of bounds.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use postgres::GenericClient;
use serde_json::{Value, json};

use super::books::BOOKS;
use super::case::TestCase;
use super::judge::{DEFAULT_THRESHOLD, judge};
use super::report::{self, Figure};
use crate::statistics::random::SplitMix;

/// Corpus of the text.
const CORPUS: &str = "injection_scripture";

/// Verses per passage. No passage crosses the end of a chapter, so that the bounds are exact.
const VERSES: usize = 10;

/// Number of true places, and of invented places.
const CITED: usize = 200;

/// The verses of a chapter.
type Chapter = Vec<String>;

/// The chapters of a book.
type Book = Vec<Chapter>;

/// Loads the text and cites true and invented places. Returns the share of true places that resolve, and of invented places that
/// are out of bounds.
///
/// # Errors
/// Text in another format, errors of the server.
pub fn measure(
    client: &mut impl GenericClient,
    path: &Path,
    random: &mut SplitMix,
) -> Result<Vec<Figure>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    let books = read(&text)?;
    load(client, &books)?;
    let cases = |invented: bool, random: &mut SplitMix| -> Vec<TestCase> {
        (0..CITED)
            .map(|number| case(&books, invented.then_some(number), random))
            .collect()
    };
    let of_true = judge(client, &cases(false, random), DEFAULT_THRESHOLD)?;
    let of_invented = judge(client, &cases(true, random), DEFAULT_THRESHOLD)?;
    println!("## Book, chapter and verse\n");
    let exists = [
        "resolved_current",
        "imprecise",
        "unretrieved",
        "invalid_page",
        "unsupported",
    ];
    Ok(vec![
        report::places("true places resolve", &of_true, &exists),
        report::places(
            "invented places are out of bounds",
            &of_invented,
            &["out_of_bounds"],
        ),
    ])
}

/// Parses lines of `ABBREVIATION CHAPTER:VERSE WORDS`, without the first space, as `bible -f` prints them; books in order.
fn read(text: &str) -> Result<Vec<Book>> {
    let mut books: Vec<Book> = Vec::new();
    let mut last = "";
    for line in text.lines() {
        let parts = || -> Option<(&str, usize, &str)> {
            let (place, words) = line.split_once(' ')?;
            let (place, _) = place.split_once(':')?;
            let book = place.trim_end_matches(|c: char| c.is_ascii_digit());
            Some((book, place[book.len()..].parse().ok()?, words))
        };
        let (book, chapter, words) = parts().with_context(|| format!("no verse: {line:?}"))?;
        if book != last {
            books.push(Book::new());
            last = book;
        }
        let chapters = books.last_mut().context("no book")?;
        if chapters.len() < chapter {
            chapters.push(Chapter::new());
        }
        chapters
            .last_mut()
            .context("no chapter")?
            .push(words.to_owned());
    }
    ensure!(
        books.len() == BOOKS.len(),
        "{} books, expected {}",
        books.len(),
        BOOKS.len()
    );
    Ok(books)
}

fn load(client: &mut impl GenericClient, books: &[Book]) -> Result<()> {
    let works: Value = BOOKS
        .iter()
        .map(|(name, abbreviations)| json!({"name": name, "abbreviations": abbreviations}))
        .collect();
    let settings = json!({"citation_forms": {"locators": {
        "levels": ["book", "chapter", "verse"], "patterns": ["{book} {chapter}:{verse}"], "works": works,
    }}});
    client.execute(
        "SELECT reground.create_corpus($1, settings => $2)",
        &[&CORPUS, &settings],
    )?;
    for ((name, _), book) in BOOKS.iter().zip(books) {
        let chapters = book.iter().zip(1..);
        let passages: Value = chapters
            .flat_map(|(chapter, number)| {
                chapter
                    .chunks(VERSES)
                    .enumerate()
                    .map(move |(chunk, verses)| {
                        let first = chunk * VERSES + 1;
                        let last = first + verses.len() - 1;
                        let locator = match verses.len() {
                            1 => format!("{name} {number}:{first}"),
                            _ => format!("{name} {number}:{first}-{last}"),
                        };
                        json!({"content": verses.join("\n"), "metadata": {"locator": locator}})
                    })
            })
            .collect();
        client.execute(
            "SELECT reground.put_document($1, $2, passages => $3)",
            &[&CORPUS, name, &passages],
        )?;
    }
    Ok(())
}

/// A verse with its place. `invented` selects a false place: a verse too high, a chapter too high, or verse 0.
fn case(books: &[Book], invented: Option<usize>, random: &mut SplitMix) -> TestCase {
    let number = random.below(books.len());
    let book = &books[number];
    let chapter = random.below(book.len());
    let verse = random.below(book[chapter].len());
    let (name, abbreviations) = BOOKS[number];
    let name = match random.below(2) {
        0 => random.choose(abbreviations).copied().unwrap_or(name),
        _ => name,
    };
    let beyond = 1 + random.below(20);
    let (cited_chapter, cited_verse) = match invented.map(|number| number % 3) {
        None => (chapter + 1, verse + 1),
        Some(0) => (chapter + 1, book[chapter].len() + beyond),
        Some(1) => (book.len() + beyond, verse + 1),
        Some(_) => (chapter + 1, 0),
    };
    // Without punctuation it is one sentence.
    let said = book[chapter][verse].replace(['.', '?', '!', ':', ';', '(', ')'], "");
    let mut answer = said.trim().to_owned() + " ";
    let byte = answer.len();
    answer.push_str(&format!("({name} {cited_chapter}:{cited_verse})."));
    TestCase {
        answer,
        passages: json!([]),
        corpus: Some(CORPUS.to_owned()),
        citations: vec![byte],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verses_are_grouped_by_book_and_chapter() {
        let text: String = (0..BOOKS.len())
            .map(|book| {
                let book = char::from_u32(0x4E00 + book as u32).unwrap_or_default();
                format!("1{book}1:1 In the beginning\n1{book}1:2 And\n1{book}2:1 Thus\n")
            })
            .collect();
        let books = read(&text).unwrap();
        assert_eq!(books[65], [vec!["In the beginning", "And"], vec!["Thus"]]);
        assert!(read("Ge1:1 In the beginning").is_err());
        assert!(read("In the beginning").is_err());
    }
}
