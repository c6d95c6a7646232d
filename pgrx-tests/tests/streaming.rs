//! For each prefix of a streamed answer, the certain citations equal those of the whole answer.

use anyhow::{Result, ensure};
use postgres::{Client, Row};
use reground_tests::server::Database;

/// Answers whose last paragraph is complete, so that all citations are certain before the last word.
const ANSWERS: [&str; 10] = [
    "Cows give milk [A1]. Sheep give wool [B1].",
    "Cows give milk [A1][B1], or so they say [A1, B1]; pigs fly [Z9].\n\nSheep give wool [B1].\n\n",
    "See [the farm](https://farm.example/a_(b)) and `[A1]`, not [A1](https://x.example).\n\nCows give milk [a1].",
    "```\n[A1]\n```\nCows give milk [Source: cows, p. 2].\n\n<think>[B1]</think>Sheep give wool 【1】.",
    "- Cows give milk. [A1]\n- Sheep give wool.[B1]\n\nSources: [A1]",
    "🐄 gibt Milch [A1] für 牛奶 [B1]。\n\nNext [A1,] and [A1 without end",
    "# Cows [A1]\n\nIt is so [^1] and [1-3].\n\n[^1]: cows\n\nReferences\n\n[A1] Cows",
    "Cows give milk and sheep give wool [A1].\n\n[B1]\n\nPigs fly [Z9].\n\nSheep give wool [B1].\n\nCows give milk. [A1]",
    "Cows give milk [A1].\n\nSheep give wool [B1].\n\n```\n[A1]\n\n[B1]\n```\n\n牛奶 is milk [A1].\n\nSources\n\n[A1] Cows\n\n[B1] Sheep",
    "Cows give milk `[A1] and\n\nsheep give wool` [B1] (Smith et al., 2020).",
];

/// A citation and its verdict.
#[derive(Debug, Clone, PartialEq)]
struct Citation {
    number: i32,
    raw: String,
    marker: Option<String>,
    doc_id: Option<String>,
    at: (i32, i32),
    verdict: Option<(String, Option<String>, Option<f64>)>,
}

impl Citation {
    fn of(row: &Row) -> Result<Option<Self>> {
        let Some(raw) = row.try_get("raw")? else {
            return Ok(None);
        };
        let status: Option<String> = row.try_get("status")?;
        let (claim, support) = (row.try_get("claim")?, row.try_get("support")?);
        Ok(Some(Self {
            number: row.try_get("citation_no")?,
            raw,
            marker: row.try_get("marker")?,
            doc_id: row.try_get("doc_id")?,
            at: (row.try_get("answer_start")?, row.try_get("answer_end")?),
            verdict: status.map(|status| (status, claim, support)),
        }))
    }

    /// Whether `whole` is the same citation, as far as this one is certain.
    fn becomes(&self, whole: &Self) -> bool {
        let named = |c: &Self| (c.raw.clone(), c.marker.clone(), c.at);
        named(self) == named(whole)
            && (self.verdict.is_none()
                || self.verdict == whole.verdict && self.doc_id == whole.doc_id)
    }
}

/// The displayable length, the next position, and the citations.
type Fed = (i32, String, Vec<Citation>);

/// The citations of rows.
fn citations_of(rows: &[Row]) -> Result<Vec<Citation>> {
    let citations: Result<Vec<Option<Citation>>> = rows.iter().map(Citation::of).collect();
    Ok(citations?.into_iter().flatten().collect())
}

/// The displayable length, which must be that of the same text in each unit.
fn displayable(row: &Row, text: &str) -> Result<i32> {
    let shown: i32 = row.try_get("displayable_chars")?;
    let length = |unit: &str| -> Result<usize> { Ok(row.try_get::<_, i32>(unit)? as usize) };
    let part: String = text.chars().take(shown as usize).collect();
    ensure!(length("displayable_bytes")? == part.len(), "{part:?}");
    ensure!(
        length("displayable_utf16")? == part.encode_utf16().count(),
        "{part:?}"
    );
    Ok(shown)
}

/// Feeds the whole text so far, and the position of the previous call. Returns the displayable length, the next position and the rows.
fn feed_from(
    client: &mut Client,
    turn: i64,
    text: &str,
    complete: bool,
    resume: Option<&str>,
) -> Result<Fed> {
    let rows = client.query(
        "SELECT * FROM reground.feed_answer($1, $2, $3, $4) ORDER BY citation_no",
        &[&turn, &text, &complete, &resume],
    )?;
    let shown = displayable(&rows[0], text)?;
    Ok((shown, rows[0].try_get("resume")?, citations_of(&rows)?))
}

fn feed(
    client: &mut Client,
    turn: i64,
    text: &str,
    complete: bool,
) -> Result<(i32, Vec<Citation>)> {
    let rows = client.query(
        "SELECT * FROM reground.feed_answer($1, $2, $3) ORDER BY citation_no",
        &[&turn, &text, &complete],
    )?;
    Ok((displayable(&rows[0], text)?, citations_of(&rows)?))
}

#[test]
fn every_prefix_agrees_with_the_whole_answer() -> Result<()> {
    let database = Database::create("streaming")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "SET client_min_messages = error;
         SELECT reground.create_corpus('farm');
         SELECT reground.put_document('farm', 'cows', page_count => 1, passages => '[{\"content\": \"Cows give milk.\", \"page_start\": 1}]');
         SELECT reground.put_document('farm', 'sheep', content => 'Sheep give wool.')",
    )?;
    for (number, answer) in ANSWERS.iter().enumerate() {
        let conversation = format!("talk-{number}");
        let turn: i64 = client
            .query_one(
                "SELECT turn_id FROM reground.begin_turn($1, 'cows, milk, sheep, wool', 'farm') LIMIT 1",
                &[&conversation],
            )?
            .get(0);
        let (shown, whole) = feed(&mut client, turn, answer, true)?;
        ensure!(shown as usize == answer.chars().count(), "{answer}");
        for step in [1, 2, 7, 40] {
            ensure_parts_agree(&mut client, turn, answer, step, &whole)?;
        }
        let mut before = 0;
        for (cut, _) in answer.char_indices() {
            let so_far = &answer[..cut];
            let (shown, citations) = feed(&mut client, turn, so_far, false)?;
            let context = || format!("{so_far:?} of {answer:?}");
            ensure!(
                shown >= before,
                "{}: fewer characters are displayable than before",
                context()
            );
            ensure!(shown as usize <= so_far.chars().count(), "{}", context());
            let torn = whole.iter().find(|c| c.at.0 < shown && shown < c.at.1);
            ensure!(torn.is_none(), "{}: {torn:?} is cut in two", context());
            // A citation of a footnote becomes certain with the note, possibly before others.
            let mut rest = whole.iter();
            for now in &citations {
                let then = rest.find(|then| now.becomes(then));
                ensure!(then.is_some(), "{}: {now:?} is not in {whole:?}", context());
                ensure!(
                    now.at.1 <= shown,
                    "{}: {now:?} is not displayable yet",
                    context()
                );
            }
            before = shown;
        }
        let ended = client.query(
            "SELECT * FROM reground.end_turn($1, $2) AS e ORDER BY e.citation_id",
            &[&turn, answer],
        )?;
        let ended = citations_of(&ended)?;
        ensure!(ended == whole, "{answer:?}: {ended:?} is not {whole:?}");
    }
    Ok(())
}

/// Feeds an answer in parts of `step` characters, each call from the position of the previous one. The citations with a verdict, and
/// those of the last call, are those of the whole answer, each once.
fn ensure_parts_agree(
    client: &mut Client,
    turn: i64,
    answer: &str,
    step: usize,
    whole: &[Citation],
) -> Result<()> {
    let mut resume: Option<String> = None;
    let mut told = Vec::new();
    let cuts = answer.char_indices().map(|(cut, _)| cut).step_by(step);
    for cut in cuts.skip(1) {
        let so_far = &answer[..cut];
        let (shown, next, citations) = feed_from(client, turn, so_far, false, resume.as_deref())?;
        let (shown_of_all, _) = feed(client, turn, so_far, false)?;
        ensure!(
            shown == shown_of_all,
            "{so_far:?} from {resume:?} on shows {shown}"
        );
        told.extend(citations.into_iter().filter(|c| c.verdict.is_some()));
        resume = Some(next);
    }
    let (_, _, citations) = feed_from(client, turn, answer, true, resume.as_deref())?;
    told.extend(citations);
    let numbers: Vec<i32> = told.iter().map(|citation| citation.number).collect();
    let all: Vec<i32> = (1..).take(whole.len()).collect();
    ensure!(
        numbers == all,
        "{answer:?} by {step}: citations {numbers:?}"
    );
    ensure!(
        told == whole,
        "{answer:?} by {step}: {told:?} is not {whole:?}"
    );
    Ok(())
}
