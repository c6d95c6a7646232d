//! Text that is not valid UTF-8 or contains a NUL byte.

use anyhow::{Result, ensure};
use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use reground_tests::server::{Database, row_counts, state};
use serde_json::json;

use crate::fixture::open_turn;

/// Bytes sent as text, valid or not, as a driver in another language might send them.
#[derive(Debug)]
struct RawText(&'static [u8]);

impl ToSql for RawText {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        out.extend_from_slice(self.0);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

#[test]
fn invalid_utf8_is_refused_in_every_text_argument() -> Result<()> {
    let database = Database::create("bad_utf8")?;
    let mut client = database.connect()?;
    let turn = open_turn(&mut client)?;
    let before = row_counts(&mut client)?;
    for bytes in [
        &b"\xff"[..],
        b"milk \xc3\x28",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xc0\xaf",
    ] {
        let raw = RawText(bytes);
        for call in [
            "SELECT reground.begin_turn($1, 'x', 'farm', '[1,0]')",
            "SELECT reground.begin_turn('c', $1, 'farm', '[1,0]')",
            "SELECT reground.put_document('farm', 'd', content => $1)",
            "SELECT reground.put_document('farm', $1, content => 'x')",
            "SELECT reground.search('farm', $1, '[1,0]')",
            "SELECT reground.create_corpus($1)",
            "SELECT reground.pin('c', doc_id => $1, corpus => 'farm')",
        ] {
            let outcome = client.query(call, &[&raw]);
            ensure!(
                state(&outcome) == Some("22021"),
                "{call} with {bytes:x?}: {outcome:?}"
            );
        }
        let outcome = client.query("SELECT reground.end_turn($1, $2)", &[&turn, &raw]);
        ensure!(
            state(&outcome) == Some("22021"),
            "end_turn with {bytes:x?}: {outcome:?}"
        );
    }
    // A NUL byte is not valid text either.
    let outcome = client.query(
        "SELECT reground.end_turn($1, $2)",
        &[&turn, &RawText(b"a\0b")],
    );
    ensure!(state(&outcome) == Some("22021"), "{outcome:?}");
    let outcome = client.query(
        "SELECT reground.put_document('farm', 'd', passages => $1)",
        &[&json!([{"content": "a\0b"}])],
    );
    ensure!(state(&outcome) == Some("22P05"), "{outcome:?}");
    ensure!(row_counts(&mut client)? == before, "something was written");
    Ok(())
}
