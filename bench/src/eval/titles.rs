//! Search with and without titles, over the same texts.

use anyhow::{Context, Result};
use postgres::Client;

use super::corpora::JudgedCorpus;
use super::retrieval::{self, List, Measured};
use crate::data::corpus::Corpus;
use crate::data::embedder::Embedder;
use crate::data::queries::{self, Form};
use crate::data::{Domain, Folder, titles};
use crate::database::load;

/// Domains with titles.
pub const DOMAINS: [Domain; 2] = Domain::ORIGINAL;

/// The compared lists.
pub const LISTS: [List; 3] = [List::Bm25Index, List::Exact, List::Scores];

/// Forms of the queries.
pub const FORMS: [Form; 2] = [Form::LastTurn, Form::Rewrite];

/// How the titles of a corpus are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Titles {
    /// Neither searched nor embedded.
    Off,
    /// With the default weight, in both branches.
    Default,
}

impl Titles {
    /// All variants, in the order of the report.
    pub const ALL: [Self; 2] = [Self::Off, Self::Default];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "no titles",
            Self::Default => "titles",
        }
    }

    /// The title weight of the corpus; `None` for the default.
    fn weight(self) -> Option<i32> {
        match self {
            Self::Off => Some(0),
            Self::Default => None,
        }
    }

    fn corpus(self, domain: Domain) -> String {
        match self {
            Self::Off => format!("{}_untitled", domain.name()),
            Self::Default => format!("{}_titled", domain.name()),
        }
    }
}

/// Lists of one corpus.
pub type MeasuredTitles = (Titles, Measured);

/// Loads the corpora and measures the lists.
///
/// # Errors
/// Unreadable data, errors of the model and of the server.
pub fn measure(
    folder: &Folder,
    clients: &mut [Client],
    embedder: &mut Embedder,
) -> Result<Vec<MeasuredTitles>> {
    let mut measured = Vec::new();
    for domain in DOMAINS {
        for titles in Titles::ALL {
            let name = titles.corpus(domain);
            let client = clients.first_mut().context("no session")?;
            let corpus = embedded(folder, domain, titles, embedder)?;
            load::load_together(client, &name, &[corpus], titles.weight())?;
            let judged = JudgedCorpus::read(folder, client, domain, name)?;
            for form in FORMS {
                let queries = queries::queries(folder, domain, form)?;
                for list in LISTS {
                    let which = (domain, form, list);
                    let lists = retrieval::measure(clients, which, &queries, &judged)?;
                    measured.push((titles, lists));
                }
            }
        }
    }
    Ok(measured)
}

/// Reads a corpus with titles beside its texts, and embeds what is embedded of each passage.
fn embedded(
    folder: &Folder,
    domain: Domain,
    use_of: Titles,
    embedder: &mut Embedder,
) -> Result<Corpus> {
    let mut corpus = titles::separate(Corpus::read(folder, domain)?);
    let texts = match use_of {
        Titles::Off => corpus.passages.iter().map(|one| one.text.clone()).collect(),
        Titles::Default => titles::titled_texts(&corpus),
    };
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    corpus.embeddings = embedder.embed(domain.name(), &texts)?;
    Ok(corpus)
}
