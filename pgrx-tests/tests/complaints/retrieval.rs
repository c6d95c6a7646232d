//! Complaints about retrieval.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use reground_tests::server::Database;
use serde_json::{Value, json};

use crate::dialogue::{FARM, Source, alone, begin, end, farm, only};

#[test]
fn follow_ups_retrieve_cold_and_lose_the_grounding_document_because_the_reranker_drops_it()
-> Result<()> {
    let (_database, mut client) = farm("cold")?;
    // The reranker always ranks cows last, and there are more documents than slots.
    client.batch_execute(
        "SELECT reground.put_document('farm', 'machine-' || n, content => 'Machine number ' || n || ' needs oil every day, and how often it breaks down is noted.')
         FROM generate_series(1, 8) AS n;
         CREATE FUNCTION drops_cows(query text, passages text[]) RETURNS real[] LANGUAGE sql IMMUTABLE
             RETURN (SELECT array_agg(CASE WHEN p LIKE 'Cows%' THEN -9 ELSE 1 END::real ORDER BY n) FROM unnest(passages) WITH ORDINALITY AS u(p, n))",
    )?;
    let reranked = json!({"max_sources": 4, "reranker": "drops_cows(text, text[])"});
    let follow_up = "And how often every day?";
    let has_cows = |sources: &[Source]| {
        sources
            .iter()
            .any(|source| source.content.starts_with("Cows"))
    };
    // Without a conversation it is lost: nobody asked about cows before.
    let (_, cold) = begin(&mut client, "cold", follow_up, "farm", &reranked)?;
    ensure!(cold.len() == 4 && !has_cows(&cold), "{cold:?}");
    let (turn, first) = begin(
        &mut client,
        "warm",
        "What do cows give?",
        "farm",
        &alone("A1"),
    )?;
    let cited = only(
        &mut client,
        turn,
        &format!("{} [{}]", FARM[0].1, first[0].marker),
    )?;
    assert_eq!(cited.holds, Some(true));
    let (turn, warm) = begin(&mut client, "warm", follow_up, "farm", &reranked)?;
    let kept = warm
        .iter()
        .find(|source| source.doc_id == "cows")
        .with_context(|| format!("{warm:?}"))?;
    assert_eq!(
        (kept.origin.as_str(), &kept.marker, kept.content.as_str()),
        ("carried", &first[0].marker, FARM[0].1)
    );
    // The reranker ranked it last: it was dropped, or it was not among the candidates.
    let fresh: i64 = client
        .query_one(
            "SELECT count(*) FROM reground.turn_candidates WHERE turn_id = $1 AND doc_id = 'cows' AND origin = 'fresh' AND in_context",
            &[&turn],
        )?
        .get(0);
    assert_eq!(fresh, 0);
    assert_eq!(
        only(
            &mut client,
            turn,
            &format!("{} [{}]", FARM[0].1, kept.marker)
        )?
        .status,
        "resolved_carried"
    );
    Ok(())
}

#[test]
fn overlapping_chunks_fill_the_top_k() -> Result<()> {
    const PLACES: usize = 5;
    let database = Database::create("complaint_overlap")?;
    let mut client = database.connect()?;
    // A long document with chunks that overlap by half, one text eight times, and four other documents.
    client.batch_execute(
        "SELECT reground.create_corpus('rivers');
         SELECT reground.put_document('rivers', 'long', passages => (
             SELECT jsonb_agg(jsonb_build_object('content', substr(t.text, s + 1, 90), 'char_start', s, 'char_end', s + 90) ORDER BY s)
             FROM (SELECT string_agg('Rivers carry sand and silt far. ', '') AS text FROM generate_series(1, 20)) AS t, generate_series(0, 500, 45) AS s));
         SELECT reground.put_document('rivers', 'copy-' || n, content => 'Rivers carry sand and silt to the sea.') FROM generate_series(1, 8) AS n;
         SELECT reground.put_document('rivers', 'other-' || n, content => 'In valley ' || n || ' the rivers are slow, and sand settles.') FROM generate_series(1, 4) AS n",
    )?;
    let mut ranges = |settings: &Value| -> Result<(usize, usize, BTreeSet<String>)> {
        let (turn, sources) = begin(
            &mut client,
            &settings.to_string(),
            "Which rivers carry sand and silt?",
            "rivers",
            settings,
        )?;
        assert_eq!(sources.len(), PLACES, "{sources:?}");
        // From the stored context: pairs of sources that share characters, and repeated texts.
        let row = client.query_one(
            "WITH source AS (SELECT n, p ->> 'doc_id' AS doc_id, p ->> 'content' AS content, (p -> 'chars' ->> 'start')::int AS a, (p -> 'chars' ->> 'end')::int AS z
                             FROM reground.turns, jsonb_path_query(context, '$[*].passage') WITH ORDINALITY AS u(p, n) WHERE turn_id = $1)
             SELECT (SELECT count(*) FROM source AS x JOIN source AS y ON x.doc_id = y.doc_id AND x.n < y.n AND x.a < y.z AND y.a < x.z),
                    (SELECT count(*) - count(DISTINCT content) FROM source WHERE doc_id LIKE 'copy-%'), (SELECT count(a) FROM source)",
            &[&turn],
        )?;
        ensure!(row.get::<_, i64>(2) == PLACES as i64, "no characters known");
        let documents = sources.into_iter().map(|source| source.doc_id).collect();
        Ok((
            usize::try_from(row.get::<_, i64>(0))?,
            usize::try_from(row.get::<_, i64>(1))?,
            documents,
        ))
    };
    let places = json!({"max_sources": PLACES});
    let mut naive = places.clone();
    naive["collapse_twins"] = json!(false);
    naive["merge_adjacent"] = json!(false);
    let (overlaps, copies, _) = ranges(&naive)?;
    ensure!(
        overlaps + copies > 0,
        "nothing fills the top: hardly a test"
    );
    let (overlaps, copies, documents) = ranges(&places)?;
    assert_eq!((overlaps, copies), (0, 0), "{documents:?}");
    let others = documents
        .iter()
        .filter(|document| document.starts_with("other-"))
        .count();
    assert_eq!(others, PLACES - 2, "{documents:?}");
    Ok(())
}

#[test]
fn filters_after_the_vector_index_return_too_few_rows() -> Result<()> {
    const WANTED: i64 = 20;
    let database = Database::create("complaint_filter")?;
    let mut client = database.connect()?;
    // The thirty rows that pass the filter are farther away than two thousand rows that do not.
    client.batch_execute(
        "CREATE TABLE pages (id integer PRIMARY KEY, lang text, body text, emb vector(3));
         INSERT INTO pages SELECT n, CASE WHEN n % 67 = 0 THEN 'fr' ELSE 'en' END, 'page ' || n,
             CASE WHEN n % 67 = 0 THEN ARRAY[-1, sin(n) / 2, cos(n) / 2] ELSE ARRAY[1, sin(n) / 2, cos(n) / 2] END::vector FROM generate_series(1, 2010) AS n;
         CREATE INDEX ON pages USING hnsw (emb vector_cosine_ops);
         ANALYZE pages;
         SELECT reground.add_corpus('pages', relation => 'pages', chunk_id => 'id', content => 'body', embedding => 'emb')",
    )?;
    // The complaint: the index returns its nearest rows, and the filter removes nearly all of them.
    client.batch_execute("SET enable_seqscan = off; SET hnsw.iterative_scan = off")?;
    let after: i64 = client
        .query_one("SELECT count(*) FROM (SELECT * FROM pages ORDER BY emb <=> '[1,0,0]' LIMIT 20) AS p WHERE lang = 'fr'", &[])?
        .get(0);
    assert_eq!(after, 0);
    client.batch_execute("RESET enable_seqscan; RESET hnsw.iterative_scan")?;
    let nearest: Vec<String> = client
        .query(
            "SELECT id::text FROM pages WHERE lang = 'fr' ORDER BY emb <=> '[1,0,0]', id LIMIT $1",
            &[&WANTED],
        )?
        .iter()
        .map(|row| row.get(0))
        .collect();
    for search in ["exact", "auto", "index"] {
        let found: Vec<String> = client
            .query(
                "SELECT chunk_id FROM reground.search('pages', NULL, '[1,0,0]', 20, '{\"lang\": \"fr\"}', settings => $1) ORDER BY vector_rank",
                &[&json!({"vector_search": search, "candidates": WANTED})],
            )?
            .iter()
            .map(|row| row.get(0))
            .collect();
        assert_eq!(found.len(), nearest.len(), "{search}: {found:?}");
        let passing: i64 = client
            .query_one(
                "SELECT count(DISTINCT id) FROM pages WHERE lang = 'fr' AND id::text = ANY ($1)",
                &[&found],
            )?
            .get(0);
        assert_eq!(passing, WANTED, "{search}");
        // An index may miss some of the nearest rows; exact search must not.
        if search == "exact" {
            assert_eq!(found, nearest);
        }
    }
    Ok(())
}

#[test]
fn compaction_keeps_prose_and_loses_numbers() -> Result<()> {
    let (_database, mut client) = farm("compaction")?;
    let mut cited = BTreeSet::new();
    for turn in 0..12 {
        let text = FARM[turn % 3].1;
        // Only the budget decides about the turns.
        let mut settings = alone("A1");
        settings["history_exchanges"] = 0.into();
        let (id, sources) = begin(&mut client, "talk", text, "farm", &settings)?;
        let prose = "By the way, this is what I always say when somebody asks. ".repeat(5);
        let answer = format!("{prose}{text} [{}]. Pigs fly [Z9].", sources[0].marker);
        for citation in end(&mut client, id, &answer)? {
            if citation.holds == Some(true) {
                cited.insert((
                    citation.marker.context("it holds")?,
                    citation.doc_id.context("it holds")?,
                ));
            }
        }
    }
    assert_eq!(cited.len(), 3);
    let mut history = |budget: Option<i32>| -> Result<(String, String)> {
        let rows = client.query(
            "SELECT role, content FROM reground.history('talk', max_tokens => $1)",
            &[&budget],
        )?;
        let of = |wanted: &dyn Fn(&str) -> bool| -> String {
            rows.iter()
                .filter(|row| wanted(row.get(0)))
                .map(|row| row.get::<_, String>(1))
                .collect()
        };
        Ok((of(&|role| role == "sources"), of(&|role| role != "sources")))
    };
    let (_, all) = history(Some(100_000))?;
    for budget in [1, 60, 120, 250, 500, 1000] {
        let (sources, said) = history(Some(budget))?;
        ensure!(said.len() < all.len(), "{budget}: no prose was dropped");
        for (marker, document) in &cited {
            // One line per document: its name, then markers with their places.
            let line = sources
                .lines()
                .find(|line| line.starts_with(&format!("- {document}: ")))
                .with_context(|| format!("{budget}: {document} is lost from {sources}"))?;
            ensure!(
                line.contains(&format!("[{marker}]")),
                "{budget}: {marker} is lost from {line}"
            );
        }
        ensure!(
            !sources.contains("Z9"),
            "{budget}: an invented value was kept: {sources}"
        );
    }
    Ok(())
}
