//! Two tenants that write rows with words of their own.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::pooled::{Pooled, Reply};
use reground_tests::server::Database;
use serde_json::Value;

/// Names of the tenants.
pub const TENANTS: [&str; 2] = ["acme", "bolt"];

/// A tenant and its ids.
pub struct Tenant {
    /// Name, as in the setting.
    pub name: &'static str,
    /// Prefix of all words that the tenant writes.
    pub sentinel: &'static str,
    /// Turns whose context the tenant has received.
    pub turns: Vec<i64>,
    /// Turns that wait for apply_rerank.
    pub waiting: Vec<i64>,
    /// All messages that the tenant has received.
    pub messages: Vec<i64>,
}

impl Tenant {
    /// The private corpus.
    pub fn corpus(&self) -> String {
        format!("{}-corpus", self.sentinel)
    }

    /// A document of the private corpus: 1 or 2.
    pub fn document(&self, number: usize) -> String {
        format!("{}-doc-{number}", self.sentinel)
    }

    /// The document in the shared corpus; row-level security hides it from the other tenant.
    pub fn note(&self) -> String {
        format!("{}-note", self.sentinel)
    }

    /// A conversation: 1 has an ended and an open turn, 2 a deferred one.
    pub fn conversation(&self, number: usize) -> String {
        format!("{}-talk-{number}", self.sentinel)
    }

    /// Stores the ids of turns and messages in a reply.
    pub fn remember_ids(&mut self, reply: &Reply) {
        for row in &reply.rows {
            let Ok(row) = serde_json::from_str::<Value>(row) else {
                continue;
            };
            let id = |name: &str| row.get(name).and_then(Value::as_i64);
            // A source without a marker is a candidate for the reranker.
            let candidate = row.get("chunk_id").is_some_and(Value::is_string)
                && row.get("marker").is_some_and(Value::is_null);
            if let Some(turn) = id("turn_id") {
                if candidate {
                    add(&mut self.waiting, turn);
                } else {
                    self.waiting.retain(|waiting| *waiting != turn);
                    add(&mut self.turns, turn);
                }
            }
            if let Some(message) = id("message_id") {
                add(&mut self.messages, message);
            }
        }
    }
}

fn add(ids: &mut Vec<i64>, id: i64) {
    if !ids.contains(&id) {
        ids.push(id);
    }
}

/// The database, the pooled role and the two tenants.
pub struct Fixture {
    /// A database with `reground.tenant_from = app.tenant_id`.
    pub database: Database,
    /// Acme and Bolt.
    pub tenants: [Tenant; 2],
    role: String,
}

/// The shared corpus, whose tables hide the documents of each tenant from the other.
const OWNERS: &str = "
    SELECT set_config('app.tenant_id', 'owner', false);
    SELECT reground.create_corpus('commons', dimensions => 2, settings => '{\"reuse_answers\": true}');
    CREATE FUNCTION visible(doc_id text) RETURNS boolean LANGUAGE sql STABLE
        RETURN doc_id !~ '^z' OR starts_with(doc_id, 'z' || current_setting('app.tenant_id', true) || '-');
    -- A passage that the corpus has now, whatever was put into it meanwhile.
    CREATE FUNCTION present(corpus text) RETURNS text LANGUAGE plpgsql STABLE AS $$
    BEGIN
        RETURN coalesce((SELECT s.chunk_id FROM reground.search(corpus, 'kept number guards know', max_results => 1) AS s), '1');
    EXCEPTION WHEN OTHERS THEN
        RETURN '1';
    END $$;
    ALTER TABLE commons ENABLE ROW LEVEL SECURITY;
    ALTER TABLE commons_documents ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own ON commons USING (visible(doc_id));
    CREATE POLICY own ON commons_documents USING (visible(doc_id));
    SELECT reground.put_document('commons', 'handbook', passages => '[{\"content\": \"The plan of each firm is kept in its barn.\"}]');
    SELECT reground.put_embeddings('commons', ARRAY['1'], ARRAY['[1,1]']::vector[]);
    SELECT reground.set_model('splitter', 'decompose', 'openai'), reground.set_model('checker', 'entail', 'openai');
";

/// The rows of a tenant, with TENANT and SENTINEL as placeholders.
const WRITTEN: &str = "
    SELECT set_config('app.tenant_id', 'TENANT', false);
    SELECT reground.put_document('SENTINEL-corpus', 'SENTINEL-doc-1', content => 'The SENTINELplan is kept in the SENTINELbarn. Nobody may know.',
        title => 'SENTINEL-title-1', uri => 'https://SENTINELsite.example/SENTINELpage-1', metadata => '{\"owner\": \"SENTINEL-owner\"}', page_count => 1);
    SELECT reground.put_document('SENTINEL-corpus', 'SENTINEL-doc-2', passages => '[{\"content\": \"The SENTINELgoat guards the SENTINELplan.\", \"metadata\": {\"part\": \"SENTINEL-part\"}}]');
    SELECT reground.put_document('commons', 'SENTINEL-note', content => 'The SENTINELplan is to move the SENTINELbarn.', title => 'SENTINEL-title-3',
        uri => 'https://SENTINELsite.example/SENTINELpage-3');
    SELECT reground.put_embeddings('SENTINEL-corpus', ARRAY['1'], ARRAY['[1,0]']::vector[], model => 'SENTINEL-embedder');
    SELECT reground.alter_conversation('SENTINEL-talk-1', '{\"reranker\": \"public.SENTINELrank(text,text[])\", \"max_sources\": 5, \"provenance\": \"merkle\"}');
    SELECT reground.pin('SENTINEL-talk-1', doc_id => 'SENTINEL-doc-2', corpus => 'SENTINEL-corpus');
    SELECT reground.begin_turn('SENTINEL-talk-1', 'Where is the SENTINELplan kept?', 'SENTINEL-corpus', '[1,0]', request_id => 'SENTINEL-request-1',
        tags => '{\"tag\": \"SENTINEL-tag\"}', user_ref => 'SENTINEL-talk-1');
    SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'The SENTINELplan is kept in the SENTINELbarn [B1]. SENTINELpigs fly [Z9].',
        message_ref => 'SENTINEL-message-1', model => 'SENTINEL-model', usage => '{\"by\": \"SENTINEL-usage\"}', tags => '{\"tag\": \"SENTINEL-tag\"}');
    SELECT reground.put_gold_facts('SENTINEL-doc-1', ARRAY['The SENTINELplan is kept.', 'The SENTINELgoat guards.']), reground.put_gold_facts('SENTINEL-doc-2', ARRAY['The SENTINELgoat eats.']);
    SELECT reground.evaluate_factuality((SELECT max(turn_id) FROM reground.turns), 'SENTINEL-doc-1', 'splitter', 'checker');
    SELECT reground.report_citation((SELECT min(citation_id) FROM reground.message_citations), 'SENTINEL-reason', 'SENTINEL-reporter');
    SELECT reground.repair_answer((SELECT min(message_id) FROM reground.messages), 'repoint');
    SELECT reground.report_answer((SELECT min(message_id) FROM reground.messages), 'SENTINEL-reason', 'SENTINEL-reporter');
    SELECT reground.put_probe('SENTINEL-probe', 'SENTINEL-corpus', 'SENTINELgoat?', 'SENTINEL-doc');
    SELECT count(*) FROM reground.run_probes();
    SELECT reground.begin_turn('support', 'SENTINELquestion of the plan', 'commons', '[0,1]', request_id => 'request-1', user_ref => 'support');
    SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'SENTINELanswer [A1].', message_ref => 'message-1');
    SELECT reground.begin_turn('SENTINEL-talk-2', 'SENTINELgoat?', 'SENTINEL-corpus', '[0,1]', settings => '{\"reranker\": \"deferred\"}', request_id => 'SENTINEL-request-2');
    SELECT reground.record_turns('[{\"conversation_ref\": \"SENTINEL-old\", \"query\": \"SENTINELasked?\", \"answer\": \"SENTINELsaid [1].\", \"passages\": [{\"content\": \"SENTINELshown.\", \"title\": \"SENTINEL-title-4\"}],
        \"message_ref\": \"SENTINEL-message-4\", \"model\": \"SENTINEL-model\", \"tags\": {\"tag\": \"SENTINEL-tag\"}}]');
    SELECT reground.begin_turn('SENTINEL-talk-1', 'And who guards the SENTINELplan?', embedding => '[0,1]', request_id => 'SENTINEL-request-3');
    SELECT reground.retrieve((SELECT max(turn_id) FROM reground.turns), 'SENTINELgoat of the SENTINELbarn', embedding => '[1,0]');
    SELECT reground.add_passages((SELECT max(turn_id) FROM reground.turns), '[{\"content\": \"The SENTINELtool found the SENTINELplan.\", \"uri\": \"https://SENTINELsite.example/SENTINELtool\", \"title\": \"SENTINEL-result\"}]');
    SELECT count(*) FROM reground.shadow_turn((SELECT max(turn_id) FROM reground.turns), '{\"max_sources\": 2}', 'SENTINEL-label', rewrite => 'SENTINELgoat and plan');
";

/// Work of a model and a reviewer, as the owner: the evaluation of the tenant is decomposed and labelled.
const LABELLED: &str = "
    SELECT reground.complete_task(task_id, lease_token, '{\"content\": \"{\\\"statements\\\": [\\\"The SENTINELplan is kept.\\\"]}\"}') FROM reground.claim_tasks('worker', '{decompose}');
    SELECT reground.label_verdict(verdict_id, 'neutral', 'SENTINEL-note', 'SENTINEL-reviewer'), reground.label_decomposition(evaluation_id, 1, 0, 'SENTINEL-note', 'SENTINEL-reviewer')
    FROM reground.factuality_verdicts WHERE strpos(statement, 'SENTINEL') > 0;
";
/// Two votes on a citation of the tenant $1, with texts that begin with $2.
const JUDGED: &str = "
    INSERT INTO reground.judge_votes (citation_id, model, prompt, vote_no, tenant, verdict, confidence, passage, explanation, deterministic)
    SELECT min(c.citation_id), $2 || '-judge', 'judge-1', n, $1, 'partial', 0.5, $2 || '-passage', $2 || '-reason', false
    FROM reground.message_citations AS c, generate_series(1, 2) AS n WHERE c.tenant = $1 GROUP BY n";

impl Fixture {
    /// Builds the database; each tenant writes through the pooled role.
    pub fn build(name: &str) -> Result<Self> {
        let database = Database::create(name)?;
        let role = format!("{}_pool", database.name());
        let mut owner = database.connect()?;
        owner.batch_execute(&format!(
            "ALTER DATABASE {} SET reground.tenant_from = 'app.tenant_id';
             CREATE ROLE {role} LOGIN IN ROLE reground_user",
            database.name()
        ))?;
        let mut owner = database.connect()?;
        owner.batch_execute(OWNERS)?;
        for name in TENANTS {
            let sentinel = format!("z{name}");
            owner.batch_execute(&format!(
                "SELECT reground.create_corpus('{sentinel}-corpus', dimensions => 2, tenant => '{name}', settings => '{{\"reuse_answers\": true}}');
                 SELECT reground.set_model('{sentinel}-judge', 'judge', 'openai'), reground.set_judging('{sentinel}-judge', tenant => '{name}');
                 CREATE FUNCTION {sentinel}rank(query text, passages text[]) RETURNS real[] LANGUAGE sql RETURN array_fill(0.5::real, ARRAY[cardinality(passages)])"
            )).with_context(|| format!("the corpus of {name}"))?;
        }
        owner.batch_execute(&format!(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}"
        ))?;
        let mut fixture = Self {
            tenants: [tenant(TENANTS[0], "zacme"), tenant(TENANTS[1], "zbolt")],
            role,
            database,
        };
        let mut pooled = fixture.pooled()?;
        for tenant in &mut fixture.tenants {
            let written = WRITTEN
                .replace("TENANT", tenant.name)
                .replace("SENTINEL", tenant.sentinel);
            pooled
                .client
                .batch_execute(&written)
                .with_context(|| format!("as {}", tenant.name))?;
            let (name, sentinel) = (tenant.name, tenant.sentinel);
            owner.execute(
                "SELECT reground.label_citation(min(citation_id), 'accurate', $2, $3) FROM reground.message_citations WHERE tenant = $1",
                &[&name, &format!("{sentinel}-note"), &format!("{sentinel}-reviewer")],
            )?;
            owner.batch_execute(&LABELLED.replace("SENTINEL", sentinel))?;
            owner.execute(JUDGED, &[&name, &sentinel])?;
            owner.batch_execute("SELECT reground.refresh_audit()")?;
            let mut ids = |query: &str| -> Result<Vec<i64>> {
                let rows = pooled.client.query(query, &[])?;
                Ok(rows.iter().map(|row| row.get(0)).collect())
            };
            tenant.turns = ids("SELECT turn_id FROM reground.turns WHERE state = 'open'")?;
            tenant.waiting = ids("SELECT turn_id FROM reground.turns WHERE state = 'deferred'")?;
            tenant.messages = ids("SELECT message_id FROM reground.messages")?;
            ensure!(
                tenant.turns.len() == 1 && tenant.waiting.len() == 1 && tenant.messages.len() == 4,
                "{} has other turns or messages",
                tenant.name
            );
        }
        Ok(fixture)
    }

    /// Opens the session that both tenants use.
    pub fn pooled(&self) -> Result<Pooled> {
        Pooled::connect(&self.database, &self.role)
    }

    /// Fails unless all turns and messages that a tenant received are its own.
    pub fn each_id_is_its_owners(&self, owner: &mut Client) -> Result<()> {
        for (relation, key) in [("turns", "turn_id"), ("messages", "message_id")] {
            for tenant in &self.tenants {
                let told = match relation {
                    "turns" => &tenant.turns,
                    _ => &tenant.messages,
                };
                let rows = owner.query(
                    &format!("SELECT {key} FROM reground.{relation} WHERE tenant = $1"),
                    &[&tenant.name],
                )?;
                let own: BTreeSet<i64> = rows.iter().map(|row| row.get(0)).collect();
                let foreign: Vec<_> = told.iter().filter(|id| !own.contains(id)).collect();
                ensure!(
                    foreign.is_empty(),
                    "{} received the {relation} {foreign:?}",
                    tenant.name
                );
                ensure!(
                    told.len() > 5,
                    "{} received too few {relation}",
                    tenant.name
                );
            }
        }
        Ok(())
    }
}

fn tenant(name: &'static str, sentinel: &'static str) -> Tenant {
    Tenant {
        name,
        sentinel,
        turns: Vec::new(),
        waiting: Vec::new(),
        messages: Vec::new(),
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if let Ok(mut owner) = self.database.connect() {
            // The database is dropped next; no other run uses the name of a remaining role.
            let _ = owner.batch_execute(&format!("DROP OWNED BY {0}; DROP ROLE {0}", self.role));
        }
    }
}
