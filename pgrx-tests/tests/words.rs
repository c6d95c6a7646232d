//! The index has the words of `to_tsvector`, at the same positions. The texts contain addresses, file names, numbers, markup and other tokens
//! for which PostgreSQL's default parser has rules of its own.

use anyhow::{Result, ensure};
use reground_tests::chance::Chance;
use reground_tests::server::Database;

/// Number of texts.
const TEXTS: usize = 4000;
/// Phrases of words that are alone among the pieces.
const PHRASES: [&str; 14] = [
    "a word",
    "word a",
    "the houses",
    "houses the",
    "houses 7",
    "7 1998",
    "a the",
    "the a",
    "word the",
    "the word",
    "7 a",
    "a 7",
    "1998 word",
    "word 7",
];
/// Least number of texts with a phrase.
const WITH_PHRASE: usize = 50;

const PIECES: [&str; 66] = [
    "a",
    "word",
    "The",
    "houses",
    "fox's",
    "don't",
    "1998",
    "7",
    "3.5",
    ".5",
    "1,000",
    "-5",
    "+7",
    "x-y",
    "state-of-the-art",
    "x-1",
    "1-x",
    "foo.com",
    "http://foo.com/a?b=c",
    "http://",
    "www.a.org/x.html",
    "me@x.org",
    "/usr/bin",
    "./a",
    "../a",
    "~/b",
    "a/b",
    "7/8",
    "&amp;",
    "&#39;",
    "&",
    "AT&T",
    "<b>",
    "<br/>",
    "</b>",
    "<",
    ">",
    "e.g.",
    "...",
    "U.S.A.",
    "naïve",
    "Übung",
    "日本",
    "10%",
    "$5",
    "5e3",
    "5e",
    "1.2.3",
    "v1.2",
    "_x",
    "x_y",
    "#tag",
    "C++",
    "(paren)",
    "[A1]",
    "{x}",
    "\"q\"",
    "'q'",
    "a:b",
    "12:30",
    "::",
    "--",
    "–",
    "e\u{301}",
    "\u{301}",
    "İ",
];
const SEPARATORS: [&str; 16] = [
    " ", " ", " ", " ", "  ", "\n", "\t", "", ",", ", ", ". ", ".", ": ", ":", "\u{a0}", "\u{b}",
];

fn any<'a>(chance: &mut Chance, of: &[&'a str]) -> &'a str {
    of.get(chance.below(of.len())).copied().unwrap_or_default()
}

#[test]
fn words_are_those_of_to_tsvector() -> Result<()> {
    let database = Database::create("words")?;
    let mut client = database.connect()?;
    client.batch_execute(
        "SET client_min_messages = error; CREATE TABLE texts (id integer PRIMARY KEY, body text);
         CREATE INDEX texts_english ON texts USING reground_bm25 (body) WITH (text_config = 'english');
         CREATE TABLE others (body text);
         CREATE INDEX others_simple ON others USING reground_bm25 (body) WITH (text_config = 'simple')",
    )?;
    let mut chance = Chance::of(23);
    let insert = client.prepare("INSERT INTO texts VALUES ($1, $2)")?;
    for id in 0..TEXTS {
        let pieces = 1 + chance.below(12);
        let body: String = (0..pieces)
            .map(|_| [any(&mut chance, &PIECES), any(&mut chance, &SEPARATORS)].concat())
            .collect();
        client.execute(&insert, &[&i32::try_from(id)?, &body])?;
    }
    for (config, relation) in [("english", "texts"), ("simple", "others")] {
        let differ = client.query(
            "SELECT t.body, o.words::text, e.words::text FROM texts AS t,
                 LATERAL (SELECT coalesce(json_agg(w ORDER BY w.lexeme COLLATE \"C\"), '[]') AS words FROM (
                     SELECT lexeme, frequency FROM reground.bm25_explain(t.body, reground.bm25_query(t.body, $2::text::regclass)) WHERE frequency > 0) AS w) AS o,
                 LATERAL (SELECT coalesce(json_agg(w ORDER BY w.lexeme COLLATE \"C\"), '[]') AS words FROM (
                     SELECT lexeme, cardinality(positions) AS frequency FROM unnest(to_tsvector($1::text::regconfig, t.body))) AS w) AS e
             WHERE o.words::text <> e.words::text LIMIT 3",
            &[&config, &relation],
        )?;
        let shown: Vec<String> = differ
            .iter()
            .map(|row| {
                format!(
                    "{:?}: {} beside {}",
                    row.get::<_, &str>(0),
                    row.get::<_, &str>(1),
                    row.get::<_, &str>(2)
                )
            })
            .collect();
        ensure!(shown.is_empty(), "{config}: {}", shown.join("\n"));
    }
    let found = client.query_one(
        "SELECT count(*) FILTER (WHERE m.ours), count(*) FILTER (WHERE m.ours <> m.theirs)
         FROM texts AS t, unnest($1::text[]) AS p,
             LATERAL (SELECT t.body @@@ reground.bm25_query(format('\"%s\"', p), 'others', syntax => true) AS ours,
                 to_tsvector('simple', t.body) @@ phraseto_tsquery('simple', p) AS theirs) AS m",
        &[&PHRASES.as_slice()],
    )?;
    let (with_phrase, differ): (i64, i64) = (found.get(0), found.get(1));
    ensure!(
        differ == 0 && usize::try_from(with_phrase)? >= WITH_PHRASE,
        "{with_phrase} texts have a phrase, {differ} differ"
    );
    Ok(())
}
