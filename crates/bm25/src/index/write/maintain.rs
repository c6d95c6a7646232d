//! Creates an index, inserts documents, and converts a full write buffer to a segment.
//!
//! A change is published by one atomic write of the meta page and the free list. It is invisible until then. The next
//! maintenance cleans up after an interrupted one.

use reground_interrupt::{CHECK_INTERVAL, check_interrupt};

use crate::index::error::{IndexError, Result};
use crate::index::interrupts::WORK_PER_POSTING;
use crate::index::pages::free_list::{FREE, free_runs, put_free_runs};
use crate::index::pages::meta::{IndexSettings, META, Meta, WriteBuffer};
use crate::index::pages::page_allocator;
use crate::index::pages::store::{Extent, Store};
use crate::index::segment::writer::SegmentWriter;
use crate::index::terms::{Document, Key};
use crate::index::write::lost_pages::find_lost_pages;
use crate::index::write::merge::{MAX_SEGMENTS, merge_segments, merge_tiers};
use crate::index::write::publish::{OUT_OF_NUMBERS, publish_segment};
use crate::index::write::write_buffer::{self, AppendOutcome};

/// Number of pages in a write buffer.
pub const BUFFER_PAGES: u32 = 32;
/// A segment is rewritten when more than one in this many of its documents is removed.
const REWRITE_FRACTION: u32 = 5;

/// Creates an empty index in an empty file.
///
/// # Errors
/// Errors of the store.
pub fn create<S: Store>(store: &S, key: Key, settings: IndexSettings) -> Result<()> {
    let head = store.extend(2)?;
    if head
        != (Extent {
            start: META,
            length: 2,
        })
    {
        return Err(IndexError::Full {
            problem: "the file of a new index is not empty",
        });
    }
    let run = store.extend(BUFFER_PAGES)?;
    let buffer = WriteBuffer {
        id: 1,
        start: run.start,
        pages: run.length,
    };
    write_buffer::prepare(store, &buffer)?;
    let mut body = vec![0; crate::index::pages::page::BODY_BYTES];
    put_free_runs(&mut body, Vec::new())?;
    store.write(FREE, &body)?;
    let meta = Meta {
        key,
        settings,
        next_id: 2,
        write_buffer: buffer,
        ..Meta::default()
    };
    meta.encode(&mut body)?;
    store.write(META, &body)
}

/// Adds a document. Searches find it at once.
///
/// # Errors
/// Errors of the store.
pub fn insert<S: Store>(store: &S, document: &Document) -> Result<()> {
    let mut previous = None;
    loop {
        // Check for a cancel in every iteration.
        check_interrupt(CHECK_INTERVAL);
        let (buffer, mut page) = store.look(META, |body| {
            let meta = Meta::decode(body)?;
            Ok((meta.write_buffer, meta.write_buffer_page))
        })?;
        if !write_buffer::fits(document) {
            return store.maintain(|| {
                convert_full_buffer(store, buffer, Some(document))?;
                merge_tiers(store)
            });
        }
        if previous == Some(buffer) {
            return Err(IndexError::Corrupt {
                block: buffer.start.saturating_add(page),
                problem: "it is closed or has another owner, although it is in the current write buffer",
            });
        }
        let first = page;
        while page < buffer.pages {
            match write_buffer::append(store, &buffer, page, document) {
                Ok(AppendOutcome::Done) => {
                    if page != first {
                        remember_page(store, buffer, page)?;
                    }
                    return Ok(());
                }
                Ok(AppendOutcome::Full) => page += 1,
                // Another backend is converting the buffer to a segment. The meta page lists the next buffer.
                Ok(AppendOutcome::Closed) | Err(IndexError::Reused { .. }) => {
                    previous = Some(buffer);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        if page >= buffer.pages {
            store.maintain(|| {
                convert_full_buffer(store, buffer, None)?;
                merge_tiers(store)
            })?;
        }
    }
}

/// Records the buffer page with free space, for later inserts.
fn remember_page<S: Store>(store: &S, buffer: WriteBuffer, page: u32) -> Result<()> {
    store.change(&[META], |bodies| {
        let mut meta = Meta::decode(bodies[0])?;
        if meta.write_buffer != buffer || meta.write_buffer_page >= page {
            return Ok(false);
        }
        meta.write_buffer_page = page;
        meta.encode(bodies[0])?;
        Ok(true)
    })?;
    Ok(())
}

/// Converts the write buffer `full` to a segment, unless another backend did, together with a document that is too large for a
/// buffer.
fn convert_full_buffer<S: Store>(
    store: &S,
    full: WriteBuffer,
    large: Option<&Document>,
) -> Result<()> {
    let meta = recover(store)?;
    if meta.write_buffer == full {
        switch_buffer(store, &meta)?;
        let meta = Meta::read(store)?;
        return flush_buffer(store, &meta, large);
    }
    match large {
        Some(_) => flush_buffer(store, &meta, large),
        None => Ok(()),
    }
}

/// Completes or discards the unfinished work of an interrupted maintenance.
fn recover<S: Store>(store: &S) -> Result<Meta> {
    let meta = Meta::read(store)?;
    if !meta.pending.is_empty() {
        store.change(&[META, FREE], |bodies| {
            let mut meta = Meta::decode(bodies[0])?;
            let mut runs = free_runs(bodies[1])?;
            runs.append(&mut meta.pending);
            put_free_runs(bodies[1], runs)?;
            meta.encode(bodies[0])?;
            Ok(true)
        })?;
    }
    // Repeated interruptions could otherwise fill the meta page with small segments.
    if meta.segments.len() > MAX_SEGMENTS {
        merge_tiers(store)?;
    }
    if meta.spilling.id != 0 {
        let meta = Meta::read(store)?;
        flush_buffer(store, &meta, None)?;
    }
    Meta::read(store)
}

/// Installs a new write buffer. The old one is closed for appends and stays readable.
fn switch_buffer<S: Store>(store: &S, meta: &Meta) -> Result<()> {
    let run = page_allocator::allocate_contiguous(store, BUFFER_PAGES)?;
    let buffer = WriteBuffer {
        id: meta.next_id,
        start: run.start,
        pages: run.length,
    };
    write_buffer::prepare(store, &buffer)?;
    store.change(&[META, FREE], |bodies| {
        let mut meta = Meta::decode(bodies[0])?;
        let mut runs = free_runs(bodies[1])?;
        meta.spilling = meta.write_buffer;
        meta.write_buffer = buffer;
        meta.write_buffer_page = 0;
        meta.next_id = buffer.id.checked_add(1).ok_or(OUT_OF_NUMBERS)?;
        // Allocated on the way, but not adjacent to the run.
        let unused = meta.pending.drain(..).filter(|extent| *extent != run);
        runs.extend(unused);
        put_free_runs(bodies[1], runs)?;
        meta.encode(bodies[0])?;
        Ok(true)
    })?;
    write_buffer::close(store, &meta.write_buffer)
}

/// Writes the closed write buffer, and a document that is too large for a buffer, as a segment.
fn flush_buffer<S: Store>(store: &S, meta: &Meta, large: Option<&Document>) -> Result<()> {
    let old = meta.spilling;
    if old.id != 0 {
        // An interruption may have left it open.
        write_buffer::close(store, &old)?;
    }
    let mut documents = Vec::new();
    if old.id != 0 {
        write_buffer::for_each_document(store, &old, |written| {
            if !written.removed {
                documents.push(Document {
                    row: written.row,
                    fingerprint: written.fingerprint,
                    terms: written.terms().collect(),
                });
            }
        })?;
    }
    documents.extend(large.cloned());
    documents.sort_by_key(|document| document.row);
    let mut writer = SegmentWriter::new(store, meta.next_id, meta.parameters()?, old.pages);
    let mut postings: Vec<(u64, u32, u32)> = Vec::new();
    for document in &documents {
        let number = writer.document(document.row, document.fingerprint, document.norm())?;
        let terms = document.terms.iter();
        postings.extend(terms.map(|&(hash, count)| (hash, number, count)));
    }
    postings.sort_unstable();
    check_interrupt(WORK_PER_POSTING * postings.len());
    for list in postings.chunk_by(|a, b| a.0 == b.0) {
        let each = list
            .iter()
            .map(|&(_, document, count)| Ok((document, count)));
        writer.term(list[0].0, each)?;
    }
    let retired = (old.id != 0).then(|| old.extent());
    publish_segment(store, writer, &[], retired)
}

/// Merges all segments and the write buffer into one segment.
///
/// # Errors
/// Errors of the store.
pub fn merge_all<S: Store>(store: &S) -> Result<()> {
    store.maintain(|| {
        let meta = recover(store)?;
        if has_documents(store, &meta.write_buffer)? {
            switch_buffer(store, &meta)?;
            flush_buffer(store, &Meta::read(store)?, None)?;
        }
        let meta = Meta::read(store)?;
        let clean = meta.segments.iter().all(|segment| segment.dead == 0);
        if meta.segments.len() < 2 && clean {
            return Ok(());
        }
        let ids: Vec<u32> = meta.segments.iter().map(|segment| segment.id).collect();
        merge_segments(store, &meta, &ids)
    })
}

/// An index after a vacuum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Number of documents that were not removed.
    pub documents: u64,
    /// Number of free pages.
    pub free_pages: u32,
}

/// Finishes a vacuum: cleans up after interrupted maintenance, rewrites segments with many removed documents, and finds lost pages.
///
/// # Errors
/// Errors of the store.
pub fn cleanup<S: Store>(store: &S) -> Result<Cleaned> {
    store.maintain(|| {
        let meta = recover(store)?;
        for segment in &meta.segments {
            if segment.dead > segment.documents / REWRITE_FRACTION {
                merge_segments(store, &Meta::read(store)?, &[segment.id])?;
            }
        }
        merge_tiers(store)?;
        find_lost_pages(store)?;
        let meta = Meta::read(store)?;
        let mut count = meta.documents() - meta.removed();
        write_buffer::for_each_document(store, &meta.write_buffer, |document| {
            count += u64::from(!document.removed);
        })?;
        let free = store.look(FREE, free_runs)?;
        Ok(Cleaned {
            documents: count,
            free_pages: free
                .iter()
                .fold(0, |pages, run| run.length.saturating_add(pages)),
        })
    })
}

fn has_documents<S: Store>(store: &S, buffer: &WriteBuffer) -> Result<bool> {
    let mut any = false;
    write_buffer::for_each_document(store, buffer, |_| any = true)?;
    Ok(any)
}
