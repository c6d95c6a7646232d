//! `import_citations`: returns the citations that a model's API returned besides the text, without judging them.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_citations::{Api, CitationColumns, UnknownApi};
use serde::Serialize;

use crate::api::answer::judging::judge;
use crate::api::given;
use crate::datum::Json;
use crate::error::Error;
use crate::rows;

/// A row of `import_citations`: a citation with the quote of the source that the API returned.
#[derive(Serialize)]
struct ImportedCitation {
    #[serde(flatten)]
    columns: CitationColumns,
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
    let unknown = |error: UnknownApi| Error::Bad {
        argument: "citations",
        fault: error.to_string(),
        hint:
            "Pass the whole message of the API, or its list of citations and the name of the API."
                .into(),
    };
    let api: Option<Api> = api.map(str::parse).transpose().map_err(unknown)?;
    let import = reground_citations::import(&citations, answer, api).map_err(unknown)?;
    judge::warn_of(&import.notes);
    let rows: Vec<ImportedCitation> = import
        .extraction
        .citation_columns(answer)
        .into_iter()
        .zip(import.quotes)
        .map(|(columns, quote)| ImportedCitation { columns, quote })
        .collect();
    rows::emit(fcinfo, &rows)?;
    Ok(())
}
