//! Complaints about markers.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use reground_tests::chance::Chance;
use reground_tests::corpus;
use reground_tests::server::Database;
use serde_json::json;

use crate::dialogue::{Citation, FARM, alone, begin, end, farm, only};

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
            // The first number belongs to the first source for the whole conversation.
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
        // The source supports the claim word by word, but was not in the context.
        let cited = only(&mut client, turn, &answer)?;
        assert_eq!(
            (cited.status.as_str(), cited.holds),
            ("stale_turn", Some(false))
        );
        // The audit shows it, and the score of the answer falls.
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
    // Unordered, repeated, invented and malformed citations, after letters of one to four bytes.
    let answer = format!(
        "Ça alors 🐄: bees make honey in the hive all summer [{bees}]. Sheep give wool every spring 牛 [{sheep}, {cows}]. 🐝🐝 Pigs fly [Z9]. \
         Cows give milk every day on the farm [{cows}]. Nobody knows [{cows},]. Bees make honey in the hive all summer [{bees}]."
    );
    let written = end(&mut client, turn, &answer)?;
    assert_eq!(written.len(), 7, "{written:?}");
    end(&mut client, turn, &format!("Only this stands [{sheep}]."))?;
    drop(client);
    // Another session reads the same rows, in the order of the text, with the same positions.
    let mut client = database.connect()?;
    client.batch_execute("SELECT reground.rebuild_audit()")?;
    let rows = client.query(
        "SELECT c.raw, c.marker, c.doc_id, c.chunk_id, c.status, c.holds, c.support, c.answer_start, c.answer_end, c.byte_start, c.byte_end, c.utf16_start, c.utf16_end, m.answer
         FROM reground.message_citations AS c JOIN reground.messages AS m USING (message_id) WHERE m.turn_id = $1 AND m.superseded ORDER BY c.citation_no",
        &[&turn],
    )?;
    assert_eq!(rows.len(), written.len());
    for (row, citation) in rows.iter().zip(&written) {
        let read = Citation::read(row);
        assert_eq!(read, *citation);
        let at =
            |column: usize| -> Result<usize> { Ok(usize::try_from(row.get::<_, i32>(column))?) };
        let stored: String = row.get(13);
        assert_eq!(stored, answer);
        let chars: String = stored.chars().skip(at(7)?).take(at(8)? - at(7)?).collect();
        assert_eq!(stored.get(at(9)?..at(10)?), Some(chars.as_str()));
        let units: Vec<u16> = stored.encode_utf16().collect();
        assert_eq!(String::from_utf16(&units[at(11)?..at(12)?])?, chars);
        // Each entry of a list is a citation.
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
        // A marker always names one passage and a passage one marker; letters name one document and a document one letter sequence.
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
            "only {} passages and {} documents",
            passages.len(),
            letters.len()
        );
    }
    Ok(())
}
