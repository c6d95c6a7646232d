//! Two tenants use one pooled role and one pooled session: calls with names and ids of the other tenant, or with invalid values,
//! must return nothing of the other tenant, neither in a row nor in an error, a hint or a notice.
//!
//! Each word that a tenant writes starts with the sentinel of the tenant. A word with the sentinel of the other tenant in
//! a reply is a leak, unless the call itself contained that word.

mod arguments;
mod calls;
mod fixture;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use reground_tests::chance::Chance;
use reground_tests::pooled::{Pooled, Reply, Scope};
use reground_tests::surface;

use arguments::Owner;
use calls::{CALLS, Call};
use fixture::{Fixture, TENANTS, Tenant};

/// Roles of the pooled role.
const ROLES: [&str; 1] = ["reground_user"];

/// Views whose rows contain only the name and figures of a tenant.
const ONLY_FIGURES: [&str; 1] = ["turn_overhead"];

/// Relations with the same rows for all users.
const SAME_FOR_ALL: [&str; 4] = [
    "settings",
    "citation_statuses",
    "support_cues",
    "model_prices",
];

/// Functions without a failing call here: they take no values of a tenant, or return no rows for unknown ids.
const NEVER_FAIL: [&str; 41] = [
    "_unsealed",
    "openmetrics",
    "_hides_nothing",
    "_is_shown_turn",
    "_is_shown_source",
    "_notice_scope",
    "_trusted_owner",
    "_settings",
    "current_tenant",
    "current_principals",
    "profile",
    "extract_citations",
    "_source_state",
    "_cited_row",
    "_bm25_distance",
    "bm25_explain",
    "_bm25_matches",
    "bm25_query",
    "bm25_with_statistics",
    "bm25_score",
    "find_text_config",
    "in_language",
    "_judge_majority",
    "_dimension_name",
    "_dimension_key",
    "_document_type",
    "drop_probe",
    "drop_gold_facts",
    "_factuality",
    "run_probes",
    "_node",
    "_pair_index",
    "in_canary",
    "_compare",
    "_of_answers",
    "retrieval_metrics",
    "text_metrics",
    "trace_document",
    "who_saw",
    "_usage_tokens",
    "_wilson_interval",
];

/// Returns the words of a text that start with a sentinel.
fn words(text: &str, sentinel: &str) -> BTreeSet<String> {
    let text = text.to_lowercase();
    text.match_indices(sentinel)
        .map(|(at, _)| {
            text[at..]
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '-')
                .collect()
        })
        .collect()
}

/// Fails if a reply contains a word of `other` that was not an argument.
fn check_isolation(reply: &Reply, other: &Tenant, arguments: &[Option<String>]) -> Result<()> {
    let passed = words(
        &arguments
            .iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
            .join("\n"),
        other.sentinel,
    );
    ensure!(
        !passed.contains(other.sentinel),
        "an argument is the bare sentinel, so the check would find nothing"
    );
    let said = words(&reply.text(), other.sentinel);
    let leaked: Vec<_> = said.difference(&passed).collect();
    ensure!(
        leaked.is_empty(),
        "{leaked:?} of {} in {}",
        other.name,
        reply.text()
    );
    Ok(())
}

/// Returns a hash of all rows that the tenant sees, for each relation.
fn visible_rows(pooled: &mut Pooled, relations: &BTreeSet<String>) -> Result<Vec<String>> {
    let hashes: Vec<String> = relations
        .iter()
        .map(|relation| format!("SELECT '{relation} ' || coalesce(md5(string_agg(r::text, '' ORDER BY r::text)), '') FROM reground.{relation} AS r"))
        .collect();
    let reply = pooled.run(&hashes.join(" UNION ALL "), &[])?;
    ensure!(reply.error.is_none(), "{reply:?}");
    Ok(reply.rows)
}

#[test]
fn every_function_and_view_keeps_tenants_apart() -> Result<()> {
    let fixture = Fixture::build("tenant_surface")?;
    let mut owner = fixture.database.connect()?;
    surface::covered(
        &surface::functions(&mut owner, &ROLES)?,
        CALLS.iter().map(|call| call.function()),
    )?;
    let relations = surface::relations(&mut owner, &ROLES)?;
    let mut pooled = fixture.pooled()?;
    // The same prepared statements in each mode and for both tenants: a plan of one tenant is used for the other.
    for mode in ["auto", "force_generic_plan", "force_custom_plan"] {
        pooled
            .client
            .batch_execute(&format!("SET plan_cache_mode = {mode}"))?;
        for (me, other) in [(0, 1), (1, 0), (0, 1)] {
            check_relations(&fixture, &mut pooled, &relations, me, other)?;
            // Each call is rolled back, so the rows stay the same.
            pooled.switch(TENANTS[other])?;
            let untouched = visible_rows(&mut pooled, &relations)?;
            let rows = (&relations, untouched.as_slice());
            for call in CALLS {
                check_arguments(&fixture, &mut pooled, rows, call, me, other)
                    .with_context(|| format!("{} as {} ({mode})", call.function(), TENANTS[me]))?;
            }
        }
    }
    Ok(())
}

/// Reads each relation: it returns rows of the tenant, if its rows have one, and no rows of the other.
fn check_relations(
    fixture: &Fixture,
    pooled: &mut Pooled,
    relations: &BTreeSet<String>,
    me: usize,
    other: usize,
) -> Result<()> {
    let (me, other) = (&fixture.tenants[me], &fixture.tenants[other]);
    for relation in relations {
        let statement = format!("SELECT to_jsonb(r)::text FROM reground.{relation} AS r");
        for scope in [Scope::Session, Scope::Transaction] {
            let reply = pooled.ask(me.name, scope, &statement, &[])?;
            ensure!(reply.error.is_none(), "{relation}: {reply:?}");
            check_isolation(&reply, other, &[]).with_context(|| relation.clone())?;
            let mut own = !words(&reply.text(), me.sentinel).is_empty();
            if ONLY_FIGURES.contains(&relation.as_str()) {
                let of = |tenant: &Tenant| format!("\"tenant\": \"{}\"", tenant.name);
                own = reply.text().contains(&of(me));
                ensure!(!reply.text().contains(&of(other)), "{relation}: {reply:?}");
            }
            ensure!(
                own || SAME_FOR_ALL.contains(&relation.as_str()),
                "{relation} has no rows of {}, so the test proves nothing",
                me.name
            );
        }
        // A condition with words of the other tenant finds nothing.
        let statement = format!(
            "SELECT to_jsonb(r)::text FROM reground.{relation} AS r WHERE strpos(lower(r::text), $1) > 0"
        );
        let reply = pooled.ask(
            me.name,
            Scope::Session,
            &statement,
            &[Some(other.sentinel.into())],
        )?;
        ensure!(reply.rows.is_empty(), "{relation}: {reply:?}");
        // A condition that raises an error with the row does not reveal it.
        let statement = format!(
            "SELECT (lower(r::text) COLLATE \"C\")::integer::text FROM reground.{relation} AS r WHERE strpos(lower(r::text), $1) > 0"
        );
        let reply = pooled.ask(
            me.name,
            Scope::Session,
            &statement,
            &[Some(other.sentinel.into())],
        )?;
        check_isolation(&reply, other, &[])?;
        ensure!(reply.error.is_none(), "{relation}: {reply:?}");
    }
    Ok(())
}

/// Calls a function with own values, then with values of the other tenant and invalid values, in each argument and in all. The rows of the
/// other tenant stay as they were.
fn check_arguments(
    fixture: &Fixture,
    pooled: &mut Pooled,
    (relations, untouched): (&BTreeSet<String>, &[String]),
    call: &Call,
    me: usize,
    other: usize,
) -> Result<()> {
    let mut chance = Chance::of(1);
    let (mine, theirs) = (&fixture.tenants[me], &fixture.tenants[other]);
    pooled.switch(theirs.name)?;
    let mut attempt = |owner: &dyn Fn(usize) -> Owner, pooled: &mut Pooled| -> Result<bool> {
        let arguments = call.arguments(&mut chance, mine, theirs, owner);
        // The session belongs to the other tenant and the transaction to this one, which must count.
        let reply = pooled.ask(mine.name, Scope::Open, &call.statement(), &arguments)?;
        check_isolation(&reply, theirs, &arguments).with_context(|| format!("{arguments:?}"))?;
        if reply.error.is_none() {
            // A transaction without an id has written nothing.
            if pooled.has_written()? {
                pooled.switch_within(theirs.name)?;
                // A plan for each call would take longer than the rest of the test. All modes read the relations before.
                pooled
                    .client
                    .batch_execute("SET LOCAL plan_cache_mode = force_generic_plan")?;
                ensure!(
                    visible_rows(pooled, relations)? == untouched,
                    "{arguments:?} changed what {} has",
                    theirs.name
                );
            }
            pooled.client.batch_execute("ROLLBACK")?;
        }
        Ok(reply.error.is_none())
    };
    ensure!(
        attempt(&|_| Owner::Caller, pooled)?,
        "refused its own values"
    );
    let mut refused = false;
    for owner in [Owner::Other, Owner::Nobody] {
        refused |= !attempt(&|_| owner, pooled)?;
        for position in 0..call.arguments.len() {
            let one = |at: usize| if at == position { owner } else { Owner::Caller };
            refused |= !attempt(&one, pooled)?;
        }
    }
    ensure!(
        refused || NEVER_FAIL.contains(&call.function()),
        "no call failed, so no error was checked"
    );
    Ok(())
}

/// The verdict on a citation that names a document, without columns that repeat the name.
fn verdict(pooled: &mut Pooled, tenant: &Tenant, document: &str) -> Result<Vec<String>> {
    let answer = format!("The plan is kept in the barn [Source: {document}, p. 1].");
    let statement = "SELECT concat_ws(' ', status, holds, hallucination_mode, score, support, coordinate_fidelity, diagnostic, source_state, quote, title, uri, locator) \
         FROM reground.end_turn($1::text::bigint, $2)";
    let reply = pooled.ask(
        tenant.name,
        Scope::Open,
        statement,
        &[Some(tenant.turns[0].to_string()), Some(answer)],
    )?;
    ensure!(reply.error.is_none(), "{reply:?}");
    pooled.client.batch_execute("ROLLBACK")?;
    Ok(reply.rows)
}

#[test]
fn an_answer_cannot_probe_documents_of_the_other_tenant() -> Result<()> {
    let fixture = Fixture::build("tenant_oracle")?;
    let mut pooled = fixture.pooled()?;
    let [acme, bolt] = &fixture.tenants;
    for (me, other) in [(acme, bolt), (bolt, acme)] {
        let nowhere = verdict(&mut pooled, me, "nowhere-doc-9")?;
        for theirs in [
            other.document(1),
            other.note(),
            format!("https://{0}site.example/{0}page-1", other.sentinel),
            format!("{}-title-1", other.sentinel),
        ] {
            let named = verdict(&mut pooled, me, &theirs)?;
            ensure!(
                named == nowhere,
                "{theirs} gives {named:?}, an unknown document {nowhere:?}"
            );
        }
        let own = verdict(&mut pooled, me, &me.document(1))?;
        ensure!(
            own != nowhere,
            "its own document gives the verdict of an unknown one"
        );
    }
    Ok(())
}

/// Number of random calls, and the seed.
const RANDOM_CALLS: usize = 10_000;
const SEED: u64 = 20_260_702;

/// The function name in the outcomes of reads of relations.
const RELATIONS: &str = "(relations)";

/// A random call of a tenant.
struct RandomCall {
    function: &'static str,
    statement: String,
    arguments: Vec<Option<String>>,
    scope: Scope,
}

/// Chooses a call of tenant `me`: sometimes a read of a relation, otherwise a function with own, foreign and invalid values.
fn random_call(
    chance: &mut Chance,
    relations: &[String],
    fixture: &Fixture,
    me: usize,
) -> RandomCall {
    let (mine, theirs) = (&fixture.tenants[me], &fixture.tenants[1 - me]);
    // The session keeps its last tenant, so SET LOCAL overrides either of them.
    let mut scope = [Scope::Session, Scope::Transaction][chance.below(2)];
    if chance.happens(5) {
        let relation = &relations[chance.below(relations.len())];
        // The sentinel is in the condition only; a reply must not repeat it.
        return RandomCall {
            function: RELATIONS,
            statement: format!(
                "SELECT to_jsonb(r)::text FROM reground.{relation} AS r WHERE strpos(lower(r::text), $1) > 0 OR pg_catalog.hashtext(r::text) % 10 = 0"
            ),
            arguments: vec![Some(theirs.sentinel.to_owned())],
            scope,
        };
    }
    let call = &CALLS[chance.below(CALLS.len())];
    let foreign = chance.happens(35);
    let wild: Vec<Owner> = call
        .arguments
        .iter()
        .map(|_| match chance.below(100) {
            0..40 if foreign => Owner::Other,
            0..2 => Owner::Nobody,
            _ => Owner::Caller,
        })
        .collect();
    let arguments = call.arguments(chance, mine, theirs, &|at| wild[at]);
    // Stored words of the other tenant would count as own words later, so the call is rolled back.
    let stored = arguments.iter().flatten();
    if stored.clone().any(|a| a.contains(theirs.sentinel)) {
        scope = Scope::Open;
    }
    // Erased rows could not be used by later calls, so the call is rolled back.
    if call.function().starts_with("forget_") {
        scope = Scope::Open;
    }
    RandomCall {
        function: call.function(),
        statement: call.statement(),
        arguments,
        scope,
    }
}

#[test]
fn ten_thousand_random_calls_leak_nothing() -> Result<()> {
    let mut fixture = Fixture::build("tenant_random")?;
    let mut owner = fixture.database.connect()?;
    let relations: Vec<String> = surface::relations(&mut owner, &ROLES)?
        .into_iter()
        .collect();
    let mut pooled = fixture.pooled()?;
    let mut chance = Chance::of(SEED);
    let mut outcomes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for number in 0..RANDOM_CALLS {
        if chance.happens(5) {
            let modes = ["auto", "force_generic_plan", "force_custom_plan"];
            pooled.client.batch_execute(&format!(
                "SET plan_cache_mode = {}",
                modes[chance.below(modes.len())]
            ))?;
        }
        let me = chance.below(2);
        let RandomCall {
            function,
            statement,
            arguments,
            scope,
        } = random_call(&mut chance, &relations, &fixture, me);
        let reply = pooled.ask(fixture.tenants[me].name, scope, &statement, &arguments)?;
        if scope == Scope::Open && reply.error.is_none() {
            pooled.client.batch_execute("ROLLBACK")?;
        }
        let passed = if function == RELATIONS {
            &[][..]
        } else {
            &arguments
        };
        check_isolation(&reply, &fixture.tenants[1 - me], passed)
            .with_context(|| format!("call {number}, {function}({arguments:?}), seed {SEED}"))?;
        let outcome = outcomes.entry(function).or_default();
        match &reply.error {
            None => outcome.0 += 1,
            Some(_) => outcome.1 += 1,
        }
        if scope != Scope::Open {
            fixture.tenants[me].remember_ids(&reply);
        }
    }
    let (went, refused) = outcomes
        .values()
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("seed {SEED}: {went} calls went through, {refused} were refused: {outcomes:?}");
    ensure!(
        went * 10 > RANDOM_CALLS * 3,
        "only {went} of {RANDOM_CALLS} calls went through"
    );
    for (function, (went, _)) in &outcomes {
        ensure!(
            *went > 0,
            "no call of {function} went through: {outcomes:?}"
        );
    }
    fixture.each_id_is_its_owners(&mut owner)?;
    Ok(())
}
