//! Must-have facts of questions.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::api::{given, names, not_empty, writable};
use crate::store::factuality::gold::{self, GoldQuestion};
use crate::tenant;

#[pg_extern(sql = false)]
fn put_gold_facts(
    question_ref: Option<&str>,
    facts: Option<Vec<Option<String>>>,
    reference: Option<&str>,
) -> std::result::Result<(), ErrorReport> {
    writable("put_gold_facts")?;
    let tenant = tenant::required()?;
    let question_ref = not_empty(question_ref, "question_ref")?;
    let facts = given(names(facts, "facts")?, "facts")?;
    for fact in &facts {
        not_empty(Some(fact), "facts")?;
    }
    let reference = reference.map(|text| not_empty(Some(text), "reference"));
    let question = GoldQuestion {
        reference: reference.transpose()?.map(str::to_owned),
        facts,
    };
    gold::put(&tenant, question_ref, question)?;
    Ok(())
}

#[pg_extern(sql = false)]
fn drop_gold_facts(question_ref: Option<&str>) -> std::result::Result<bool, ErrorReport> {
    writable("drop_gold_facts")?;
    let tenant = tenant::required()?;
    Ok(gold::drop(&tenant, given(question_ref, "question_ref")?)?)
}
