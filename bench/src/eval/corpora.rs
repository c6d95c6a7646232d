//! The corpora and the conversations of the evaluation.

use std::collections::BTreeSet;

use anyhow::Result;
use postgres::Client;

use super::sample;
use crate::data::corpus::Corpus;
use crate::data::queries::{self, Judgements};
use crate::data::tasks::{self, Conversation};
use crate::data::{Domain, Folder};
use crate::database::duplicates::Duplicates;
use crate::database::load::{self, Load};

/// A corpus in the database, with the relevance judgements.
pub struct JudgedCorpus {
    /// Its domain.
    pub domain: Domain,
    /// Its name in the database.
    pub name: String,
    judgements: Judgements,
    /// Passages of equal text.
    pub duplicates: Duplicates,
}

impl JudgedCorpus {
    /// Reads the judgements of a loaded corpus.
    ///
    /// # Errors
    /// Unreadable data, errors of the server.
    pub fn read(
        folder: &Folder,
        client: &mut Client,
        domain: Domain,
        name: String,
    ) -> Result<Self> {
        Ok(Self {
            domain,
            judgements: queries::judgements(folder, domain)?,
            duplicates: Duplicates::read(client, &name)?,
            name,
        })
    }

    /// The passages that humans judged relevant to a query, as classes of equal passages; empty if the query was not judged.
    pub fn gold(&self, query: &str) -> BTreeSet<String> {
        let judged = self.judgements.get(query);
        judged.map_or_else(BTreeSet::new, |ids| self.duplicates.of_ids(ids))
    }
}

/// Loads the corpora of these domains.
pub fn load_all(
    folder: &Folder,
    client: &mut Client,
    domains: &[Domain],
) -> Result<(Vec<JudgedCorpus>, Vec<Load>)> {
    let mut loads = Vec::new();
    let corpora = domains
        .iter()
        .map(|&domain| {
            loads.push(load::load(client, &Corpus::read(folder, domain)?)?);
            JudgedCorpus::read(folder, client, domain, domain.corpus())
        })
        .collect::<Result<_>>()?;
    Ok((corpora, loads))
}

/// The conversations of these domains, or the sample.
pub fn conversations(
    folder: &Folder,
    domains: &[Domain],
    sample: bool,
) -> Result<Vec<Conversation>> {
    let mut all = Vec::new();
    for &domain in domains {
        all.extend(tasks::conversations(folder, domain)?);
    }
    all.retain(|conversation| !sample || sample::contains(&conversation.id));
    Ok(all)
}
