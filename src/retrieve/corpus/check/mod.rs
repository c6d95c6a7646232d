//! The checks of `check_corpus`: problems of a corpus, each with a command that repairs it.

mod columns;
mod embeddings;
mod finding;
mod indexes;
mod languages;
mod owners;
mod rows;
mod servers;
mod synchronised;
mod unique;

pub use indexes::indexes;

use crate::error::Result;
use crate::sql;
use crate::store::corpora::Corpus;
use finding::Finding;

/// Checks relations, columns, rows, embeddings and indexes. Stops after an error that makes the other checks impossible.
pub fn findings(corpus: &Corpus) -> Result<Vec<Finding>> {
    let Some(relation) = &corpus.relation else {
        let detail = "the relation no longer exists";
        return Ok(vec![Finding::error(
            "relation",
            detail,
            Some(drop_command(corpus)),
        )]);
    };
    let mut findings = vec![Finding::ok("relation", relation)];
    if corpus.has_documents && corpus.documents.is_none() {
        let detail = "the relation of the documents no longer exists";
        findings.push(Finding::error(
            "documents",
            detail,
            Some(drop_command(corpus)),
        ));
        return Ok(findings);
    }
    let missing = columns::missing(corpus);
    if !missing.is_empty() {
        findings.extend(missing);
        return Ok(findings);
    }
    if let Some(denied) = privilege(relation)? {
        findings.push(denied);
        return Ok(findings);
    }
    findings.extend(untrusted_code(corpus)?);
    if corpus.is_refused()? {
        // The other checks would run this code.
        return Ok(findings);
    }
    findings.extend(columns::not_integers(corpus));
    findings.extend(owners::owners(corpus)?);
    findings.extend(unique::chunk_id(corpus, relation)?);
    findings.extend(unique::documents_doc_id(corpus)?);
    findings.extend(rows::long_rows(corpus)?);
    findings.extend(rows::repeated_addresses(corpus)?);
    findings.extend(embeddings::embeddings(corpus, relation)?);
    findings.extend(languages::languages(corpus)?);
    findings.push(indexes::lexical_index(corpus, relation)?);
    findings.extend(servers::vector_settings(corpus)?);
    findings.extend(servers::schemas(corpus)?);
    findings.extend(indexes::titles(corpus));
    findings.extend(synchronised::synchronised(corpus)?);
    Ok(findings)
}

/// The command that drops a corpus.
fn drop_command(corpus: &Corpus) -> String {
    format!(
        "SELECT reground.drop_corpus({});",
        sql::literal(&corpus.name)
    )
}

/// Checks that the caller may read the passages.
fn privilege(relation: &str) -> Result<Option<Finding>> {
    let may = "SELECT has_table_privilege($1, 'SELECT')";
    if sql::read_one::<bool>(may, &[relation.into()])? == Some(true) {
        return Ok(None);
    }
    let grant = "SELECT 'GRANT SELECT ON ' || $1 || ' TO ' || quote_ident(current_user) || ';'";
    let hint = sql::read_one(grant, &[relation.into()])?;
    let detail = "this role may not read the relation";
    Ok(Some(Finding::error("privilege", detail, hint)))
}

/// Finds other owners of code that searches run: functions of a view or of a type have the rights of the searching role.
fn untrusted_code(corpus: &Corpus) -> Result<Vec<Finding>> {
    let owners = corpus.other_owners()?.into_iter();
    let findings = owners.map(|owner| {
        Finding::warning(
            "owner",
            format!("functions of role \"{owner}\" run with the rights of the role that searches"),
            Some("Search the corpus only if you trust this role. A superuser is refused.".into()),
        )
    });
    Ok(findings.collect())
}
