//! The table of verdicts says what the crate that gives them says.

use anyhow::Result;
use reground_citations::Status;
use reground_tests::server::Database;

#[test]
fn the_table_of_statuses_is_that_of_the_crate() -> Result<()> {
    let database = Database::create("statuses")?;
    let rows = database.connect()?.query(
        "SELECT status, holds, score, mode, meaning FROM reground.citation_statuses",
        &[],
    )?;
    assert_eq!(rows.len(), Status::ALL.len());
    for row in rows {
        let name: String = row.get(0);
        let status = Status::ALL
            .into_iter()
            .find(|status| status.as_str() == name)
            .expect("the crate knows the status");
        assert_eq!(row.get::<_, Option<bool>>(1), status.holds(), "{name}");
        assert_eq!(row.get::<_, Option<f64>>(2), status.score(), "{name}");
        let mode = status.mode().map(|mode| mode.as_str().to_owned());
        assert_eq!(row.get::<_, Option<String>>(3), mode, "{name}");
        assert_eq!(row.get::<_, String>(4), status.meaning(), "{name}");
    }
    Ok(())
}
