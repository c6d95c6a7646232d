//! A database with old and young rows.

use anyhow::{Context, Result};
use postgres::Client;
use reground_tests::server::Database;

/// The corpus `farm` of two documents, whose turns have hash chains.
const FARM: &str = "
    SELECT reground.create_corpus('farm', settings => '{\"provenance\": \"merkle\"}');
    SELECT reground.put_document('farm', 'cows', passages => '[{\"content\": \"Cows give milk.\"}]');
    SELECT reground.put_document('farm', 'sheep', passages => '[{\"content\": \"Sheep give wool.\"}]');";

/// A database with old and young rows, and a moment between them.
pub struct Aged {
    pub database: Database,
    pub client: Client,
    /// The moment, as text of PostgreSQL.
    pub moment: String,
}

impl Aged {
    /// Runs the statements `old` and `young` in a new database with the corpus `farm`.
    pub fn new(name: &str, old: &str, young: &str) -> Result<Self> {
        let database = Database::create(name)?;
        let mut client = database.connect()?;
        client.batch_execute(&format!("{FARM} {old}"))?;
        let moment = client
            .query_one("SELECT clock_timestamp()::text", &[])?
            .get(0);
        client.batch_execute(young)?;
        Ok(Self {
            database,
            client,
            moment,
        })
    }

    /// The first column of the first row, empty for NULL.
    pub fn text(&mut self, query: &str) -> Result<String> {
        let row = self
            .client
            .query_one(query, &[])
            .context(query.to_owned())?;
        Ok(row.get::<_, Option<String>>(0).unwrap_or_default())
    }
}
