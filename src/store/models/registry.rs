//! The table `models`.

use reground_models::kind::Kind;
use reground_models::registration::Registration;

use crate::error::{Error, Result};
use crate::run_as::as_owner;
use crate::sql::{self, Record};

/// Columns of [`Registration`].
const MODEL: Record = Record(&[
    "model text, task text, api text, endpoint text, api_model text, dimensions integer, key_name text, settings jsonb",
]);

/// The model of this name.
pub fn find(model: &str) -> Result<Option<Registration>> {
    as_owner(|| {
        sql::read_json(
            &format!(
                "SELECT row_to_json(r)::text FROM (SELECT {} FROM reground.models WHERE model = $1) AS r",
                MODEL.columns("")
            ),
            &[model.into()],
        )
    })
}

/// The model of this name.
///
/// # Errors
/// P0002 if it does not exist, 22023 if it has another task.
pub fn with_task(model: &str, needed: Kind) -> Result<Registration> {
    let found = find(model)?.ok_or_else(|| Error::UnknownModel(model.to_owned()))?;
    match found.task == needed {
        true => Ok(found),
        false => Err(Error::OtherTask {
            model: found.model,
            task: found.task.name(),
            needed: needed.name(),
        }),
    }
}

/// The model of this name; its row is locked, so that no other session changes or drops it.
pub fn hold(model: &str) -> Result<Option<Registration>> {
    as_owner(|| {
        sql::write_json(
            &format!(
                "SELECT row_to_json(r)::text FROM (SELECT {} FROM reground.models WHERE model = $1 FOR UPDATE) AS r",
                MODEL.columns("")
            ),
            &[model.into()],
        )
    })
}

/// Keeps a model from being dropped until the transaction ends. Taken before its tasks are locked, as drop_model does.
pub fn keep(model: &str) -> Result<()> {
    as_owner(|| {
        sql::run(
            "SELECT FROM reground.models WHERE model = $1 FOR KEY SHARE",
            &[model.into()],
        )
    })?;
    Ok(())
}

/// All models, by name.
pub fn all() -> Result<Vec<Registration>> {
    as_owner(|| {
        sql::read_rows(
            &format!(
                "SELECT {} FROM reground.models ORDER BY model",
                MODEL.columns("")
            ),
            &[],
        )
    })
}

/// Stores a model; replaces that of the same name.
pub fn put(registration: &Registration) -> Result<()> {
    let row = sql::json(registration)?;
    as_owner(|| {
        sql::run(
            &format!(
                "INSERT INTO reground.models ({0}) SELECT {0} FROM json_to_record($1::json) AS x({MODEL}) \
                 ON CONFLICT (model) DO UPDATE SET {1}",
                MODEL.columns(""),
                MODEL.assignments("excluded.")
            ),
            &[row.into()],
        )
    })?;
    Ok(())
}

/// Deletes a model with its tasks and its usage.
pub fn delete(model: &str) -> Result<()> {
    as_owner(|| {
        sql::run(
            "DELETE FROM reground.models WHERE model = $1",
            &[model.into()],
        )
    })?;
    Ok(())
}

/// The name of a corpus whose embeddings are of this model, if there is one.
pub fn user_of(model: &str) -> Result<Option<String>> {
    as_owner(|| {
        sql::write_one(
            "SELECT c.corpus FROM reground.corpora AS c WHERE $1 IN (c.embedding_model, c.next_embedding_model) ORDER BY c.corpus LIMIT 1",
            &[model.into()],
        )
    })
}
