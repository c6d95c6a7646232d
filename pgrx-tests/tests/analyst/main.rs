//! Fifteen questions of an analyst on generated audit data, answered in SQL. The expected answers are computed from the generator's rows.

mod generator;

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::server::Database;

use generator::{Answer, FAULT_HOURS, answers, store};

/// The data and the database that holds them.
struct Case {
    client: Client,
    answers: Vec<Answer>,
}

impl Case {
    /// Returns one value.
    fn one<T: for<'a> postgres::types::FromSql<'a>>(&mut self, query: &str) -> Result<T> {
        let row = self
            .client
            .query_one(query, &[])
            .with_context(|| query.to_owned())?;
        Ok(row.get(0))
    }

    /// Returns rows of a text and a number.
    fn counts(&mut self, query: &str) -> Result<BTreeMap<String, i64>> {
        let rows = self
            .client
            .query(query, &[])
            .with_context(|| query.to_owned())?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    fn of<'a>(&'a self, corpus: &'a str) -> impl Iterator<Item = &'a Answer> {
        self.answers
            .iter()
            .filter(move |answer| answer.corpus == corpus)
    }
}

/// The share of citations that hold.
fn share<'a>(answers: impl Iterator<Item = &'a Answer>) -> f64 {
    let (holding, judged) = answers.fold((0, 0), |(holding, judged), answer| {
        let own = answer.holding();
        (holding + own.0, judged + own.1)
    });
    holding as f64 / judged as f64
}

fn same(found: f64, expected: f64) -> Result<()> {
    ensure!(
        (found - expected).abs() < 1e-9,
        "{found} instead of {expected}"
    );
    Ok(())
}

#[test]
fn fifteen_questions_have_the_known_answers() -> Result<()> {
    let database = Database::create("analyst")?;
    let mut client = database.connect()?;
    let answers = answers(7);
    store(&mut client, &answers)?;
    client.execute("SELECT count(*) FROM reground.check_alerts()", &[])?;
    let mut case = Case { client, answers };
    figures(&mut case)?;
    numbers(&mut case)?;
    comparisons(&mut case)?;
    alerts(&mut case)?;
    causes(&mut case)
}

/// Questions 1 to 3: which citations hold.
fn figures(case: &mut Case) -> Result<()> {
    // 1. Which share of the citations holds, by corpus and week before now?
    let rows = case.client.query(
        "SELECT c.corpus, floor(extract(epoch FROM date_trunc('hour', now()) - date_trunc('hour', c.created_at)) / 3600 / 168)::int AS week, avg(c.holds::int)::float8
         FROM reground.citation_audit AS c WHERE NOT c.superseded GROUP BY 1, 2",
        &[],
    )?;
    ensure!(
        rows.len() == 16,
        "four weeks of four corpora, and {} rows",
        rows.len()
    );
    for row in &rows {
        let (corpus, week): (&str, i32) = (row.get(0), row.get(1));
        let own = case
            .of(corpus)
            .filter(|answer| answer.hours_ago / 168 == i64::from(week));
        same(row.get(2), share(own))?;
    }
    // 2. Which answers are worst by content? Those with the most citations of which none holds.
    let worst: Vec<i64> = case.one(
        "SELECT array_agg(w.message_id) FROM (SELECT message_id FROM reground.citation_audit WHERE NOT superseded
         GROUP BY message_id HAVING count(*) FILTER (WHERE holds) = 0 AND count(holds) > 1 ORDER BY count(holds) DESC, message_id LIMIT 5) AS w",
    )?;
    let mut expected: Vec<(usize, i64)> = Vec::new();
    for answer in &case.answers {
        if let (0, judged @ 2..) = answer.holding() {
            expected.push((judged, answer.id));
        }
    }
    expected.sort_by_key(|(judged, id)| (std::cmp::Reverse(*judged), *id));
    let expected: Vec<i64> = expected.into_iter().take(5).map(|(_, id)| id).collect();
    ensure!(worst == expected, "{worst:?} instead of {expected:?}");
    // 3. Which document type of help fails since yesterday, and how often?
    let failing = case.client.query_one(
        "SELECT reground._document_type(uri, doc_id), 1 - avg(holds::int)::float8 FROM reground.citation_audit
         WHERE corpus = 'help' AND created_at >= date_trunc('hour', now()) - interval '29 hours' GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
        &[],
    )?;
    let pdf = case
        .of("help")
        .filter(|answer| answer.is_after())
        .flat_map(|answer| &answer.citations);
    let verdicts: Vec<bool> = pdf
        .filter(|citation| citation.document_type() == "pdf")
        .filter_map(|c| c.holds())
        .collect();
    ensure!(failing.get::<_, &str>(0) == "pdf");
    same(
        failing.get(1),
        verdicts.iter().filter(|holds| !**holds).count() as f64 / verdicts.len() as f64,
    )?;
    Ok(())
}

/// Questions 4 to 7: numbers of answers and citations.
fn numbers(case: &mut Case) -> Result<()> {
    // 4. How many answers had sources and no citation?
    let uncited: i64 = case.one("SELECT sum(uncited)::bigint FROM reground.turn_rollup")?;
    let expected = case
        .answers
        .iter()
        .filter(|answer| answer.has_sources && answer.citations.is_empty());
    ensure!(uncited == i64::try_from(expected.count())?);
    // 5. How many turns found no source, by corpus?
    let empty = case.counts(
        "SELECT corpus, sum(empty_contexts)::bigint FROM reground.turn_rollup GROUP BY 1",
    )?;
    ensure!(empty.len() == 4, "four corpora: {empty:?}");
    for (corpus, found) in empty {
        let expected = case
            .of(&corpus)
            .filter(|answer| !answer.has_sources)
            .count();
        ensure!(found == i64::try_from(expected)?, "{corpus}");
    }
    // 6. How many citations of each model are malformed?
    let malformed = case
        .counts("SELECT model, sum(malformed)::bigint FROM reground.citations_hourly GROUP BY 1")?;
    ensure!(malformed.len() == 3, "three models: {malformed:?}");
    for (model, found) in malformed {
        let own = case
            .answers
            .iter()
            .filter(|answer| answer.model == model)
            .flat_map(|answer| &answer.citations);
        let expected = own
            .filter(|citation| citation.status == "malformed")
            .count();
        ensure!(found == i64::try_from(expected)?, "{model}");
    }
    // 7. Which document is cited most?
    let most = case.client.query_one(
        "SELECT corpus, doc_id, citations FROM reground.source_usage() LIMIT 1",
        &[],
    )?;
    let mut cited: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    for answer in &case.answers {
        for citation in &answer.citations {
            *cited.entry((answer.corpus, &citation.doc_id)).or_default() += 1;
        }
    }
    let largest = cited.values().copied().max();
    ensure!(
        largest == Some(most.get(2)) && cited.get(&(most.get(0), most.get(1))).copied() == largest
    );
    Ok(())
}

/// Questions 8 to 11: differences between groups.
fn comparisons(case: &mut Case) -> Result<()> {
    // 8. Which model fabricates? The new one, and not by chance.
    let row = case.client.query_one(
        "SELECT mean_a, mean_b, difference, low, high, p_value FROM reground.compare('holding', 'model', 'small-2', 'small-1')",
        &[],
    )?;
    let of = |model: &'static str| {
        share(
            case.answers
                .iter()
                .filter(move |answer| answer.model == model),
        )
    };
    same(row.get(0), of("small-2"))?;
    same(row.get(1), of("small-1"))?;
    ensure!(row.get::<_, f64>(5) < 1e-6 && row.get::<_, f64>(4) < 0.0);
    // 9. Do the two old models differ? Not beyond chance.
    let p: f64 = case.one("SELECT p_value FROM reground.compare('holding', 'model', 'small-1', 'large-1', until => now() - interval '2 days')")?;
    ensure!(p > 0.01, "p = {p}");
    // 10. How much longer do answers of shop take since the reranker changed?
    let row = case.client.query_one(
        "SELECT c.difference, c.p_value, c.low, c.high FROM (SELECT date_trunc('hour', now()) - interval '29 hours' AS at) AS b,
         LATERAL reground.compare('answer_ms', 'version:reranker', '2', '1') AS c",
        &[],
    )?;
    let mean = |version_2: bool| {
        let own = case
            .answers
            .iter()
            .filter(|a| (a.corpus == "shop" && a.is_after()) == version_2);
        let (sum, count) = own.fold((0, 0), |(sum, count), answer| (sum + answer.ms, count + 1));
        f64::from(sum) / f64::from(count)
    };
    let expected = mean(true) - mean(false);
    let found: f64 = row.get(0);
    ensure!(
        (found - expected).abs() < 0.01,
        "{found} instead of {expected}"
    );
    ensure!(
        row.get::<_, f64>(1) < 1e-6 && row.get::<_, f64>(2) < expected && expected < row.get(3)
    );
    // 11. Which share of the passages did the reranker of shop lose, before and after?
    let row = case.client.query_one(
        "SELECT (sum(rerank_lost) FILTER (WHERE hour < b.at))::float8 / (sum(reranked) FILTER (WHERE hour < b.at))::float8,
                (sum(rerank_lost) FILTER (WHERE hour >= b.at))::float8 / (sum(reranked) FILTER (WHERE hour >= b.at))::float8
         FROM reground.turn_rollup, (SELECT date_trunc('hour', now()) - interval '29 hours' AS at) AS b WHERE corpus = 'shop'",
        &[],
    )?;
    for (column, after) in [(0, false), (1, true)] {
        let own = case.of("shop").filter(|answer| answer.is_after() == after);
        let (lost, all) = own.fold((0, 0), |(lost, all), a| {
            (lost + a.rerank_lost, all + a.reranked)
        });
        same(row.get(column), f64::from(lost) / f64::from(all))?;
    }
    Ok(())
}

/// Questions 12 to 14: what the alerts say.
fn alerts(case: &mut Case) -> Result<()> {
    // 12. Which alerts are open, and for which corpora?
    let open: Vec<String> = case.one(
        "SELECT array_agg(rule || coalesce(' of ' || corpus, '') ORDER BY rule, corpus) FROM reground.alerts WHERE state = 'firing'",
    )?;
    let planted = [
        "fewer_hold of help",
        "fewer_hold of law",
        "reranker_losses of shop",
        "traffic_stops of news",
    ];
    // The new reranker is slow, too, and invented sources have the lowest scores. Whether these are found depends on the hour of the day.
    let possible = ["low_tail of law", "sli_cfs_p1", "slow_answers of shop"];
    ensure!(
        planted
            .iter()
            .all(|alert| open.iter().any(|own| own == alert)),
        "{open:?}"
    );
    let is_known = |own: &String| planted.iter().chain(&possible).any(|alert| own == alert);
    ensure!(open.iter().all(is_known), "{open:?}");
    // 13. When did it begin? Within three hours of the planted hour.
    let began = case.counts(
        "SELECT corpus, (extract(epoch FROM date_trunc('hour', now()) - first_bad_hour) / 3600)::bigint FROM reground.alerts WHERE rule IN ('fewer_hold', 'reranker_losses')",
    )?;
    ensure!(began.len() == 3, "three corpora: {began:?}");
    for (corpus, hours_ago) in began {
        let off = (hours_ago - (FAULT_HOURS - 1)).abs();
        ensure!(off <= 3, "{corpus}: {hours_ago} hours ago");
    }
    // 14. By how much did the share that holds fall? By the part of help that fails most, its PDF documents.
    let row = case.client.query_one(
        "SELECT value, baseline FROM reground.alerts WHERE rule = 'fewer_hold' AND corpus = 'help'",
        &[],
    )?;
    ensure!(
        (0.3..0.6).contains(&row.get::<_, f64>(0)) && (0.9..0.97).contains(&row.get::<_, f64>(1))
    );
    Ok(())
}

/// Question 15: what is the cause? The conclusion or the first clue after it names the planted one.
fn causes(case: &mut Case) -> Result<()> {
    for (corpus, cause, stage) in [
        ("help", "document_type pdf", "generation"),
        ("shop", "component_changed reranker version 2", "rerank"),
        ("law", "component_changed model small-2", "generation"),
    ] {
        let clues: Vec<String> = case.client.query_one(
            "SELECT array_agg(d.clue || coalesce(' ' || d.document_type, '') || coalesce(' ' || (d.details ->> 'component') || ' ' || (d.details ->> 'since'), '') ORDER BY d.step, d.stage_no)
             FROM reground.alerts AS a, reground.diagnose(a.alert_id) AS d WHERE a.corpus = $1 AND a.rule IN ('fewer_hold', 'reranker_losses') AND d.step > 0",
            &[&corpus],
        )?.get(0);
        ensure!(
            clues.first().is_some_and(|first| first == cause),
            "{corpus}: {clues:?}"
        );
        let found: Option<String> = case.client.query_one(
            "SELECT d.stage FROM reground.alerts AS a, reground.diagnose(a.alert_id) AS d WHERE a.corpus = $1 AND a.rule IN ('fewer_hold', 'reranker_losses') AND d.step = 0",
            &[&corpus],
        )?.get(0);
        ensure!(found.as_deref() == Some(stage), "{corpus}: {found:?}");
    }
    Ok(())
}
