//! Titles that are separated from the texts of passages, or made from them.

use std::collections::BTreeMap;

use super::Domain;
use super::corpus::{Address, Corpus, Passage};

/// Longest line that counts as the heading of a page, in characters.
const LONGEST_HEADING: usize = 120;
/// A passage that begins before this character has the beginning of its page.
const BEGINNING: u32 = 20;

/// Returns the corpus with titles beside the texts. In clapnq, each text begins with its title and a line end, which are removed. In
/// cloud, a document gets the first line of its page as title, if a passage has the beginning of the page and the line is a heading;
/// the texts stay. Other domains have no titles. The embeddings are left out.
pub fn separate(corpus: Corpus) -> Corpus {
    let domain = corpus.domain;
    let mut passages = corpus.passages;
    match domain {
        Domain::Clapnq => passages.iter_mut().for_each(remove_title),
        Domain::Cloud => add_titles(&mut passages),
        Domain::Fiqa => {}
    }
    Corpus {
        domain,
        passages,
        embeddings: Vec::new(),
    }
}

fn remove_title(passage: &mut Passage) {
    let rest = passage.text.strip_prefix(&passage.title);
    let body = rest.and_then(|rest| rest.strip_prefix('\n'));
    if let Some(body) = body.filter(|body| !body.trim().is_empty()) {
        passage.text = body.to_owned();
    }
}

fn add_titles(passages: &mut [Passage]) {
    let titles = headings(passages);
    for passage in passages {
        let document = Address::of(Domain::Cloud, &passage.id).document;
        passage.title = titles.get(&document).cloned().unwrap_or_default();
    }
}

/// The heading of each page of which a passage has the beginning.
fn headings(passages: &[Passage]) -> BTreeMap<String, String> {
    let mut headings = BTreeMap::new();
    for passage in passages {
        let address = Address::of(Domain::Cloud, &passage.id);
        let begins = address.range.is_some_and(|(start, _)| start <= BEGINNING);
        if let Some(heading) = heading(&passage.text).filter(|_| begins) {
            headings.insert(address.document, heading.to_owned());
        }
    }
    headings
}

/// Returns the title of each document that has one: in clapnq that of its passages, in cloud the heading of its page.
pub fn titles(corpus: &Corpus) -> BTreeMap<String, String> {
    match corpus.domain {
        Domain::Cloud => headings(&corpus.passages),
        Domain::Clapnq | Domain::Fiqa => {
            let documents = corpus.documents().into_iter();
            documents
                .filter_map(|document| Some((document.id, document.title?)))
                .collect()
        }
    }
}

/// Returns the first line of a text, if it is a heading: short, not a sentence, and followed by an empty line.
fn heading(text: &str) -> Option<&str> {
    let (line, rest) = text.trim().split_once('\n')?;
    let is_heading = line.chars().count() <= LONGEST_HEADING
        && !line.trim_end().ends_with('.')
        && rest.starts_with('\n');
    is_heading.then(|| line.trim())
}

/// Returns the text of each passage that is embedded: the title of its document, a line end and the text.
pub fn titled_texts(corpus: &Corpus) -> Vec<String> {
    let mut titles: BTreeMap<String, String> = BTreeMap::new();
    for document in corpus.documents() {
        titles.extend(document.title.map(|title| (document.id, title)));
    }
    let text = |passage: &Passage| {
        let title = titles.get(&Address::of(corpus.domain, &passage.id).document);
        title.map_or_else(
            || passage.text.clone(),
            |title| format!("{title}\n{}", passage.text),
        )
    };
    corpus.passages.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(id: &str, title: &str, text: &str) -> Passage {
        Passage {
            id: id.into(),
            title: title.into(),
            url: String::new(),
            text: text.into(),
        }
    }

    fn corpus(domain: Domain, passages: Vec<Passage>) -> Corpus {
        Corpus {
            domain,
            passages,
            embeddings: Vec::new(),
        }
    }

    #[test]
    fn titles_of_texts_are_removed_and_embedded_again() {
        let passages = vec![
            passage("1_0-9-0", "Oak", "Oak\nA tree."),
            passage("1_9-20-0", "Oak", "Oak trees grow."),
            passage("2_0-9-0", "Ash", "Ash\n"),
        ];
        let separated = separate(corpus(Domain::Clapnq, passages));
        let texts: Vec<&str> = separated.passages.iter().map(|one| &*one.text).collect();
        assert_eq!(texts, ["A tree.", "Oak trees grow.", "Ash\n"]);
        let titled = ["Oak\nA tree.", "Oak\nOak trees grow.", "Ash\nAsh\n"];
        assert_eq!(titled_texts(&separated), titled);
    }

    #[test]
    fn pages_get_their_first_heading() {
        let passages = vec![
            passage("a-7-90", "", "\nUsing pumps \n\nThey run."),
            passage("a-90-99", "", "Stop.\n\nNow."),
            passage("b-7-20", "", "It runs.\n\nNow."),
            passage("c-50-70", "", "Valves\n\nClose."),
        ];
        let separated = separate(corpus(Domain::Cloud, passages));
        let titles: Vec<&str> = separated.passages.iter().map(|one| &*one.title).collect();
        assert_eq!(titles, ["Using pumps", "Using pumps", "", ""]);
    }
}
