//! Runs the dialogues in one setting.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use pgvector::Vector;
use postgres::{Client, GenericClient, Transaction};

use super::question::{Prompt, Question, recall_and_precision};
use super::setting::Setting;
use crate::attribution::marking::cite;
use crate::data::Folder;
use crate::data::queries::{self, Form};
use crate::data::tasks::{Conversation, Turn};
use crate::eval::corpora::JudgedCorpus;
use crate::parallel;
use crate::progress::Progress;

/// Runs dialogues.
pub struct Runner<'a> {
    /// Embeddings of the user's words by turn; unjudged turns have none.
    embeddings: BTreeMap<String, Vec<f32>>,
    corpora: &'a [JudgedCorpus],
    prompts: bool,
}

/// A turn that has begun.
struct BegunTurn {
    turn_id: i64,
    /// Marker, passage, origin and text of each source.
    sources: Vec<(String, String, String, String)>,
    milliseconds: f64,
}

impl<'a> Runner<'a> {
    /// Reads the embeddings. `prompts`: whether questions have their prompts.
    ///
    /// # Errors
    /// Missing or malformed files.
    pub fn read(folder: &Folder, corpora: &'a [JudgedCorpus], prompts: bool) -> Result<Self> {
        let mut embeddings = BTreeMap::new();
        for corpus in corpora {
            let queries = queries::queries(folder, corpus.domain, Form::LastTurn)?;
            embeddings.extend(queries.into_iter().map(|query| (query.id, query.embedding)));
        }
        Ok(Self {
            embeddings,
            corpora,
            prompts,
        })
    }

    /// The judged questions from the second turn on, each as the last one of its dialogue. Each conversation is one transaction
    /// that is rolled back.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn run(
        &self,
        clients: &mut [Client],
        setting: Setting,
        conversations: &[Conversation],
    ) -> Result<Vec<Question>> {
        let turns = conversations.iter().map(|one| one.turns.len()).sum();
        let progress = Progress::new(setting.name(), turns);
        let questions = parallel::over(clients, conversations, |client, conversation| {
            let mut transaction = client.transaction()?;
            let questions = self.run_one(&mut transaction, setting, conversation)?;
            transaction.rollback()?;
            progress.step(conversation.turns.len());
            Ok(questions)
        })?;
        progress.finish();
        Ok(questions.into_iter().flatten().collect())
    }

    fn run_one(
        &self,
        transaction: &mut Transaction<'_>,
        setting: Setting,
        conversation: &Conversation,
    ) -> Result<Vec<Question>> {
        let corpus = self
            .corpora
            .iter()
            .find(|corpus| corpus.domain == conversation.domain)
            .context("the conversation belongs to no corpus")?;
        let mut questions = Vec::new();
        for turn in &conversation.turns {
            let is_judged = turn.number > 1 && !corpus.gold(&turn.id).is_empty();
            // A turn that is not the last one does not search: ask it as the last one, and take that back.
            if is_judged && !setting.retrieves_before() {
                let mut probe = transaction.transaction()?;
                let begun = self.begin(&mut probe, (setting, true), conversation, turn)?;
                questions.push(self.measure(
                    &mut probe,
                    setting,
                    conversation,
                    turn,
                    corpus,
                    &begun,
                )?);
                probe.rollback()?;
            }
            let begun = self.begin(transaction, (setting, false), conversation, turn)?;
            if is_judged && setting.retrieves_before() {
                questions.push(self.measure(
                    transaction,
                    setting,
                    conversation,
                    turn,
                    corpus,
                    &begun,
                )?);
            }
            let sources = begun.sources.iter();
            let marked = sources.map(|(marker, _, _, text)| (marker.as_str(), text.as_str()));
            transaction.execute(
                "SELECT FROM reground.end_turn($1, $2)",
                &[&begun.turn_id, &cite(&turn.answer, marked)],
            )?;
        }
        Ok(questions)
    }

    fn begin(
        &self,
        client: &mut impl GenericClient,
        (setting, is_last): (Setting, bool),
        conversation: &Conversation,
        turn: &Turn,
    ) -> Result<BegunTurn> {
        let embedding = self.embeddings.get(&turn.id).cloned().map(Vector::from);
        let begun = Instant::now();
        let rows = client
            .query(
                "SELECT turn_id, marker, chunk_id, origin, content \
                 FROM reground.begin_turn($1, $2, corpus => $3, embedding => $4, settings => $5)",
                &[
                    &reference(conversation),
                    &turn.question,
                    &conversation.domain.corpus(),
                    &embedding,
                    &setting.of_turn(is_last),
                ],
            )
            .with_context(|| format!("turn {}", turn.id))?;
        let milliseconds = begun.elapsed().as_secs_f64() * 1000.0;
        let turn_id = rows.first().context("begin_turn returned no row")?.get(0);
        let sources = rows.iter().filter_map(|row| {
            Some((
                row.get::<_, Option<String>>(1)?,
                row.get(2),
                row.get(3),
                row.get(4),
            ))
        });
        Ok(BegunTurn {
            turn_id,
            sources: sources.collect(),
            milliseconds,
        })
    }

    fn measure(
        &self,
        client: &mut impl GenericClient,
        setting: Setting,
        conversation: &Conversation,
        turn: &Turn,
        corpus: &JudgedCorpus,
        begun: &BegunTurn,
    ) -> Result<Question> {
        let row = client.query_one(
            "SELECT context_tokens, history_tokens, retrieved, \
                    (SELECT count(*) FROM reground.conversation_health AS earlier \
                     WHERE earlier.conversation_ref = h.conversation_ref AND earlier.retrieved) \
             FROM reground.conversation_health AS h WHERE turn_id = $1",
            &[&begun.turn_id],
        )?;
        ensure!(row.get::<_, bool>(2), "turn {} did not search", turn.id);
        let classes: Vec<String> = begun
            .sources
            .iter()
            .map(|(_, chunk_id, _, _)| corpus.duplicates.class(chunk_id))
            .collect();
        let (context_recall, context_precision) =
            recall_and_precision(&classes, &corpus.gold(&turn.id));
        let prompt = if self.prompts {
            Some(prompt(client, conversation, turn, begun.turn_id)?)
        } else {
            None
        };
        Ok(Question {
            setting,
            question: turn.id.clone(),
            conversation: conversation.id.clone(),
            turn_no: turn.number,
            searches: row.get::<_, i64>(3).unsigned_abs(),
            context_recall,
            context_precision,
            carried: begun
                .sources
                .iter()
                .filter(|(_, _, origin, _)| origin == "carried")
                .count(),
            context_tokens: row.get(0),
            history_tokens: row.get(1),
            begin_ms: begun.milliseconds,
            chunk_ids: begun
                .sources
                .iter()
                .map(|(_, chunk_id, _, _)| chunk_id.clone())
                .collect(),
            prompt,
        })
    }
}

/// Our reference of a conversation.
fn reference(conversation: &Conversation) -> String {
    format!("k1-{}", conversation.id)
}

/// What a model gets for a question.
fn prompt(
    client: &mut impl GenericClient,
    conversation: &Conversation,
    turn: &Turn,
    turn_id: i64,
) -> Result<Prompt> {
    let context = client.query_one("SELECT reground.prompt_context($1)", &[&turn_id])?;
    let history = client.query(
        "SELECT role, content FROM reground.history($1)",
        &[&reference(conversation)],
    )?;
    Ok(Prompt {
        context: context.get(0),
        history: history.iter().map(|row| (row.get(0), row.get(1))).collect(),
        question: turn.question.clone(),
    })
}
