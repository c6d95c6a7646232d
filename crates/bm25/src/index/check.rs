//! Checks the structure of a whole index and reports what is wrong.

use std::collections::BTreeMap;

use reground_interrupt::check_interrupt;

use crate::index::error::{IndexError, Result};
use crate::index::interrupts::WORK_PER_POSTING;
use crate::index::pages::free_list::{FREE, free_runs};
use crate::index::pages::meta::{IndexSettings, META, Meta, Segment, WriteBuffer};
use crate::index::pages::store::{Extent, Pages};
use crate::index::score::{Saturation, impact};
use crate::index::segment::norms;
use crate::index::segment::postings::Postings;
use crate::index::segment::reader::SegmentReader;
use crate::index::segment::writer::ROWS_OUT_OF_ORDER;
use crate::index::terms::is_word;
use crate::index::write::write_buffer;

/// A problem in an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The affected part: a segment, the write buffer, the file, a row or a setting.
    pub item: String,
    /// Description of the problem.
    pub fault: String,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The problems.
    pub faults: Vec<Finding>,
    /// Number of blocks that nothing refers to. A crash leaves them behind; VACUUM finds them.
    pub unused: u64,
}

impl Findings {
    fn add(&mut self, item: impl Into<String>, fault: impl Into<String>) {
        self.faults.push(Finding {
            item: item.into(),
            fault: fault.into(),
        });
    }
}

/// Checks the structure. `visit` receives the row and the fingerprint of each document that was not removed.
///
/// # Errors
/// If the meta page or the free list cannot be read at all. Other damage is reported as findings.
pub fn check<P: Pages>(
    pages: &P,
    blocks: u32,
    mut visit: impl FnMut(u64, u64),
) -> Result<Findings> {
    let meta = Meta::read(pages)?;
    let runs = pages.look(FREE, free_runs)?;
    let mut check = StructureCheck::default();
    let head = Extent {
        start: META,
        length: 2,
    };
    check.claim(head, "the first two pages");
    for run in &runs {
        check.claim(*run, "the free list");
    }
    for extent in &meta.pending {
        check.claim(*extent, "unfinished work");
    }
    for buffer in [meta.write_buffer, meta.spilling]
        .iter()
        .filter(|buffer| buffer.id != 0)
    {
        let name = format!("write buffer {}", buffer.id);
        check.claim(buffer.extent(), &name);
        if let Err(fault) = check_buffer(pages, buffer, &mut visit) {
            check.findings.add(&name, fault.to_string());
        }
    }
    for segment in &meta.segments {
        let name = format!("segment {}", segment.id);
        for extent in &segment.extents {
            check.claim(*extent, &name);
        }
        if segment.id >= meta.next_id {
            check.findings.add(&name, "its number was never assigned");
        }
        match check_segment(pages, &meta, segment, &mut visit) {
            Ok(faults) => faults
                .into_iter()
                .for_each(|fault| check.findings.add(&name, fault)),
            Err(fault) => check.findings.add(&name, fault.to_string()),
        }
    }
    Ok(check.finish(blocks))
}

/// The findings so far, and the owner of each extent.
#[derive(Default)]
struct StructureCheck {
    findings: Findings,
    /// Length and owner of each extent, by its first block.
    owners: BTreeMap<u32, (u32, String)>,
}

impl StructureCheck {
    /// Records the owner of an extent, and reports blocks that already have one.
    fn claim(&mut self, extent: Extent, owner: &str) {
        let end = u64::from(extent.start) + u64::from(extent.length);
        let before = self.owners.range(..=extent.start).next_back();
        let after = self.owners.range(extent.start..).next();
        let meets_before = before.filter(|(start, (length, _))| {
            u64::from(**start) + u64::from(*length) > u64::from(extent.start)
        });
        let meets_after = after.filter(|(start, _)| u64::from(**start) < end);
        if let Some((start, (_, other))) = meets_before.or(meets_after) {
            let fault = format!("it shares blocks with {other}, starting at {start}");
            self.findings.add(owner, fault);
        }
        self.owners
            .insert(extent.start, (extent.length, owner.to_owned()));
    }

    /// Counts the blocks without an owner, and reports an extent beyond the end of the file.
    fn finish(mut self, blocks: u32) -> Findings {
        let lengths = self.owners.values().map(|(length, _)| u64::from(*length));
        self.findings.unused = u64::from(blocks).saturating_sub(lengths.sum());
        if let Some((start, (length, owner))) = self.owners.last_key_value()
            && u64::from(*start) + u64::from(*length) > u64::from(blocks)
        {
            self.findings
                .add(owner, "it lies beyond the end of the file");
        }
        self.findings
    }
}

/// Returns the settings that were changed since the index was built. The index keeps its old settings until REINDEX.
pub fn check_settings(built: &IndexSettings, declared: &IndexSettings) -> Vec<Finding> {
    let mut findings = Findings::default();
    for (item, built, declared) in [("k1", built.k1, declared.k1), ("b", built.b, declared.b)] {
        if built != declared {
            let fault = format!("it is declared as {declared}, and was made with {built}: REINDEX");
            findings.add(item, fault);
        }
    }
    if !built.uses_text_config(&declared.text_config) {
        let fault = format!(
            "it is declared as {}, and was made with {}: REINDEX",
            declared.text_config, built.text_config
        );
        findings.add("text_config", fault);
    }
    if built.weights != declared.weights {
        let fault = format!(
            "they are declared as {}, and it was made with {}: REINDEX",
            declared.weights, built.weights
        );
        findings.add("weights", fault);
    }
    if built.server != declared.server {
        let fault = format!(
            "its words are those of PostgreSQL {}; {} may find others in the same text: REINDEX",
            built.server, declared.server
        );
        findings.add("server", fault);
    }
    findings.faults
}

/// Checks the documents of a write buffer.
fn check_buffer<P: Pages>(
    pages: &P,
    buffer: &WriteBuffer,
    visit: &mut impl FnMut(u64, u64),
) -> Result<()> {
    let mut unsorted = false;
    write_buffer::for_each_document(pages, buffer, |document| {
        unsorted |= !document.terms().map(|(hash, _)| hash).is_sorted();
        if !document.removed {
            visit(document.row, document.fingerprint);
        }
    })?;
    if unsorted {
        return Err(IndexError::Corrupt {
            block: buffer.start,
            problem: "the terms of a document are out of order",
        });
    }
    Ok(())
}

/// Checks a segment. Returns descriptions of its problems.
fn check_segment<P: Pages>(
    pages: &P,
    meta: &Meta,
    segment: &Segment,
    visit: &mut impl FnMut(u64, u64),
) -> Result<Vec<String>> {
    let reader = SegmentReader::new(pages, segment);
    let mut faults = Vec::new();
    check_documents(&reader, visit, &mut faults)?;
    let saturation = Saturation::new(&meta.parameters()?, segment.average_length());
    let lengths = check_terms(&reader, &saturation, &mut faults)?;
    for (document, &length) in lengths.iter().enumerate() {
        let expected = norms::norm(u32::try_from(length).unwrap_or(u32::MAX));
        if expected != reader.norm(document as u32)? {
            faults.push(format!(
                "document {document} has {length} words, but another norm"
            ));
        }
    }
    Ok(faults)
}

/// Compares the documents of a segment with the counts on the meta page.
fn check_documents<P: Pages>(
    reader: &SegmentReader<'_, P>,
    visit: &mut impl FnMut(u64, u64),
    faults: &mut Vec<String>,
) -> Result<()> {
    let segment = reader.segment;
    let (mut length, mut dead) = (0, 0);
    let (mut last, mut ascends) = (0, true);
    for document in 0..segment.documents {
        length += u64::from(norms::length(reader.norm(document)?));
        let (row, fingerprint) = reader.row(document)?;
        ascends &= last <= row;
        last = row;
        if reader.is_dead(document)? {
            dead += 1;
        } else {
            visit(row, fingerprint);
        }
        check_interrupt(16);
    }
    if !ascends {
        faults.push(ROWS_OUT_OF_ORDER.to_owned());
    }
    if length != segment.length {
        faults.push(format!(
            "the sum of its lengths is {length}, not {}",
            segment.length
        ));
    }
    if dead != segment.dead {
        faults.push(format!(
            "{dead} documents are marked as removed, not {}",
            segment.dead
        ));
    }
    Ok(())
}

/// Checks the dictionary and the postings of a segment. Returns the length of each document according to its postings.
fn check_terms<P: Pages>(
    reader: &SegmentReader<'_, P>,
    saturation: &Saturation,
    faults: &mut Vec<String>,
) -> Result<Vec<u64>> {
    let segment = reader.segment;
    let mut lengths = vec![0_u64; segment.documents as usize];
    let (mut last, mut terms) = (None, 0);
    for page in 0..segment.dictionary {
        for (hash, entry) in reader.terms_of_page(page)? {
            if last >= Some(hash) {
                faults.push(format!("term {hash:016x} is out of order"));
            }
            last = Some(hash);
            terms += 1;
            if reader.find(hash)?.as_ref() != Some(&entry) {
                faults.push(format!("term {hash:016x} is not found"));
            }
            let (documents, max_impact) = (entry.documents, entry.impact);
            let mut postings = Postings::new(reader, entry)?;
            let mut count = 0;
            while let Some((found, frequencies)) = postings.between(reader, 0, u32::MAX)? {
                check_interrupt(WORK_PER_POSTING * found.len());
                count += found.len() as u64;
                for (&document, &frequency) in found.iter().zip(frequencies) {
                    if is_word(hash) {
                        lengths[document as usize] += u64::from(frequency);
                    }
                    if impact(saturation.of(frequency, reader.norm(document)?)) > max_impact {
                        faults.push(format!(
                            "term {hash:016x} exceeds its bound in document {document}"
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
    Ok(lengths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::terms::Weights;

    #[test]
    fn reports_changed_settings() {
        let built = IndexSettings {
            k1: 1.2,
            b: 0.75,
            text_config: "pg_catalog.english".into(),
            weights: Weights::default(),
            server: 16,
            filters: 0,
        };
        let items = |declared: IndexSettings| -> Vec<String> {
            let findings = check_settings(&built, &declared);
            findings.into_iter().map(|finding| finding.item).collect()
        };
        assert_eq!(items(built.clone()), [""; 0]);
        let short = IndexSettings {
            text_config: "english".into(),
            ..built.clone()
        };
        assert_eq!(items(short), [""; 0]);
        let other = IndexSettings {
            k1: 0.9,
            b: 0.4,
            text_config: "german".into(),
            weights: Weights::new(&[2]).unwrap(),
            server: 18,
            filters: 0,
        };
        assert_eq!(
            items(other),
            ["k1", "b", "text_config", "weights", "server"]
        );
    }
}
