//! The citations that an API returned beside a text, read and not judged.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_citations::{Api, CitationColumns, UnknownApi};
use serde::Serialize;

use crate::api::{given, judge};
use crate::datum::Json;
use crate::error::Error;
use crate::rows;

/// A citation and what its API says that the source says.
#[derive(Serialize)]
struct Imported {
    #[serde(flatten)]
    written: CitationColumns,
    quote: Option<String>,
}

#[pg_extern(sql = false)]
fn import_citations(
    answer: Option<&str>,
    citations: Option<Json>,
    api: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let answer = given(answer, "answer")?;
    let citations = given(citations, "citations")?.value("citations")?;
    let unknown = |error: UnknownApi| {
        Error::Bad {
        argument: "citations",
        fault: error.to_string(),
        hint: "Pass the message as the API returned it, or its list of citations with api => its name."
            .into(),
    }
    };
    let api: Option<Api> = api.map(str::parse).transpose().map_err(unknown)?;
    let import = reground_citations::import(&citations, answer, api).map_err(unknown)?;
    judge::warn_of(&import.notes);
    let rows: Vec<Imported> = import
        .extraction
        .citation_columns(answer)
        .into_iter()
        .zip(import.quotes)
        .map(|(written, quote)| Imported { written, quote })
        .collect();
    rows::emit(fcinfo, &rows)?;
    Ok(())
}
