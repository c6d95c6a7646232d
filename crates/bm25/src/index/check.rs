//! Goes through a whole index and says what is wrong with it.

use std::collections::BTreeMap;

use reground_interrupt::check_interrupt;

use super::POSTING;
use super::fault::{Fault, Result};
use super::meta::{Design, FREE, META, Meta, Segment, Tail, free_runs};
use super::norms;
use super::score::{Saturation, impact};
use super::segment::Reader;
use super::store::{Extent, Pages};
use super::tail;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// With what: a segment, the tail, the file, a row.
    pub item: String,
    /// What.
    pub fault: String,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// What is wrong.
    pub faults: Vec<Finding>,
    /// Blocks that nothing refers to: left by a writer that was lost between two steps, until the index is made anew.
    pub unused: u64,
}

impl Findings {
    fn note(&mut self, item: impl Into<String>, fault: impl Into<String>) {
        self.faults.push(Finding {
            item: item.into(),
            fault: fault.into(),
        });
    }
}

/// Checks the structure; `visit` is given each document that was not removed, by row and fingerprint.
///
/// # Errors
/// Where the meta page or the free list cannot be read at all; other damage is among the findings.
pub fn check<P: Pages>(
    pages: &P,
    blocks: u32,
    mut visit: impl FnMut(u64, u64),
) -> Result<Findings> {
    let meta = Meta::read(pages)?;
    let runs = pages.look(FREE, free_runs)?;
    let mut findings = Findings::default();
    let mut owners = BTreeMap::new();
    let head = Extent {
        start: META,
        length: 2,
    };
    claim(
        &mut owners,
        &mut findings,
        head,
        "the first two pages".into(),
    );
    for run in &runs {
        claim(
            &mut owners,
            &mut findings,
            run.extent,
            "the free list".into(),
        );
    }
    for extent in &meta.pending {
        claim(
            &mut owners,
            &mut findings,
            *extent,
            "unfinished work".into(),
        );
    }
    for tail in [meta.tail, meta.spilling]
        .iter()
        .filter(|tail| tail.id != 0)
    {
        let extent = Extent {
            start: tail.start,
            length: tail.pages,
        };
        claim(
            &mut owners,
            &mut findings,
            extent,
            format!("tail {}", tail.id),
        );
        if let Err(fault) = check_tail(pages, tail, &mut visit) {
            findings.note(format!("tail {}", tail.id), fault.to_string());
        }
    }
    for segment in &meta.segments {
        let name = format!("segment {}", segment.id);
        for extent in &segment.extents {
            claim(&mut owners, &mut findings, *extent, name.clone());
        }
        if segment.id >= meta.next {
            findings.note(&name, "it has a number that was not given out");
        }
        match check_segment(pages, &meta, segment, &mut visit) {
            Ok(faults) => faults
                .into_iter()
                .for_each(|fault| findings.note(&name, fault)),
            Err(fault) => findings.note(&name, fault.to_string()),
        }
    }
    let used: u64 = owners.values().map(|(length, _)| u64::from(*length)).sum();
    findings.unused = u64::from(blocks).saturating_sub(used);
    if let Some((start, (length, owner))) = owners.last_key_value()
        && u64::from(*start) + u64::from(*length) > u64::from(blocks)
    {
        findings.note(owner, "it lies beyond the end of the file");
    }
    Ok(findings)
}

/// What it is declared as now and was not made as: it goes on as it was made until it is made anew.
pub fn check_design(made: &Design, declared: &Design) -> Vec<Finding> {
    let mut findings = Findings::default();
    for (item, made, declared) in [("k1", made.k1, declared.k1), ("b", made.b, declared.b)] {
        if made != declared {
            let fault = format!("it is declared as {declared}, and was made with {made}: REINDEX");
            findings.note(item, fault);
        }
    }
    if !made.is_of(&declared.text_config) {
        let fault = format!(
            "it is declared as {}, and was made with {}: REINDEX",
            declared.text_config, made.text_config
        );
        findings.note("text_config", fault);
    }
    if made.weights != declared.weights {
        let fault = format!(
            "they are declared as {}, and it was made with {}: REINDEX",
            declared.weights, made.weights
        );
        findings.note("weights", fault);
    }
    if made.server != declared.server {
        let fault = format!(
            "its words are those of PostgreSQL {}; {} may find others in the same text: REINDEX",
            made.server, declared.server
        );
        findings.note("server", fault);
    }
    findings.faults
}

/// Notes whose an extent is; each block is of one.
fn claim(
    owners: &mut BTreeMap<u32, (u32, String)>,
    findings: &mut Findings,
    extent: Extent,
    owner: String,
) {
    let end = u64::from(extent.start) + u64::from(extent.length);
    let before = owners.range(..=extent.start).next_back();
    let after = owners.range(extent.start..).next();
    let meets_before = before.filter(|(start, (length, _))| {
        u64::from(**start) + u64::from(*length) > u64::from(extent.start)
    });
    let meets_after = after.filter(|(start, _)| u64::from(**start) < end);
    if let Some((start, (_, other))) = meets_before.or(meets_after) {
        findings.note(
            &owner,
            format!("it shares blocks with {other}, from {start} on"),
        );
    }
    owners.insert(extent.start, (extent.length, owner));
}

fn check_tail<P: Pages>(pages: &P, tail: &Tail, visit: &mut impl FnMut(u64, u64)) -> Result<()> {
    let mut unsorted = false;
    tail::each(pages, tail, |document| {
        unsorted |= !document.terms().map(|(hash, _)| hash).is_sorted();
        if !document.removed {
            visit(document.row, document.fingerprint);
        }
    })?;
    if unsorted {
        return Err(Fault::Corrupt {
            block: tail.start,
            what: "the terms of a document do not rise",
        });
    }
    Ok(())
}

fn check_segment<P: Pages>(
    pages: &P,
    meta: &Meta,
    segment: &Segment,
    visit: &mut impl FnMut(u64, u64),
) -> Result<Vec<String>> {
    let reader = Reader::new(pages, segment);
    let mut faults = Vec::new();
    let mut lengths = vec![0_u64; segment.documents as usize];
    let (mut length, mut dead) = (0, 0);
    for document in 0..segment.documents {
        length += u64::from(norms::length(reader.norm(document)?));
        let (row, fingerprint) = reader.row(document)?;
        if reader.is_dead(document)? {
            dead += 1;
        } else {
            visit(row, fingerprint);
        }
        check_interrupt(16);
    }
    if length != segment.length {
        faults.push(format!(
            "its lengths add up to {length}, not {}",
            segment.length
        ));
    }
    if dead != segment.dead {
        faults.push(format!(
            "{dead} documents are marked as removed, not {}",
            segment.dead
        ));
    }
    let saturation = Saturation::new(&meta.parameters()?, segment.average_length());
    let (mut last, mut terms) = (None, 0);
    for page in 0..segment.dictionary {
        for (hash, entry) in reader.terms_of_page(page)? {
            if last >= Some(hash) {
                faults.push(format!(
                    "term {hash:016x} does not come after the one before"
                ));
            }
            last = Some(hash);
            terms += 1;
            if reader.find(hash)?.as_ref() != Some(&entry) {
                faults.push(format!("term {hash:016x} is not found"));
            }
            let (documents, most) = (entry.documents, entry.impact);
            let mut list = reader.postings(entry)?;
            let mut count = 0;
            while let Some((found, frequencies)) = list.between(&reader, 0, u32::MAX)? {
                check_interrupt(POSTING * found.len());
                count += found.len() as u64;
                for (&document, &frequency) in found.iter().zip(frequencies) {
                    lengths[document as usize] += u64::from(frequency);
                    if impact(saturation.of(frequency, reader.norm(document)?)) > most {
                        faults.push(format!(
                            "term {hash:016x} weighs more in document {document} than its bound"
                        ));
                    }
                }
            }
            if count != u64::from(documents) {
                faults.push(format!(
                    "term {hash:016x} has {count} documents, not {documents}"
                ));
            }
        }
    }
    if terms != segment.terms {
        faults.push(format!("it has {terms} terms, not {}", segment.terms));
    }
    for (document, &length) in lengths.iter().enumerate() {
        let kept = norms::norm(u32::try_from(length).unwrap_or(u32::MAX));
        if kept != reader.norm(document as u32)? {
            faults.push(format!(
                "document {document} is {length} terms long, and not kept so"
            ));
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::terms::Weights;

    #[test]
    fn says_what_was_declared_anew() {
        let made = Design {
            k1: 1.2,
            b: 0.75,
            text_config: "pg_catalog.english".into(),
            weights: Weights::default(),
            server: 16,
        };
        let items = |declared: Design| -> Vec<String> {
            let findings = check_design(&made, &declared);
            findings.into_iter().map(|finding| finding.item).collect()
        };
        assert_eq!(items(made.clone()), [""; 0]);
        let short = Design {
            text_config: "english".into(),
            ..made.clone()
        };
        assert_eq!(items(short), [""; 0]);
        let other = Design {
            k1: 0.9,
            b: 0.4,
            text_config: "german".into(),
            weights: Weights::new(&[2]).unwrap(),
            server: 18,
        };
        assert_eq!(
            items(other),
            ["k1", "b", "text_config", "weights", "server"]
        );
    }
}
