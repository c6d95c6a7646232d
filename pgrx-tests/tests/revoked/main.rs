//! A passage with a planted word and a planted number is shown, cited and recorded. Then the user loses the right to read it. No function and no relation
//! that the user may read returns one of them after that, except to an auditor, and it returns with the right.

mod calls;

use std::collections::BTreeSet;

use anyhow::{Context, Result, anyhow, ensure};
use postgres::Client;
use reground_tests::pooled::Pooled;
use reground_tests::server::Database;
use reground_tests::surface;

use calls::{CALLS, function};

/// A word of one passage, of its title and its address, and of the answers that cite it.
const WORD: &str = "zyzzyva";
/// A number of the same passage, which the answers contradict.
const NUMBER: &str = "7319462850";

/// The corpus of the test, and what the user writes before the right is revoked.
const CORPUS: &str = include_str!("corpus.sql");
const WRITTEN: &str = include_str!("written.sql");
/// Work of a model and of a reviewer, as the owner.
const REVIEWED: &str = include_str!("reviewed.sql");

/// Results that must contain the word before the right is revoked. Otherwise the test shows nothing.
const TELLING: [&str; 15] = [
    "history",
    "context_text",
    "prompt_context",
    "begin_turn",
    "retrieve",
    "apply_rerank",
    "end_turn",
    "feed_answer",
    "record_turn",
    "conversation_report",
    "corpus_report",
    "search",
    "check_answer",
    "pending_embeddings",
    "reusable_answer",
];
const TELLING_RELATIONS: [&str; 11] = [
    "turns",
    "messages",
    "message_citations",
    "source_facts",
    "conversation_markers",
    "citation_audit",
    "fact_sheets",
    "judge_votes",
    "citation_labels",
    "citation_reports",
    "factuality_verdicts",
];

/// A database in which a user has the answers, an auditor, and the ids of the records.
struct Fixture {
    database: Database,
    user: String,
    auditor: String,
    ids: Vec<(&'static str, i64)>,
}

impl Fixture {
    fn build(name: &str) -> Result<Self> {
        let database = Database::create(name)?;
        let (user, auditor) = (
            format!("{}_user", database.name()),
            format!("{}_auditor", database.name()),
        );
        database.connect()?.batch_execute(&format!(
            "ALTER DATABASE {0} SET reground.tenant_from = 'app.tenant_id';
             ALTER DATABASE {0} SET track_functions = 'all';
             CREATE ROLE {user} LOGIN IN ROLE reground_user;
             CREATE ROLE {auditor} LOGIN IN ROLE reground_auditor",
            database.name()
        ))?;
        let mut owner = database.connect()?;
        owner
            .batch_execute(&CORPUS.replace("{user}", &user))
            .context("corpus.sql")?;
        let mut fixture = Self {
            database,
            user,
            auditor,
            ids: Vec::new(),
        };
        let mut session = fixture.session(&fixture.user)?;
        session
            .client
            .batch_execute(WRITTEN)
            .context("written.sql")?;
        owner.batch_execute(REVIEWED).context("reviewed.sql")?;
        let id = |owner: &mut Client, query: &str| -> Result<i64> {
            Ok(owner.query_one(query, &[])?.get(0))
        };
        let turn = |request: &str| {
            format!("SELECT turn_id FROM reground.turns WHERE request_id = '{request}'")
        };
        fixture.ids = vec![
            ("{ended}", id(&mut owner, &turn("first"))?),
            ("{open}", id(&mut owner, &turn("open"))?),
            ("{waiting}", id(&mut owner, &turn("waiting"))?),
            (
                "{message}",
                id(
                    &mut owner,
                    "SELECT message_id FROM reground.messages WHERE message_ref = 'first'",
                )?,
            ),
            (
                "{citation}",
                id(
                    &mut owner,
                    "SELECT min(citation_id) FROM reground.message_citations",
                )?,
            ),
        ];
        Ok(fixture)
    }

    /// A session of a role, for the tenant `acme`.
    fn session(&self, role: &str) -> Result<Pooled> {
        let mut session = Pooled::connect(&self.database, role)?;
        session.switch("acme")?;
        Ok(session)
    }

    /// Checks that no function and no relation tells the user the word or the number.
    fn tells_nothing(&self) -> Result<()> {
        let told = self.telling(&self.user, &self.surface()?)?;
        ensure!(told.is_empty(), "the word is in {told:?}");
        Ok(())
    }

    /// The results, by name, that contain the word or the number: rows, errors and notices of functions and relations. Nothing is committed.
    fn telling(&self, role: &str, names: &[String]) -> Result<BTreeSet<String>> {
        let mut session = self.session(role)?;
        let mut telling = BTreeSet::new();
        for name in names {
            let mut statement = format!("SELECT to_jsonb(r)::text FROM reground.{name} AS r");
            for (placeholder, id) in &self.ids {
                statement = statement.replace(placeholder, &id.to_string());
            }
            session.client.batch_execute("BEGIN")?;
            let reply = session.run(&statement, &[])?;
            session.client.batch_execute("ROLLBACK")?;
            let text = reply.text().to_lowercase();
            if text.contains(WORD) || text.contains(NUMBER) {
                telling.insert(name.clone());
            }
        }
        Ok(telling)
    }

    /// All calls, and all relations that the user may read.
    fn surface(&self) -> Result<Vec<String>> {
        let mut owner = self.database.connect()?;
        let functions = surface::functions(&mut owner, &[&self.user])?;
        surface::covered(&functions, CALLS.iter().map(|call| function(call)))?;
        let relations = surface::relations(&mut owner, &[&self.user])?;
        Ok(CALLS
            .iter()
            .map(|call| (*call).to_owned())
            .chain(relations)
            .collect())
    }

    /// Fails unless the word disappears with `revoke`, stays for the auditor, and returns with `grant`.
    fn word_follows_the_right(&self, revoke: &str, grant: &str) -> Result<()> {
        let surface = self.surface()?;
        let before = self.telling(&self.user, &surface)?;
        let functions: BTreeSet<&str> = before.iter().map(|name| function(name)).collect();
        for name in TELLING.iter().chain(&TELLING_RELATIONS) {
            ensure!(
                functions.contains(name),
                "{name} does not contain the word before the right is revoked"
            );
        }
        let mut owner = self.database.connect()?;
        owner
            .batch_execute(&revoke.replace("{user}", &self.user))
            .context("revoke")?;
        let told = self.telling(&self.user, &surface)?;
        ensure!(told.is_empty(), "after «{revoke}», the word is in {told:?}");
        // The question is the user's own text.
        let mut session = self.session(&self.user)?;
        let history = session.run(
            "SELECT string_agg(content, '|') FROM reground.history('talk')",
            &[],
        )?;
        ensure!(
            history.text().contains("Where is the vault kept?|[…]"),
            "history is {}",
            history.text()
        );
        let records = [
            "messages",
            "message_citations",
            "turns",
            "source_facts",
            "citation_audit",
        ]
        .map(str::to_owned);
        let audited = self.telling(&self.auditor, &records)?;
        ensure!(
            audited.len() == records.len(),
            "the auditor reads only {audited:?}"
        );

        owner
            .batch_execute(&grant.replace("{user}", &self.user))
            .context("grant")?;
        let after = self.telling(&self.user, &surface)?;
        ensure!(
            after == before,
            "the right came back, the word did not: {:?}",
            before.difference(&after)
        );
        Ok(())
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if let Ok(mut owner) = self.database.connect() {
            let roles = format!("{}, {}", self.user, self.auditor);
            // The database is dropped next; no other run uses the name of a remaining role.
            let _ = owner.batch_execute(&format!("DROP OWNED BY {roles}; DROP ROLE {roles}"));
        }
    }
}

#[test]
fn a_policy_hides_what_it_revokes() -> Result<()> {
    Fixture::build("revoked_policy")?.word_follows_the_right(
        "INSERT INTO public.denied VALUES ('{user}', 'plan')",
        "DELETE FROM public.denied",
    )
}

#[test]
fn a_lost_privilege_hides_the_corpus() -> Result<()> {
    Fixture::build("revoked_privilege")?.word_follows_the_right(
        "REVOKE SELECT ON public.papers FROM {user}",
        "GRANT SELECT ON public.papers TO {user}",
    )
}

/// A policy that raises an error lets nobody read.
#[test]
fn an_error_of_a_policy_hides_the_corpus() -> Result<()> {
    Fixture::build("revoked_error")?.word_follows_the_right(
        "ALTER FUNCTION public.may_read(text) RENAME TO could_read;
         CREATE FUNCTION public.may_read(doc_id text) RETURNS boolean LANGUAGE plpgsql STABLE AS
             'BEGIN RAISE EXCEPTION ''nobody reads now''; END';
         DROP POLICY readers ON public.papers; CREATE POLICY readers ON public.papers USING (public.may_read(doc_id))",
        "DROP POLICY readers ON public.papers; DROP FUNCTION public.may_read(text);
         ALTER FUNCTION public.could_read(text) RENAME TO may_read; CREATE POLICY readers ON public.papers USING (public.may_read(doc_id))",
    )
}

/// The new version has other passages, so only the document can be asked for.
#[test]
fn a_replaced_passage_is_hidden_with_its_document() -> Result<()> {
    let fixture = Fixture::build("revoked_replaced")?;
    let mut owner = fixture.database.connect()?;
    owner.batch_execute("SELECT set_config('app.tenant_id', 'acme', false); SELECT reground.put_document('papers', 'plan', content => 'A new text about geese.')")?;
    owner.batch_execute(&format!(
        "INSERT INTO public.denied VALUES ('{}', 'plan')",
        fixture.user
    ))?;
    fixture.tells_nothing()
}

/// A deleted source is not hidden: nobody can read it any more, and the history keeps what it said.
#[test]
fn a_deleted_source_stays_in_the_history() -> Result<()> {
    let fixture = Fixture::build("revoked_deleted")?;
    let mut owner = fixture.database.connect()?;
    owner.batch_execute("SELECT set_config('app.tenant_id', 'acme', false); SELECT reground.delete_document('papers', 'plan')")?;
    let told = fixture.telling(
        &fixture.user,
        &["history('talk')", "prompt_context({open})", "messages"].map(str::to_owned),
    )?;
    ensure!(told.len() == 3, "the word is only in {told:?}");
    Ok(())
}

/// The owner of the table sees only rows by its own policy, so a missing row may be a hidden one.
#[test]
fn a_forced_policy_hides_what_is_missing() -> Result<()> {
    let fixture = Fixture::build("revoked_forced")?;
    let mut owner = fixture.database.connect()?;
    owner.batch_execute(&format!(
        "ALTER TABLE public.papers OWNER TO {0}; ALTER TABLE public.papers FORCE ROW LEVEL SECURITY;
         INSERT INTO public.denied VALUES ('{0}', 'plan')",
        fixture.user
    ))?;
    fixture.tells_nothing()
}

/// The first columns of a query as text, of a user without notices.
fn texts(session: &mut Pooled, query: &str) -> Result<Vec<String>> {
    let reply = session.run(query, &[])?;
    ensure!(reply.error.is_none(), "{query}: {reply:?}");
    Ok(reply.rows)
}

/// A document that the reader could not read before it was deleted stays hidden, here by a policy on the table of documents.
#[test]
fn a_hidden_document_stays_hidden_when_it_is_deleted() -> Result<()> {
    let fixture = Fixture::build("revoked_then_deleted")?;
    let mut owner = fixture.database.connect()?;
    owner.batch_execute(&format!(
        "INSERT INTO public.denied VALUES ('{}', 'plan');
         SELECT set_config('app.tenant_id', 'acme', false); SELECT reground.delete_document('papers', 'plan')",
        fixture.user
    ))?;
    fixture.tells_nothing()
}

/// A user and a board member read an answer. The document is restricted to the board, and then deleted.
#[test]
fn principals_decide_about_a_deleted_document() -> Result<()> {
    let fixture = Fixture::build("revoked_principals")?;
    let mut owner = fixture.database.connect()?;
    owner.batch_execute(&format!(
        "ALTER DATABASE {} SET reground.principals_from = 'app.principals'",
        fixture.database.name()
    ))?;
    let mut owner = fixture.database.connect()?;
    owner.batch_execute(&format!(
        "SELECT set_config('app.tenant_id', 'acme', false);
         SELECT reground.create_corpus('wiki', principals_column => 'readers');
         SELECT reground.put_document('wiki', 'pay', content => 'Salaries rise in {WORD}.', principals => '{{user:7,group:board}}');
         GRANT SELECT ON public.wiki, public.wiki_documents TO {}",
        fixture.user
    ))?;
    let shown = |principals: &str| -> Result<bool> {
        let mut session = fixture.session(&fixture.user)?;
        session
            .client
            .batch_execute(&format!("SET app.principals = '{principals}'"))?;
        let history = "SELECT string_agg(content, '|') FROM reground.history('pay')";
        let answers = "SELECT count(*)::text FROM reground.messages WHERE answer ~ 'Salaries'";
        let (history, answers) = (
            texts(&mut session, history)?.concat(),
            texts(&mut session, answers)?.concat(),
        );
        let shown = history.contains(WORD);
        ensure!(
            (answers == "1") == shown,
            "history {history}, answers {answers}"
        );
        Ok(shown)
    };
    fixture.session(&fixture.user)?.client.batch_execute(&format!(
        "SET app.principals = '{{user:7}}'; SELECT reground.begin_turn('pay', 'When do salaries rise?', 'wiki');
         SELECT reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'Salaries rise in {WORD} [A1].')"
    ))?;
    let [user, board] = ["{user:7}", "{group:board}"];
    ensure!(shown(user)? && shown(board)?, "not shown at first");
    owner.batch_execute(
        "SELECT reground.put_document('wiki', 'pay', content => 'Salaries rise.', principals => '{group:board}')",
    )?;
    ensure!(!shown(user)? && shown(board)?, "after the restriction");
    owner.batch_execute("SELECT reground.delete_document('wiki', 'pay')")?;
    ensure!(!shown(user)?, "the deletion shows it again");
    ensure!(shown(board)?, "the board does not see what it could read");
    Ok(())
}

/// Begins a turn with the handbook and the plan in its context. Returns its id and their markers.
fn both_in_context(session: &mut Pooled) -> Result<[String; 3]> {
    let begun = texts(
        session,
        "SELECT concat_ws(' ', min(turn_id), string_agg(marker, ' ' ORDER BY doc_id)) FROM reground.begin_turn('both', 'Where is the vault kept?', 'papers')",
    )?;
    let begun: Vec<String> = begun.concat().split(' ').map(str::to_owned).collect();
    begun.try_into().map_err(|begun| anyhow!("{begun:?}"))
}

/// The marker of a hidden source is not the better choice for a citation of a visible one, and the rows of all citations stay.
#[test]
fn a_hidden_source_is_no_better_choice() -> Result<()> {
    let fixture = Fixture::build("revoked_other")?;
    let mut session = fixture.session(&fixture.user)?;
    let [turn, handbook, plan] = both_in_context(&mut session)?;
    let answer = format!("The guards are asleep at noon [{handbook}]. A vault is a room [{plan}].");
    let mut others = || {
        texts(
            &mut session,
            &format!(
                "SELECT coalesce(best_other_marker, '-') FROM reground.end_turn({turn}, '{answer}') ORDER BY citation_id"
            ),
        )
    };
    ensure!(others()? == [plan.clone(), handbook.clone()]);
    fixture.database.connect()?.batch_execute(&format!(
        "INSERT INTO public.denied VALUES ('{}', 'plan')",
        fixture.user
    ))?;
    let others = others()?;
    ensure!(others == ["-".to_owned(), handbook], "{others:?}");
    Ok(())
}

/// The verdicts on a word of a hidden source and on any other word are the same.
#[test]
fn no_verdict_depends_on_a_hidden_source() -> Result<()> {
    let fixture = Fixture::build("revoked_oracle")?;
    let mut session = fixture.session(&fixture.user)?;
    let [turn, handbook, plan] = both_in_context(&mut session)?;
    let answers = [
        format!("The WORD guards [{plan}]."),
        format!("The WORD guards [{handbook}]."),
        format!("The WORD guards [{plan}] [{handbook}]."),
        format!("The vault is a room of WORD guards [{handbook}] [{plan}]."),
        format!("It is \u{201c}the WORD hall\u{201d} [{plan}, p. 3]."),
        "The guards sleep [Source: The WORD plan].".to_owned(),
        "The guards sleep [Source: https://example.org/WORD].".to_owned(),
    ];
    let mut verdicts = |word: &str| -> Result<Vec<String>> {
        let mut verdicts = Vec::new();
        for answer in &answers {
            let answer = answer.replace("WORD", word);
            for call in [
                "feed_answer({turn}, {answer}, true)",
                "end_turn({turn}, {answer})",
            ] {
                let call = call
                    .replace("{turn}", &turn)
                    .replace("{answer}", &format!("'{answer}'"));
                session.client.batch_execute("BEGIN")?;
                let rows = texts(
                    &mut session,
                    &format!(
                        "SELECT (to_jsonb(r) - '{{message_id,citation_id,resume,created_at}}'::text[])::text FROM reground.{call} AS r"
                    ),
                )?;
                session.client.batch_execute("ROLLBACK")?;
                verdicts.push(rows.join(" ").replace(word, "WORD"));
            }
        }
        Ok(verdicts)
    };
    ensure!(
        verdicts(WORD)? != verdicts("qwertyu")?,
        "the words make no difference before the right is revoked"
    );
    fixture.database.connect()?.batch_execute(&format!(
        "INSERT INTO public.denied VALUES ('{}', 'plan')",
        fixture.user
    ))?;
    let (known, guessed) = (verdicts(WORD)?, verdicts("qwertyu")?);
    for (known, guessed) in known.iter().zip(&guessed) {
        ensure!(known == guessed, "{known}\n{guessed}");
    }
    let hidden = texts(
        &mut session,
        &format!(
            "SELECT to_jsonb(r)::text FROM (SELECT status, holds, score, support, support_parts, quote FROM reground.end_turn({turn}, 'The {WORD} guards [{plan}].')) AS r"
        ),
    )?;
    ensure!(
        hidden.concat()
            == r#"{"holds": null, "quote": null, "score": null, "status": "unresolvable", "support": null, "support_parts": null}"#,
        "{hidden:?}"
    );
    Ok(())
}

/// Functions that judge or show a stored answer again raise the same error as for an unknown one.
#[test]
fn a_hidden_answer_is_unknown() -> Result<()> {
    let fixture = Fixture::build("revoked_answer")?;
    let message = fixture
        .ids
        .iter()
        .find(|(name, _)| *name == "{message}")
        .context("the first answer")?
        .1;
    fixture.database.connect()?.batch_execute(&format!(
        "INSERT INTO public.denied VALUES ('{}', 'plan')",
        fixture.user
    ))?;
    let mut session = fixture.session(&fixture.user)?;
    for call in [
        "answer_metrics(ID)",
        "repair_answer(ID)",
        "citation_evidence(ID)",
        "answer_parts(ID, 'openai')",
    ] {
        let call = call.replace("ID", &message.to_string());
        let reply = session.run(
            &format!("SELECT to_jsonb(r)::text FROM reground.{call} AS r"),
            &[],
        )?;
        ensure!(
            reply
                .error
                .as_ref()
                .is_some_and(|error| error.contains("P0002")),
            "{call}: {reply:?}"
        );
    }
    Ok(())
}

/// The functions of the policies answer about the rows of their conversation, and about no other document.
#[test]
fn policies_reveal_no_other_document() -> Result<()> {
    let fixture = Fixture::build("revoked_unseen")?;
    let mut owner = fixture.database.connect()?;
    owner.batch_execute(&format!(
        "SELECT set_config('app.tenant_id', 'acme', false);
         INSERT INTO public.denied VALUES ('{0}', 'secret'), ('{0}', 'plan');
         SELECT reground.put_document('papers', 'secret', content => 'A secret.')",
        fixture.user
    ))?;
    let row = owner.query_one(
        "SELECT (SELECT chunk_id::text FROM public.papers WHERE doc_id = 'secret'), (SELECT chunk_id::text FROM public.papers WHERE doc_id = 'plan'),
                (SELECT conversation_id FROM reground.conversations WHERE conversation_ref = 'talk')",
        &[],
    )?;
    let (secret, plan, talk): (String, String, i64) = (row.get(0), row.get(1), row.get(2));
    let mut session = fixture.session(&fixture.user)?;
    let shown = texts(
        &mut session,
        &format!(
            "SELECT concat_ws(' ', reground._is_shown_source({talk}, 'papers', 'secret', '{secret}'), reground._is_shown_source({talk}, 'papers', 'secret', '0'),
                 reground._is_shown_source({talk}, 'papers', 'plan', '{plan}'), coalesce(reground._source_state('acme', 'papers', 'plan', 1), '-'))"
        ),
    )?;
    ensure!(shown.concat() == "t t f -", "{shown:?}");
    Ok(())
}

/// Without a corpus that can hide rows, the policies ask once a statement, and no row is looked up.
#[test]
fn a_role_without_policies_pays_one_look_up() -> Result<()> {
    let fixture = Fixture::build("revoked_nothing")?;
    let mut session = fixture.session(&fixture.user)?;
    let calls = |session: &mut Pooled| -> Result<(i64, i64)> {
        session.client.batch_execute("BEGIN")?;
        let rows = session
            .client
            .query("SELECT message_id FROM reground.messages", &[])?;
        ensure!(rows.len() == 4, "{} answers", rows.len());
        let counts = session.client.query_one(
            "SELECT coalesce(sum(calls) FILTER (WHERE funcname = '_hides_nothing'), 0)::bigint, coalesce(sum(calls) FILTER (WHERE funcname = '_is_shown_turn'), 0)::bigint
             FROM pg_stat_xact_user_functions",
            &[],
        )?;
        session.client.batch_execute("ROLLBACK")?;
        Ok((counts.get(0), counts.get(1)))
    };
    ensure!(
        calls(&mut session)? == (1, 4),
        "with a policy, each answer is looked up"
    );
    fixture.database.connect()?.batch_execute(
        "ALTER TABLE public.papers DISABLE ROW LEVEL SECURITY; ALTER TABLE public.papers_documents DISABLE ROW LEVEL SECURITY",
    )?;
    // The counts of a session include those of its earlier transactions.
    let counts = calls(&mut fixture.session(&fixture.user)?)?;
    ensure!(counts == (1, 0), "without a policy: {counts:?}");
    Ok(())
}
