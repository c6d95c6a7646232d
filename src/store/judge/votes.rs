//! The table `judge_votes`, and the citations that are voted on.

use reground_models::judge::agreement::LabelCount;
use reground_models::judge::judgement::Judgement;
use reground_models::judge::prompt::Cited;
use reground_sealing::Kind;
use serde::Deserialize;

use pgrx::datum::TimestampWithTimeZone;

use crate::error::Result;
use crate::run_as::as_owner;
use crate::sql;
use crate::store::keys::{self, Of};

/// A citation with its claim and its source.
#[derive(Debug, Deserialize)]
pub struct StoredCitation {
    question: String,
    claim: String,
    citation: String,
    passage: String,
    title: Option<String>,
    locator: Option<String>,
}

impl StoredCitation {
    /// The parts that a judge gets.
    pub fn cited(&self) -> Cited<'_> {
        Cited {
            question: &self.question,
            claim: &self.claim,
            citation: &self.citation,
            passage: &self.passage,
            title: self.title.as_deref(),
            locator: self.locator.as_deref(),
        }
    }
}

/// A citation of a tenant with its source as the context of its turn shows it; `None` if it, its claim or the text of the source is gone.
pub fn citation(tenant: &str, citation_id: i64) -> Result<Option<StoredCitation>> {
    keys::read_json(
        Of::Tenant(tenant),
        "SELECT row_to_json(r)::text FROM ( \
                 SELECT t.query AS question, c.claim, c.raw AS citation, e.source #>> '{passage,content}' AS passage, c.title, c.locator \
                 FROM reground.message_citations AS c JOIN reground.turns AS t USING (turn_id) CROSS JOIN jsonb_array_elements(t.context) AS e(source) \
                 WHERE c.tenant = $1 AND c.citation_id = $2 AND c.claim <> '' \
                     AND e.source #>> '{passage,corpus}' = c.corpus AND e.source #>> '{passage,chunk_id}' = c.chunk_id AND e.source #>> '{passage,content}' <> '' \
                 ORDER BY e.source ->> 'marker' = c.marker DESC NULLS LAST LIMIT 1) AS r",
        &[tenant.into(), citation_id.into()],
    )
}

/// Locks the conversation of a citation, so that no text of it is erased until the transaction ends.
pub fn hold(tenant: &str, citation_id: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            "SELECT FROM reground.conversations AS v WHERE v.conversation_id = ( \
                 SELECT c.conversation_id FROM reground.message_citations AS c WHERE c.tenant = $1 AND c.citation_id = $2) FOR SHARE",
            &[tenant.into(), citation_id.into()],
        )
    })?;
    Ok(())
}

/// A vote on a citation.
#[derive(Clone, Copy, Debug)]
pub struct Vote<'a> {
    pub tenant: &'a str,
    pub citation_id: i64,
    pub model: &'a str,
    pub prompt: &'a str,
    pub vote_no: i32,
    pub is_deterministic: bool,
}

/// Stores a vote, unless it is stored or the citation was erased meanwhile.
pub fn put(vote: Vote<'_>, judgement: &Judgement) -> Result<()> {
    let passage = judgement.passage.as_deref().map(sql::json).transpose()?;
    let sealer = keys::sealer(vote.tenant)?;
    let sealed = passage.and_then(|passage| sealer.value(Kind::Text, &passage));
    let sealed: Option<String> = sealed.map(|text| serde_json::from_str(&text)).transpose()?;
    let judgement = sql::json(judgement)?;
    as_owner(|| {
        sql::run(
            "INSERT INTO reground.judge_votes (citation_id, model, prompt, vote_no, tenant, deterministic, verdict, confidence, passage, explanation, coordinates_match) \
             SELECT c.citation_id, $2, $3, $4, $5, $6, x.verdict, x.confidence, coalesce($8, x.passage), x.explanation, x.coordinates_match \
             FROM (SELECT citation_id FROM reground.message_citations WHERE citation_id = $1 AND tenant = $5 FOR KEY SHARE) AS c \
                 CROSS JOIN json_to_record($7::json) AS x(verdict text, confidence double precision, passage text, explanation text, coordinates_match boolean) \
             ON CONFLICT DO NOTHING",
            &[
                vote.citation_id.into(),
                vote.model.into(),
                vote.prompt.into(),
                vote.vote_no.into(),
                vote.tenant.into(),
                vote.is_deterministic.into(),
                judgement.into(),
                sealed.into(),
            ],
        )
    })?;
    Ok(())
}

/// Labelled citations by label and verdict, as the caller may read them.
pub fn confusion(
    model: Option<&str>,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
) -> Result<Vec<LabelCount>> {
    sql::read_rows(
        "SELECT k.model, k.prompt, k.label, k.verdict, k.citations, k.recent AS of_quarter FROM reground.judge_confusion($1, $2, $3) AS k ORDER BY k.model, k.prompt",
        &[model.into(), since.into(), until.into()],
    )
}
