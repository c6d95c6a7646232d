//! What users of other systems complain of, a test each, named after the complaint. Each provokes it on purpose, and compares
//! what comes out with the application's own tables, with plain SQL, or with what the test itself wrote down.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use postgres::Client;
use reground_tests::chance::Chance;
use reground_tests::corpus;
use reground_tests::server::{Database, state};
use serde_json::{Value, json};

/// A source of a context, as begin_turn gives it.
#[derive(Debug, Clone, PartialEq)]
struct Source {
    marker: String,
    doc_id: String,
    chunk_id: String,
    content: String,
    origin: String,
}

/// A citation, as end_turn gives it.
#[derive(Debug, Clone, PartialEq)]
struct Citation {
    raw: String,
    marker: Option<String>,
    doc_id: Option<String>,
    chunk_id: Option<String>,
    status: String,
    holds: Option<bool>,
    support: Option<f64>,
}

fn begin(
    client: &mut Client,
    conversation: &str,
    query: &str,
    corpus: &str,
    settings: &Value,
) -> Result<(i64, Vec<Source>)> {
    let rows = client.query(
        "SELECT turn_id, marker, doc_id, chunk_id, content, origin FROM reground.begin_turn($1, $2, $3, settings => $4)",
        &[&conversation, &query, &corpus, settings],
    )?;
    let turn = rows.first().context("begin_turn returns a row")?.get(0);
    let shown = rows.iter().filter_map(|row| {
        Some(Source {
            marker: row.get::<_, Option<String>>(1)?,
            doc_id: row.get(2),
            chunk_id: row.get(3),
            content: row.get(4),
            origin: row.get(5),
        })
    });
    Ok((turn, shown.collect()))
}

fn end(client: &mut Client, turn: i64, answer: &str) -> Result<Vec<Citation>> {
    let rows = client.query(
        "SELECT raw, marker, doc_id, chunk_id, status, holds, support FROM reground.end_turn($1, $2) WHERE citation_id IS NOT NULL",
        &[&turn, &answer],
    )?;
    let citation = |row: &postgres::Row| Citation {
        raw: row.get(0),
        marker: row.get(1),
        doc_id: row.get(2),
        chunk_id: row.get(3),
        status: row.get(4),
        holds: row.get(5),
        support: row.get(6),
    };
    Ok(rows.iter().map(citation).collect())
}

/// The only citation of an answer.
fn only(client: &mut Client, turn: i64, answer: &str) -> Result<Citation> {
    let citations = end(client, turn, answer)?;
    ensure!(citations.len() == 1, "{citations:?}");
    citations.into_iter().next().context("there is one")
}

/// What gives what: three documents of which a question finds one.
const FARM: [(&str, &str); 3] = [
    ("cows", "Cows give milk every day on the farm."),
    ("sheep", "Sheep give wool every spring on the hill."),
    ("bees", "Bees make honey in the hive all summer."),
];

/// A database with the farm.
fn farm(name: &str) -> Result<(Database, Client)> {
    let database = Database::create(&format!("complaint_{name}"))?;
    let mut client = database.connect()?;
    client.batch_execute("SELECT reground.create_corpus('farm')")?;
    for (document, text) in FARM {
        client.execute(
            "SELECT reground.put_document('farm', $1, content => $2)",
            &[&document, &text],
        )?;
    }
    Ok((database, client))
}

/// One source a turn, and nothing of earlier turns unless it is found again.
fn alone(style: &str) -> Value {
    json!({"max_sources": 1, "min_sources": 1, "carry_over": false, "query_from": "turn", "marker_style": style})
}

#[test]
fn numbers_restart_each_turn_so_that_1_points_elsewhere() -> Result<()> {
    let (_database, mut client) = farm("numbers")?;
    let mut meaning: BTreeMap<String, String> = BTreeMap::new();
    for round in 0..3 {
        for (number, (document, text)) in FARM.iter().enumerate() {
            let (turn, sources) = begin(&mut client, "talk", text, "farm", &alone("1"))?;
            ensure!(
                sources.len() == 1 && sources[0].content == *text,
                "{sources:?}"
            );
            // The first number stays with the first source, for as long as they talk.
            ensure!(
                sources[0].marker == (number + 1).to_string(),
                "round {round}: {sources:?}"
            );
            let meant = meaning
                .entry(sources[0].marker.clone())
                .or_insert_with(|| (*document).to_owned());
            assert_eq!(meant, document);
            let cited = only(&mut client, turn, &format!("{text} [1]"))?;
            assert_eq!(cited.doc_id.as_deref(), Some("cows"), "{cited:?}");
            assert_eq!(cited.holds, Some(*document == "cows"), "{cited:?}");
        }
    }
    assert_eq!(meaning.len(), FARM.len());
    Ok(())
}

#[test]
fn an_old_id_resolves_silently_in_a_later_answer() -> Result<()> {
    let (_database, mut client) = farm("old_id")?;
    for style in ["A1", "1"] {
        let conversation = format!("talk-{style}");
        let (turn, sources) = begin(&mut client, &conversation, FARM[0].1, "farm", &alone(style))?;
        let old = sources[0].marker.clone();
        let answer = format!("{} [{old}]", FARM[0].1);
        assert_eq!(only(&mut client, turn, &answer)?.holds, Some(true));
        let (turn, sources) = begin(&mut client, &conversation, FARM[2].1, "farm", &alone(style))?;
        ensure!(
            sources.iter().all(|source| source.marker != old),
            "{sources:?}"
        );
        // The source says it, word for word, and was not in front of the model.
        let cited = only(&mut client, turn, &answer)?;
        assert_eq!(
            (cited.status.as_str(), cited.holds),
            ("stale_turn", Some(false))
        );
        // It stands where a reader looks, and lowers the score.
        let row = client.query_one(
            "SELECT m.cfs, m.decision, (SELECT count(*) FROM reground.citation_audit AS a WHERE a.message_id = m.message_id AND a.status = 'stale_turn' AND NOT a.holds)
             FROM reground.messages AS m WHERE m.turn_id = $1",
            &[&turn],
        )?;
        assert_eq!((row.get::<_, f64>(0), row.get::<_, i64>(2)), (0.3, 1));
    }
    Ok(())
}

#[test]
fn follow_ups_retrieve_cold_and_lose_the_grounding_document_because_the_reranker_drops_it()
-> Result<()> {
    let (_database, mut client) = farm("cold")?;
    // Whatever the reranker is asked, cows come last, and there are more documents than places.
    client.batch_execute(
        "SELECT reground.put_document('farm', 'machine-' || n, content => 'Machine number ' || n || ' needs oil every day, and how often it breaks down is noted.')
         FROM generate_series(1, 8) AS n;
         CREATE FUNCTION drops_cows(query text, passages text[]) RETURNS real[] LANGUAGE sql IMMUTABLE
             RETURN (SELECT array_agg(CASE WHEN p LIKE 'Cows%' THEN -9 ELSE 1 END::real ORDER BY n) FROM unnest(passages) WITH ORDINALITY AS u(p, n))",
    )?;
    let reranked =
        json!({"max_sources": 4, "min_sources": 4, "reranker": "drops_cows(text, text[])"});
    let follow_up = "And how often every day?";
    let has_cows = |sources: &[Source]| {
        sources
            .iter()
            .any(|source| source.content.starts_with("Cows"))
    };
    // Cold, it is lost: nobody asked of cows before.
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
    // The reranker did put it last: what was found anew of it left there, or did not come so far.
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
fn reference_arrays_misalign_on_reload() -> Result<()> {
    let (database, mut client) = farm("reload")?;
    let (turn, sources) = begin(
        &mut client,
        "talk",
        "What do cows, sheep and bees give or make?",
        "farm",
        &json!({}),
    )?;
    let marker = |document: &str| -> Result<String> {
        let found = sources.iter().find(|source| source.doc_id == document);
        Ok(found.context("it was found")?.marker.clone())
    };
    let (cows, sheep, bees) = (marker("cows")?, marker("sheep")?, marker("bees")?);
    // Out of order, twice, invented, malformed, and behind letters of one to four bytes.
    let answer = format!(
        "Ça alors 🐄: bees make honey in the hive all summer [{bees}]. Sheep give wool every spring 牛 [{sheep}, {cows}]. 🐝🐝 Pigs fly [Z9]. \
         Cows give milk every day on the farm [{cows}]. Nobody knows [{cows},]. Bees make honey in the hive all summer [{bees}]."
    );
    let written = end(&mut client, turn, &answer)?;
    assert_eq!(written.len(), 7, "{written:?}");
    end(&mut client, turn, &format!("Only this stands [{sheep}]."))?;
    drop(client);
    // Whoever comes later reads the same, in the order of the text, and each at its place.
    let mut client = database.connect()?;
    client.batch_execute("SELECT reground.rebuild_audit()")?;
    let rows = client.query(
        "SELECT c.raw, c.marker, c.doc_id, c.chunk_id, c.status, c.holds, c.support, c.char_start, c.char_end, c.byte_start, c.byte_end, c.utf16_start, c.utf16_end, m.answer
         FROM reground.message_citations AS c JOIN reground.messages AS m USING (message_id) WHERE m.turn_id = $1 AND m.superseded ORDER BY c.citation_no",
        &[&turn],
    )?;
    assert_eq!(rows.len(), written.len());
    for (row, citation) in rows.iter().zip(&written) {
        let read = Citation {
            raw: row.get(0),
            marker: row.get(1),
            doc_id: row.get(2),
            chunk_id: row.get(3),
            status: row.get(4),
            holds: row.get(5),
            support: row.get(6),
        };
        assert_eq!(read, *citation);
        let at =
            |column: usize| -> Result<usize> { Ok(usize::try_from(row.get::<_, i32>(column))?) };
        let stored: String = row.get(13);
        assert_eq!(stored, answer);
        let chars: String = stored.chars().skip(at(7)?).take(at(8)? - at(7)?).collect();
        assert_eq!(stored.get(at(9)?..at(10)?), Some(chars.as_str()));
        let units: Vec<u16> = stored.encode_utf16().collect();
        assert_eq!(String::from_utf16(&units[at(11)?..at(12)?])?, chars);
        // Of a list each entry stands alone.
        ensure!(
            chars == read.raw || chars.contains(read.raw.trim_matches(['[', ']'])),
            "{chars} is not {read:?}"
        );
        if let (Some(marker), Some(document)) = (&read.marker, &read.doc_id) {
            let source = sources.iter().find(|source| source.marker == *marker);
            assert_eq!(source.map(|source| &source.doc_id), Some(document));
        }
    }
    let documents: Vec<Option<&str>> = written.iter().map(|c| c.doc_id.as_deref()).collect();
    assert_eq!(
        documents,
        [
            Some("bees"),
            Some("sheep"),
            Some("cows"),
            None,
            Some("cows"),
            None,
            Some("bees")
        ]
    );
    Ok(())
}

#[test]
fn one_number_a_chunk_or_a_number_a_source_at_random() -> Result<()> {
    let database = Database::create("complaint_unit")?;
    let mut client = database.connect()?;
    corpus::generate(&mut client, "books", "cosine", 12, 3)?;
    let whole = json!({"merge_adjacent": false, "collapse_twins": false});
    for style in ["A1", "1"] {
        // A marker is a passage and a passage a marker; letters are a document and a document its letters.
        let mut passages: BTreeMap<String, String> = BTreeMap::new();
        let mut markers: BTreeMap<String, String> = BTreeMap::new();
        let mut letters: BTreeMap<String, String> = BTreeMap::new();
        let mut documents: BTreeMap<String, String> = BTreeMap::new();
        let mut chance = Chance::of(7);
        for _ in 0..15 {
            let query = corpus::text(&mut chance, 60, 4);
            let mut settings = whole.clone();
            settings["marker_style"] = json!(style);
            let (turn, sources) = begin(&mut client, style, &query, "books", &settings)?;
            for source in sources {
                let passage = passages
                    .entry(source.marker.clone())
                    .or_insert_with(|| source.chunk_id.clone());
                assert_eq!(*passage, source.chunk_id, "{}", source.marker);
                let marker = markers
                    .entry(source.chunk_id.clone())
                    .or_insert_with(|| source.marker.clone());
                assert_eq!(*marker, source.marker, "{}", source.chunk_id);
                let letter = source
                    .marker
                    .trim_end_matches(|c: char| c.is_ascii_digit())
                    .to_owned();
                if style == "1" {
                    assert_eq!(letter, "");
                    continue;
                }
                let document = letters
                    .entry(letter.clone())
                    .or_insert_with(|| source.doc_id.clone());
                assert_eq!(*document, source.doc_id, "{letter}");
                let own = documents
                    .entry(source.doc_id.clone())
                    .or_insert_with(|| letter.clone());
                assert_eq!(*own, letter, "{}", source.doc_id);
            }
            end(&mut client, turn, "It is so.")?;
        }
        ensure!(
            passages.len() > 30 && (style == "1" || letters.len() == 12),
            "{} passages, {} documents: hardly a test",
            passages.len(),
            letters.len()
        );
    }
    Ok(())
}

#[test]
fn fabricated_ids_are_stored_unchecked() -> Result<()> {
    let (_database, mut client) = farm("fabricated")?;
    let fabricated = [
        "[Z9]",
        "[Source: ghost.pdf, p. 3]",
        "[e41ac2d9]",
        "【7†source】",
        "[ID:12]",
        "[7]",
        "(Source: The Farmer's Almanac)",
    ];
    let (turn, sources) = begin(&mut client, "talk", FARM[0].1, "farm", &json!({}))?;
    let mut answer = format!("{} [{}].", FARM[0].1, sources[0].marker);
    for citation in fabricated {
        answer += &format!(" Cows give milk every day on the farm {citation}.");
    }
    let citations = end(&mut client, turn, &answer)?;
    assert_eq!(citations.len(), 1 + fabricated.len(), "{citations:?}");
    for (citation, raw) in citations[1..].iter().zip(fabricated) {
        assert_eq!(citation.raw, raw);
        assert_eq!(
            (citation.status.as_str(), citation.holds, &citation.doc_id),
            ("unknown_id", Some(false), &None),
            "{citation:?}"
        );
    }
    // Each is a row, none of them stands, and what stands is in the application's own table.
    let row = client.query_one(
        "SELECT count(*), count(*) FILTER (WHERE holds), count(*) FILTER (WHERE holds AND EXISTS (SELECT FROM farm AS f WHERE f.chunk_id::text = c.chunk_id AND f.doc_id = c.doc_id)),
                (SELECT decision FROM reground.messages), (SELECT reasons FROM reground.messages)
         FROM reground.message_citations AS c",
        &[],
    )?;
    let counts: [i64; 3] = [row.get(0), row.get(1), row.get(2)];
    assert_eq!(counts, [1 + fabricated.len() as i64, 1, 1]);
    assert_eq!(row.get::<_, &str>(3), "regenerate");
    ensure!(!row.get::<_, Vec<String>>(4).is_empty(), "and why is told");
    Ok(())
}

#[test]
fn out_of_range_ids_are_accepted_as_grounded() -> Result<()> {
    let (_database, mut client) = farm("range")?;
    client.batch_execute(
        "SELECT reground.put_document('farm', 'goats', page_count => 3, passages => '[{\"text\": \"Goats climb trees for leaves.\", \"page_start\": 2}]')",
    )?;
    let settings = json!({"marker_style": "1", "max_sources": 4, "min_sources": 4});
    let (turn, sources) = begin(
        &mut client,
        "talk",
        "What do cows, sheep, bees and goats do or give every day?",
        "farm",
        &settings,
    )?;
    assert_eq!(sources.len(), 4, "{sources:?}");
    let text: BTreeMap<&str, &str> = sources
        .iter()
        .map(|source| (source.marker.as_str(), source.content.as_str()))
        .collect();
    for number in 0..=9 {
        // What the source says, where there is one: it cannot fail for what it says.
        let name = number.to_string();
        let said = text.get(name.as_str()).copied().unwrap_or(FARM[0].1);
        let cited = only(&mut client, turn, &format!("{said} [{number}]"))?;
        let within = (1..=sources.len()).contains(&number);
        assert_eq!(cited.holds, Some(within), "{cited:?}");
        assert_eq!(cited.status == "unknown_id", !within, "{cited:?}");
    }
    for page in 0..=9 {
        let cited = only(
            &mut client,
            turn,
            &format!("Goats climb trees for leaves [Source: goats, p. {page}]."),
        )?;
        assert_eq!(cited.holds, Some(page == 2), "{cited:?}");
        assert_eq!(
            cited.status == "out_of_bounds",
            !(1..=3).contains(&page),
            "{cited:?}"
        );
    }
    // Answers of other systems are held to what was handed over with them.
    for number in 0..=9 {
        let row = client.query_one(
            "SELECT status, holds FROM reground.check_answer($1, '[{\"text\": \"Cows give milk.\"}, {\"text\": \"Cows give milk.\"}]')",
            &[&format!("Cows give milk [{number}].")],
        )?;
        let within = (1..=2).contains(&number);
        assert_eq!(row.get::<_, bool>(1), within, "{number}");
        assert_eq!(row.get::<_, &str>(0) == "unknown_id", !within, "{number}");
    }
    Ok(())
}

#[test]
fn overlapping_chunks_fill_the_top_k() -> Result<()> {
    const PLACES: usize = 5;
    let database = Database::create("complaint_overlap")?;
    let mut client = database.connect()?;
    // A long document in chunks of which each repeats half of the one before, one text eight times over, and four others.
    client.batch_execute(
        "SELECT reground.create_corpus('rivers');
         SELECT reground.put_document('rivers', 'long', passages => (
             SELECT jsonb_agg(jsonb_build_object('text', substr(t.text, s + 1, 90), 'char_start', s, 'char_end', s + 90) ORDER BY s)
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
        // From what the turn keeps of its context, pairs that share characters, and texts that come again.
        let row = client.query_one(
            "WITH source AS (SELECT n, p ->> 'doc_id' AS doc_id, p ->> 'text' AS content, (p -> 'chars' ->> 'start')::int AS a, (p -> 'chars' ->> 'end')::int AS z
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
    let places = json!({"max_sources": PLACES, "min_sources": PLACES});
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
    // The thirty rows that pass lie on the far side of two thousand that do not.
    client.batch_execute(
        "CREATE TABLE pages (id integer PRIMARY KEY, lang text, body text, emb vector(3));
         INSERT INTO pages SELECT n, CASE WHEN n % 67 = 0 THEN 'fr' ELSE 'en' END, 'page ' || n,
             CASE WHEN n % 67 = 0 THEN ARRAY[-1, sin(n) / 2, cos(n) / 2] ELSE ARRAY[1, sin(n) / 2, cos(n) / 2] END::vector FROM generate_series(1, 2010) AS n;
         CREATE INDEX ON pages USING hnsw (emb vector_cosine_ops);
         ANALYZE pages;
         SELECT reground.add_corpus('pages', relation => 'pages', key => 'id', content => 'body', embedding => 'emb')",
    )?;
    // The complaint: the index gives its nearest, and the filter leaves next to nothing of them.
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
        // An index is allowed to miss some of the nearest, exact search is not.
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
        let (id, sources) = begin(&mut client, "talk", text, "farm", &alone("A1"))?;
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
            // A line a document: its name and version, then markers, places and hashes.
            let line = sources
                .lines()
                .find(|line| line.starts_with(&format!("{document}@")))
                .with_context(|| format!("{budget}: {document} is lost from {sources}"))?;
            ensure!(
                line.split_whitespace().any(|word| word == marker),
                "{budget}: {marker} is lost from {line}"
            );
        }
        ensure!(
            !sources.contains("Z9"),
            "{budget}: an invention was kept: {sources}"
        );
    }
    Ok(())
}

#[test]
fn deleted_documents_are_still_cited() -> Result<()> {
    let (_database, mut client) = farm("deleted")?;
    client.batch_execute("SELECT reground.pin('talk', doc_id => 'sheep', corpus => 'farm')")?;
    let (turn, sources) = begin(
        &mut client,
        "talk",
        "What do cows and sheep give?",
        "farm",
        &json!({}),
    )?;
    let of = |document: &str| sources.iter().find(|source| source.doc_id == document);
    let (cows, sheep) = (
        of("cows").context("found")?.marker.clone(),
        of("sheep").context("pinned")?.marker.clone(),
    );
    let answer = format!("{} [{cows}]. {} [{sheep}].", FARM[0].1, FARM[1].1);
    let held = end(&mut client, turn, &answer)?;
    ensure!(held.iter().all(|c| c.holds == Some(true)), "{held:?}");
    // Gone between two turns, carried and pinned; and one more within a turn, when the prompt has it already.
    client.batch_execute(
        "SELECT reground.delete_document('farm', 'cows'), reground.delete_document('farm', 'sheep')",
    )?;
    let (turn, sources) = begin(
        &mut client,
        "talk",
        "And what else do cows and sheep give? What do bees make?",
        "farm",
        &json!({}),
    )?;
    let documents: Vec<&str> = sources.iter().map(|s| s.doc_id.as_str()).collect();
    assert_eq!(documents, ["bees"], "{sources:?}");
    client.batch_execute("SELECT reground.delete_document('farm', 'bees')")?;
    let prompt: String = client
        .query_one("SELECT reground.prompt_context($1)", &[&turn])?
        .get(0);
    ensure!(
        !prompt.contains("Cows") && !prompt.contains("Sheep"),
        "{prompt}"
    );
    let again = end(
        &mut client,
        turn,
        &format!("{answer} {} [{}].", FARM[2].1, sources[0].marker),
    )?;
    let verdicts: Vec<_> = again.iter().map(|c| (c.status.as_str(), c.holds)).collect();
    assert_eq!(
        verdicts,
        [
            ("stale_turn", Some(false)),
            ("stale_turn", Some(false)),
            ("resolved_current", Some(true))
        ]
    );
    // Every citation of what is gone says so, the verdicts of the first answer stand as they were given, and the list of the stale
    // has them.
    let rows = client.query(
        "SELECT turn, doc_id, source_state, holds, EXISTS (SELECT FROM reground.stale_citations AS s WHERE s.citation_id = a.citation_id)
         FROM reground.citation_audit AS a ORDER BY citation_id",
        &[],
    )?;
    assert_eq!(rows.len(), 5);
    for row in rows {
        let (turn, document): (i32, String) = (row.get(0), row.get(1));
        assert_eq!(row.get::<_, Option<&str>>(2), Some("deleted"), "{document}");
        assert_eq!(row.get::<_, bool>(3), turn == 1 || document == "bees");
        ensure!(row.get::<_, bool>(4), "{document} of turn {turn}");
    }
    Ok(())
}

#[test]
fn recycled_ids_inherit_old_content() -> Result<()> {
    let database = Database::create("complaint_recycled")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "CREATE TABLE notes (id integer PRIMARY KEY, body text);
         INSERT INTO notes VALUES (1, 'Cows give milk every day.'), (2, 'Sheep give wool every spring.');
         SELECT reground.add_corpus('notes', relation => 'notes', key => 'id', content => 'body')",
    )?;
    let (turn, sources) = begin(
        &mut client,
        "talk",
        "What do cows give?",
        "notes",
        &json!({}),
    )?;
    let old = sources
        .iter()
        .find(|source| source.chunk_id == "1")
        .context("found")?
        .marker
        .clone();
    let said = format!("Cows give milk every day [{old}].");
    assert_eq!(only(&mut client, turn, &said)?.holds, Some(true));
    client.batch_execute(
        "DELETE FROM notes WHERE id = 1; INSERT INTO notes VALUES (1, 'Pigs eat what the cows leave.')",
    )?;
    // The old text is nowhere, the new one under another marker.
    let (turn, sources) = begin(
        &mut client,
        "talk",
        "And what do pigs eat that cows leave?",
        "notes",
        &json!({}),
    )?;
    let new = sources
        .iter()
        .find(|source| source.chunk_id == "1")
        .context("found")?;
    assert_eq!(new.content, "Pigs eat what the cows leave.");
    ensure!(new.marker != old && new.origin == "fresh", "{sources:?}");
    let prompt: String = client
        .query_one("SELECT reground.prompt_context($1)", &[&turn])?
        .get(0);
    ensure!(
        !prompt.contains("milk") && !prompt.contains(&format!("[{old}]")),
        "{prompt}"
    );
    // The old marker does not take over what stands under the key now: neither with the old claim, nor with the new one.
    for claim in ["Cows give milk every day", "Pigs eat what the cows leave"] {
        let cited = only(&mut client, turn, &format!("{claim} [{old}]."))?;
        assert_eq!(
            (cited.status.as_str(), cited.holds),
            ("stale_turn", Some(false)),
            "{cited:?}"
        );
    }
    let cited = only(
        &mut client,
        turn,
        &format!("Pigs eat what the cows leave [{}].", new.marker),
    )?;
    assert_eq!(cited.holds, Some(true));
    // The audit of the first answer still has the hash and the words of what was read then.
    let row = client.query_one(
        "SELECT source_hash = encode(sha256(convert_to('Cows give milk every day.', 'UTF8')), 'hex'), quote, marker FROM reground.citation_audit WHERE turn = 1",
        &[],
    )?;
    ensure!(row.get::<_, bool>(0), "the hash is another one");
    assert_eq!(
        (row.get::<_, &str>(1), row.get::<_, &str>(2)),
        ("Cows give milk every day.", old.as_str())
    );
    // What is remembered of the row brings in what it says now, under a marker of its own, and the turn says that it has changed.
    client.batch_execute("UPDATE notes SET body = 'Nothing is said of anything.' WHERE id = 1")?;
    let (turn, sources) = begin(
        &mut client,
        "talk",
        "Tell me more.",
        "notes",
        &json!({"carry_threshold": 0}),
    )?;
    let carried = sources
        .iter()
        .find(|source| source.chunk_id == "1")
        .context("it is remembered")?;
    assert_eq!(carried.content, "Nothing is said of anything.");
    ensure!(
        ![&old, &new.marker].contains(&&carried.marker),
        "{sources:?}"
    );
    let warnings: Vec<String> = client
        .query_one(
            "SELECT warnings FROM reground.turns WHERE turn_id = $1",
            &[&turn],
        )?
        .get(0);
    ensure!(
        warnings.iter().any(|warning| warning == "source_changed"),
        "{warnings:?}"
    );
    Ok(())
}

/// A judge that is a model is not part of the extension yet. What judges is the support by text: the same, to the last bit, in
/// every session, under every plan, by each of the functions that judge, and as often as one likes.
#[test]
fn judge_scores_flip_from_run_to_run() -> Result<()> {
    let (database, _) = farm("flips")?;
    let answer = "Cows give milk every day [1]. Sheep give wool in the autumn [1]. Bees make no honey [2]. Cows give 3 litres, and wool [1][3]. Pigs fly [9].";
    let settings = json!({"max_sources": 3, "min_sources": 3, "marker_style": "1"});
    let mut verdicts: BTreeSet<String> = BTreeSet::new();
    let mut judged = 0;
    let passages: Value = FARM.iter().map(|(_, text)| json!({"text": text})).collect();
    let mut given: BTreeSet<String> = BTreeSet::new();
    let mut parts: BTreeSet<String> = BTreeSet::new();
    let plans = [
        "",
        "SET enable_seqscan = off",
        "SET enable_indexscan = off; SET enable_bitmapscan = off",
        "SET plan_cache_mode = force_generic_plan",
        "SET jit_above_cost = 0; SET debug_parallel_query = on",
        "SET work_mem = '64kB'; SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'German'",
    ];
    for (number, plan) in plans.iter().enumerate() {
        let mut client = database.connect()?;
        client.batch_execute(plan)?;
        for run in 0..3 {
            let conversation = format!("{number}-{run}");
            let (turn, _) = begin(
                &mut client,
                &conversation,
                "Do cows give milk every day on the farm?",
                "farm",
                &settings,
            )?;
            // As it streams, as it is ended, and as it is regenerated.
            for call in [
                "feed_answer($1, $2, complete => true)",
                "end_turn($1, $2, message => 'one')",
                "end_turn($1, $2, message => 'two')",
            ] {
                let row = client.query_one(
                    &format!("SELECT jsonb_agg(jsonb_build_array(raw, marker, status, holds, score, support, quote))::text FROM reground.{call} WHERE raw IS NOT NULL"),
                    &[&turn, &answer],
                )?;
                verdicts.insert(row.get(0));
                judged += 1;
            }
            let row = client.query_one(
                "SELECT jsonb_agg(jsonb_build_array(raw, support_parts, best_other) ORDER BY citation_no)::text FROM reground.citation_audit WHERE turn_id = $1 AND NOT superseded",
                &[&turn],
            )?;
            parts.insert(row.get(0));
            let row = client.query_one(
                "SELECT jsonb_agg(to_jsonb(v))::text FROM (SELECT raw, status, holds, score, support, support_parts, quote FROM reground.check_answer($1, $2)) AS v",
                &[&answer, &passages],
            )?;
            given.insert(row.get(0));
        }
    }
    assert_eq!(judged, plans.len() * 9);
    assert_eq!(verdicts.len(), 1, "{verdicts:#?}");
    assert_eq!(given.len(), 1, "{given:#?}");
    assert_eq!(parts.len(), 1, "{parts:#?}");
    // And there was something to judge: what holds, and what does not for several reasons.
    let verdicts: Value = serde_json::from_str(verdicts.first().context("there is one")?)?;
    let statuses: BTreeSet<&str> = verdicts
        .as_array()
        .context("an array")?
        .iter()
        .filter_map(|verdict| verdict[2].as_str())
        .collect();
    ensure!(
        statuses.len() >= 3 && statuses.contains("resolved_current"),
        "{statuses:?}"
    );
    Ok(())
}

/// A judge that is a model is not part of the extension yet. What there is: a citation of which nothing can be said is no verdict, nor
/// is a label that is none, nor what a reranker did that failed.
#[test]
fn errors_of_the_judge_are_counted_as_verdicts() -> Result<()> {
    let (_database, mut client) = farm("errors")?;
    let (turn, sources) = begin(&mut client, "talk", FARM[0].1, "farm", &alone("A1"))?;
    let marker = &sources[0].marker;
    // One holds, one does not; of two nothing can be said.
    let answer = format!(
        "{0} [{marker}]. Pigs fly [Z9]. Cows give milk [{marker},]. Cows give milk (Smith et al., 2020).",
        FARM[0].1
    );
    let citations = end(&mut client, turn, &answer)?;
    let holds: Vec<Option<bool>> = citations.iter().map(|citation| citation.holds).collect();
    assert_eq!(holds, [Some(true), Some(false), None, None]);
    let quality = "SELECT citations, judged, held, rate, labelled, labelled_accurate FROM reground.citation_quality()";
    let counts = |client: &mut Client| -> Result<(i64, i64, i64, f64, i64, i64)> {
        let row = client.query_one(quality, &[])?;
        Ok((
            row.get(0),
            row.get(1),
            row.get(2),
            row.get(3),
            row.get(4),
            row.get(5),
        ))
    };
    assert_eq!(counts(&mut client)?, (4, 2, 1, 0.5, 0, 0));
    // The mean is over what was judged: 1 and 0.
    let cfs: f64 = client
        .query_one("SELECT cfs FROM reground.messages", &[])?
        .get(0);
    assert_eq!(cfs, 0.5);
    // A reviewer who answers with something else has said nothing.
    let citation: i64 = client
        .query_one(
            "SELECT min(citation_id) FROM reground.message_citations",
            &[],
        )?
        .get(0);
    for label in ["error", "timeout", "", "ACCURATE", "1"] {
        let refused = client.execute(
            "SELECT reground.label_citation($1, $2)",
            &[&citation, &label],
        );
        assert_eq!(state(&refused), Some("22023"), "{label}");
    }
    assert_eq!(counts(&mut client)?, (4, 2, 1, 0.5, 0, 0));
    client.execute(
        "SELECT reground.label_citation($1, 'accurate', labelled_by => 'anna')",
        &[&citation],
    )?;
    assert_eq!(counts(&mut client)?, (4, 2, 1, 0.5, 1, 1));
    // A measure over nothing is nothing, and adds nothing to a mean over many.
    let mean: Option<f64> = client
        .query_one(
            "SELECT reground.micro_average(n, d) FROM (VALUES (1::float8, 2::float8), (NULL, NULL), (1, 2)) AS v(n, d)",
            &[],
        )?
        .get(0);
    assert_eq!(mean, Some(0.5));
    let nothing: Option<f64> = client
        .query_one(
            "SELECT reground.micro_average(n, d) FROM (VALUES (NULL::float8, NULL::float8), (0, 0)) AS v(n, d)",
            &[],
        )?
        .get(0);
    assert_eq!(nothing, None);
    // A reranker that gives nothing has judged nothing: the order is that of the search, no score is kept, and it is told.
    client.batch_execute(
        "CREATE FUNCTION says_nothing(query text, passages text[]) RETURNS real[] LANGUAGE sql IMMUTABLE RETURN NULL::real[]",
    )?;
    let everything = json!({"max_sources": 3, "min_sources": 3});
    let mut silent = everything.clone();
    silent["reranker"] = json!("says_nothing(text, text[])");
    let query = "What do cows, sheep and bees give or make?";
    let (_, expected) = begin(&mut client, "without", query, "farm", &everything)?;
    let (turn, found) = begin(&mut client, "with", query, "farm", &silent)?;
    assert_eq!(found, expected);
    let row = client.query_one(
        "SELECT warnings, (SELECT count(reranked) FROM reground.turn_candidates AS c WHERE c.turn_id = t.turn_id) FROM reground.turns AS t WHERE turn_id = $1",
        &[&turn],
    )?;
    let warnings: Vec<String> = row.get(0);
    ensure!(
        warnings.iter().any(|warning| warning == "rerank_missing"),
        "{warnings:?}"
    );
    assert_eq!(row.get::<_, i64>(1), 0);
    Ok(())
}
