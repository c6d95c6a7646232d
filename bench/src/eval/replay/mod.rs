//! Replays conversations through `begin_turn` and `end_turn`, with the answers that humans wrote.

pub mod arm;
pub mod compressed;
pub mod hits;
pub mod scope;
pub mod tally;
pub mod turn;

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use postgres::{Client, GenericClient};

use super::corpora::JudgedCorpus;
use crate::data::queries::{self, Form};
use crate::data::tasks::Conversation;
use crate::data::{Domain, Folder};
use crate::parallel;
use crate::progress::Progress;
use arm::Arm;
use turn::ReplayedTurn;

/// A replayed conversation.
#[derive(Debug)]
pub struct ReplayedConversation {
    /// Its domain.
    pub domain: Domain,
    /// Its turns in order.
    pub turns: Vec<ReplayedTurn>,
}

/// The inputs of a replay.
pub struct Replay<'a> {
    /// Embeddings of the user's words by turn; unjudged turns have none.
    embeddings: BTreeMap<String, Vec<f32>>,
    corpora: &'a [JudgedCorpus],
}

impl<'a> Replay<'a> {
    /// Reads the embeddings.
    ///
    /// # Errors
    /// Missing or malformed files.
    pub fn read(folder: &Folder, corpora: &'a [JudgedCorpus]) -> Result<Self> {
        let mut embeddings = BTreeMap::new();
        for corpus in corpora {
            let queries = queries::queries(folder, corpus.domain, Form::LastTurn)?;
            embeddings.extend(queries.into_iter().map(|query| (query.id, query.embedding)));
        }
        Ok(Self {
            embeddings,
            corpora,
        })
    }

    /// Replays every conversation in every arm. Each conversation is one transaction that is rolled back, so only the corpora
    /// remain.
    ///
    /// # Errors
    /// Errors of the server, and those of [`turn::replay`].
    pub fn replay_all(
        &self,
        clients: &mut [Client],
        arms: &[Arm],
        conversations: &[Conversation],
    ) -> Result<Vec<(Arm, Vec<ReplayedConversation>)>> {
        let mut all = Vec::new();
        for &arm in arms {
            let turns = conversations.iter().map(|one| one.turns.len()).sum();
            let task = format!("replay, {}", arm.name());
            let progress = Progress::new(&task, turns);
            let replayed = parallel::over(clients, conversations, |client, conversation| {
                let mut transaction = client.transaction()?;
                let replayed = self.replay_one(&mut transaction, "eval", arm, conversation)?;
                transaction.rollback()?;
                progress.step(replayed.turns.len());
                Ok(replayed)
            })?;
            progress.finish();
            all.push((arm, replayed));
        }
        Ok(all)
    }

    /// Replays a conversation under a new name and commits it; returns the name and the replay.
    ///
    /// # Errors
    /// As [`Replay::replay_all`].
    pub fn replay_and_store(
        &self,
        client: &mut Client,
        arm: Arm,
        conversation: &Conversation,
    ) -> Result<(String, ReplayedConversation)> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
        let name = format!("eval-{now}");
        let replayed = self.replay_one(client, &name, arm, conversation)?;
        Ok((format!("{name}-{}", conversation.id), replayed))
    }

    fn replay_one(
        &self,
        client: &mut impl GenericClient,
        prefix: &str,
        arm: Arm,
        conversation: &Conversation,
    ) -> Result<ReplayedConversation> {
        let corpus = self
            .corpora
            .iter()
            .find(|corpus| corpus.domain == conversation.domain)
            .context("the conversation belongs to no corpus")?;
        let name = format!("{prefix}-{}", conversation.id);
        let turns = conversation.turns.iter().map(|turn| {
            let embedding = self.embeddings.get(&turn.id);
            turn::replay(client, &name, arm, turn, embedding, corpus)
                .with_context(|| format!("turn {}", turn.id))
        });
        Ok(ReplayedConversation {
            domain: conversation.domain,
            turns: turns.collect::<Result<_>>()?,
        })
    }
}
