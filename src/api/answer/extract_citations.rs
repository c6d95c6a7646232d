//! `extract_citations`: returns the citations of a text without judging them.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::end::parse_answer;
use reground_grounding::settings::Settings;
use serde_json::json;

use crate::api::given;
use crate::datum::Json;
use crate::error::Error;
use crate::rows;

#[pg_extern(sql = false)]
fn extract_citations(
    answer: Option<&str>,
    forms: Option<Json>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let answer = given(answer, "answer")?;
    let forms = Json::optional(forms, "forms")?;
    let call = json!({ "citation_forms": forms });
    let settings = Settings::resolve(&[("forms", &call)]).map_err(Error::from)?;
    let grammar = parse_answer::grammar(&settings, &[]).map_err(Error::from)?;
    let extraction = reground_citations::extract(answer, &grammar);
    rows::emit(fcinfo, &extraction.citation_columns(answer))?;
    Ok(())
}
