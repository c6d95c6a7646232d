//! What changes the index: documents come into the tail, a full tail becomes a segment, segments are merged.
//!
//! A change is published by one write of the meta page and the free list together. Until then nobody sees it, and what is
//! left of an unfinished one is picked up by the next who maintains the index.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use reground_interrupt::{CHECK_INTERVAL, check_interrupt};

use super::POSTING;
use super::fault::{Fault, Result};
use super::meta::{Design, FREE, FreeRun, META, Meta, Segment, Tail, free_runs, put_free_runs};
use super::segment::{Postings, Reader};
use super::space;
use super::store::{Extent, Pages, Store};
use super::tail::{self, Appended};
use super::terms::{Document, Key};
use super::writer::Writer;

/// Pages of a tail.
pub const TAIL: u32 = 32;
/// Segments of like size that are merged into one.
pub const TIER: usize = 8;
/// Each tier's segments are so many times larger.
const GROWTH: u32 = 8;
/// Documents of the smallest tier.
const SMALLEST: u32 = 1 << 10;
/// Segments that an index may have: as many as its meta page holds, whatever they consist of.
const MOST_SEGMENTS: usize = 40;
/// Removed documents of a segment, in parts of it, from which it is written anew.
const DIRTY: u32 = 5;

/// Makes an empty index in an empty file.
///
/// # Errors
/// Those of the store.
pub fn create<S: Store>(store: &S, key: Key, design: Design) -> Result<()> {
    let head = store.extend(2)?;
    if head
        != (Extent {
            start: META,
            length: 2,
        })
    {
        return Err(Fault::Full {
            what: "an index begins with blocks of its own",
        });
    }
    let run = store.extend(TAIL)?;
    let tail = Tail {
        id: 1,
        start: run.start,
        pages: run.length,
    };
    tail::prepare(store, &tail)?;
    let mut body = vec![0; super::page::BODY];
    put_free_runs(&mut body, Vec::new())?;
    store.write(FREE, &body)?;
    let meta = Meta {
        key,
        design,
        next: 2,
        tail,
        ..Meta::default()
    };
    meta.encode(&mut body)?;
    store.write(META, &body)
}

/// Adds a document. It can be found at once.
///
/// # Errors
/// Those of the store.
pub fn insert<S: Store>(store: &S, document: &Document) -> Result<()> {
    let mut left = None;
    loop {
        // However often it comes round, a cancel is heard.
        check_interrupt(CHECK_INTERVAL);
        let (tail, mut page) = store.look(META, |body| {
            let meta = Meta::decode(body)?;
            Ok((meta.tail, meta.tail_page))
        })?;
        if !tail::holds(document) {
            return store.maintain(|| {
                spill(store, tail, Some(document))?;
                merge_tiers(store)
            });
        }
        if left == Some(tail) {
            return Err(Fault::Corrupt {
                block: tail.start.saturating_add(page),
                what: "it is closed, or of another, though new documents are to go there",
            });
        }
        let first = page;
        while page < tail.pages {
            match tail::append(store, &tail, page, document) {
                Ok(Appended::Done) => {
                    if page != first {
                        remember_page(store, tail, page)?;
                    }
                    return Ok(());
                }
                Ok(Appended::Full) => page += 1,
                // Somebody made a segment of it meanwhile: the meta page knows the next.
                Ok(Appended::Closed) | Err(Fault::Moved { .. }) => {
                    left = Some(tail);
                    break;
                }
                Err(fault) => return Err(fault),
            }
        }
        if page >= tail.pages {
            store.maintain(|| {
                spill(store, tail, None)?;
                merge_tiers(store)
            })?;
        }
    }
}

/// Notes which page of the tail has room, for those who come next.
fn remember_page<S: Store>(store: &S, tail: Tail, page: u32) -> Result<()> {
    store.change(&[META], |bodies| {
        let mut meta = Meta::decode(bodies[0])?;
        if meta.tail != tail || meta.tail_page >= page {
            return Ok(false);
        }
        meta.tail_page = page;
        meta.encode(bodies[0])?;
        Ok(true)
    })?;
    Ok(())
}

/// Makes a segment of the tail, unless somebody did, and of a document that no tail can hold.
fn spill<S: Store>(store: &S, full: Tail, large: Option<&Document>) -> Result<()> {
    let meta = recover(store)?;
    if meta.tail == full {
        switch(store, &meta)?;
        let meta = Meta::read(store)?;
        return drain(store, &meta, large);
    }
    match large {
        Some(_) => drain(store, &meta, large),
        None => Ok(()),
    }
}

/// Makes an index ready for maintenance, whatever became of the one who maintained it last.
fn recover<S: Store>(store: &S) -> Result<Meta> {
    let meta = Meta::read(store)?;
    if !meta.pending.is_empty() {
        store.change(&[META, FREE], |bodies| {
            let mut meta = Meta::decode(bodies[0])?;
            let mut runs = free_runs(bodies[1])?;
            // Nobody but their writer ever saw them.
            runs.extend(
                meta.pending
                    .drain(..)
                    .map(|extent| FreeRun { extent, moment: 0 }),
            );
            put_free_runs(bodies[1], runs)?;
            meta.encode(bodies[0])?;
            Ok(true)
        })?;
    }
    // Whoever is interrupted again and again must not fill the meta page with what each one has drained.
    if meta.segments.len() > MOST_SEGMENTS {
        merge_tiers(store)?;
    }
    if meta.spilling.id != 0 {
        let meta = Meta::read(store)?;
        drain(store, &meta, None)?;
    }
    Meta::read(store)
}

/// Gives those who append a new tail. The old one is closed then, and still read.
fn switch<S: Store>(store: &S, meta: &Meta) -> Result<()> {
    let run = space::run(store, TAIL)?;
    let tail = Tail {
        id: meta.next,
        start: run.start,
        pages: run.length,
    };
    tail::prepare(store, &tail)?;
    store.change(&[META, FREE], |bodies| {
        let mut meta = Meta::decode(bodies[0])?;
        let mut runs = free_runs(bodies[1])?;
        meta.spilling = meta.tail;
        meta.tail = tail;
        meta.tail_page = 0;
        meta.next = tail.id.checked_add(1).ok_or(NUMBERS)?;
        // What was taken for it on the way, and has no neighbour.
        let unused = meta.pending.drain(..).filter(|extent| *extent != run);
        runs.extend(unused.map(|extent| FreeRun { extent, moment: 0 }));
        put_free_runs(bodies[1], runs)?;
        meta.encode(bodies[0])?;
        Ok(true)
    })?;
    tail::close(store, &meta.tail)
}

const NUMBERS: Fault = Fault::Full {
    what: "its segments have used up their numbers",
};

/// Writes the tail that was closed, and a document that no tail can hold, as a segment.
fn drain<S: Store>(store: &S, meta: &Meta, large: Option<&Document>) -> Result<()> {
    let old = meta.spilling;
    if old.id != 0 {
        // Its closing may have been interrupted.
        tail::close(store, &old)?;
    }
    let mut writer = Writer::new(store, meta.next, meta.parameters()?);
    let mut postings: Vec<(u64, u32, u32)> = Vec::new();
    let mut documents = Vec::new();
    if old.id != 0 {
        tail::each(store, &old, |written| {
            if !written.removed {
                let number = documents.len() as u32;
                documents.push((written.row, written.fingerprint, written.norm));
                postings.extend(written.terms().map(|(hash, count)| (hash, number, count)));
            }
        })?;
    }
    if let Some(document) = large {
        let number = documents.len() as u32;
        documents.push((document.row, document.fingerprint, document.norm()));
        postings.extend(
            document
                .terms
                .iter()
                .map(|&(hash, count)| (hash, number, count)),
        );
    }
    for (row, fingerprint, norm) in documents {
        writer.document(row, fingerprint, norm)?;
    }
    postings.sort_unstable();
    check_interrupt(POSTING * postings.len());
    for list in postings.chunk_by(|a, b| a.0 == b.0) {
        let each = list
            .iter()
            .map(|&(_, document, count)| Ok((document, count)));
        writer.term(list[0].0, each)?;
    }
    let retired = (old.id != 0).then_some(Extent {
        start: old.start,
        length: old.pages,
    });
    publish(store, writer, &[], retired)
}

/// Ends a segment and puts it in place of others; their pages, and `retired`, are free once nobody reads them.
pub(super) fn publish<S: Store>(
    store: &S,
    writer: Writer<'_, S>,
    replaced: &[u32],
    retired: Option<Extent>,
) -> Result<()> {
    let empty = writer.documents() == 0;
    let (segment, left) = writer.finish()?;
    store.change(&[META, FREE], |bodies| {
        // Taken while nobody can read the old list: a reader that still finds it has a snapshot from before.
        let moment = store.now();
        let mut meta = Meta::decode(bodies[0])?;
        let mut runs = free_runs(bodies[1])?;
        let unused = |extent| FreeRun { extent, moment: 0 };
        let used = |extent| FreeRun { extent, moment };
        runs.extend(left.iter().copied().map(unused));
        runs.extend(retired.map(used));
        for old in meta
            .segments
            .iter()
            .filter(|old| replaced.contains(&old.id))
        {
            runs.extend(old.extents.iter().copied().map(used));
        }
        meta.segments.retain(|old| !replaced.contains(&old.id));
        if empty {
            runs.extend(segment.extents.iter().copied().map(unused));
        } else {
            meta.segments.push(segment.clone());
        }
        meta.segments
            .sort_by_key(|segment| Reverse(segment.documents));
        meta.pending.clear();
        if retired.is_some() {
            meta.spilling = Tail::default();
        }
        meta.next = meta.next.max(segment.id.checked_add(1).ok_or(NUMBERS)?);
        put_free_runs(bodies[1], runs)?;
        meta.encode(bodies[0])?;
        Ok(true)
    })?;
    Ok(())
}

/// The tier of a segment: how often it has grown.
fn tier(segment: &Segment) -> u32 {
    let mut size = SMALLEST;
    let mut tier = 0;
    while size <= segment.documents {
        size = size.saturating_mul(GROWTH);
        tier += 1;
        if size == u32::MAX {
            break;
        }
    }
    tier
}

/// Merges segments of a tier as long as there are too many of it.
fn merge_tiers<S: Store>(store: &S) -> Result<()> {
    loop {
        let meta = Meta::read(store)?;
        let mut tiers: BTreeMap<u32, Vec<&Segment>> = BTreeMap::new();
        for segment in &meta.segments {
            tiers.entry(tier(segment)).or_default().push(segment);
        }
        let crowded = tiers.values().find(|segments| segments.len() >= TIER);
        let ids: Vec<u32> = match crowded {
            Some(segments) => segments.iter().map(|segment| segment.id).collect(),
            // The meta page has an end, whatever the tiers.
            None if meta.segments.len() > MOST_SEGMENTS => {
                let smallest = meta.segments.iter().rev().take(TIER);
                smallest.map(|segment| segment.id).collect()
            }
            None => return Ok(()),
        };
        merge(store, &meta, &ids)?;
    }
}

/// Merges all segments, and the tail, into one.
///
/// # Errors
/// Those of the store.
pub fn merge_all<S: Store>(store: &S) -> Result<()> {
    store.maintain(|| {
        let meta = recover(store)?;
        if holds_documents(store, &meta.tail)? {
            switch(store, &meta)?;
            drain(store, &Meta::read(store)?, None)?;
        }
        let meta = Meta::read(store)?;
        let clean = meta.segments.iter().all(|segment| segment.dead == 0);
        if meta.segments.len() < 2 && clean {
            return Ok(());
        }
        let ids: Vec<u32> = meta.segments.iter().map(|segment| segment.id).collect();
        merge(store, &meta, &ids)
    })
}

/// What a vacuum ends with: what is left of unfinished work is given up, and segments of which much was removed are
/// written anew. How many documents there are that were not removed.
///
/// # Errors
/// Those of the store.
pub fn tidy<S: Store>(store: &S) -> Result<u64> {
    store.maintain(|| {
        let meta = recover(store)?;
        for segment in &meta.segments {
            if segment.dead > segment.documents / DIRTY {
                merge(store, &Meta::read(store)?, &[segment.id])?;
            }
        }
        merge_tiers(store)?;
        let meta = Meta::read(store)?;
        let mut count = meta.documents() - meta.removed();
        tail::each(store, &meta.tail, |document| {
            count += u64::from(!document.removed);
        })?;
        Ok(count)
    })
}

fn holds_documents<S: Store>(store: &S, tail: &Tail) -> Result<bool> {
    let mut any = false;
    tail::each(store, tail, |_| any = true)?;
    Ok(any)
}

/// The terms of a segment that is merged, in order, a page of them at a time.
struct Source<'a, P: Pages> {
    reader: Reader<'a, P>,
    page: u32,
    terms: std::vec::IntoIter<(u64, super::dictionary::Entry)>,
    next: Option<(u64, super::dictionary::Entry)>,
    /// New numbers of its documents; those of removed ones are `u32::MAX`.
    numbers: Vec<u32>,
}

impl<P: Pages> Source<'_, P> {
    fn advance(&mut self) -> Result<()> {
        self.next = self.terms.next();
        while self.next.is_none() && self.page < self.reader.segment.dictionary {
            self.terms = self.reader.terms_of_page(self.page)?.into_iter();
            self.page += 1;
            self.next = self.terms.next();
        }
        Ok(())
    }
}

/// Writes segments anew as one, without what was removed.
fn merge<S: Store>(store: &S, meta: &Meta, ids: &[u32]) -> Result<()> {
    let mut writer = Writer::new(store, meta.next, meta.parameters()?);
    let mut sources = Vec::new();
    for segment in meta
        .segments
        .iter()
        .filter(|segment| ids.contains(&segment.id))
    {
        let reader = Reader::new(store, segment);
        let mut numbers = Vec::with_capacity(segment.documents as usize);
        for document in 0..segment.documents {
            numbers.push(if reader.is_dead(document)? {
                u32::MAX
            } else {
                let (row, fingerprint) = reader.row(document)?;
                writer.document(row, fingerprint, reader.norm(document)?)?
            });
        }
        let mut source = Source {
            reader,
            page: 0,
            terms: Vec::new().into_iter(),
            next: None,
            numbers,
        };
        source.advance()?;
        sources.push(source);
    }
    while let Some(hash) = sources
        .iter()
        .filter_map(|source| Some(source.next.as_ref()?.0))
        .min()
    {
        let mut lists = Vec::new();
        for (at, source) in sources.iter_mut().enumerate() {
            if let Some((_, entry)) = source.next.take_if(|(term, _)| *term == hash) {
                lists.push((at, source.reader.postings(entry)?));
                source.advance()?;
            }
        }
        let each = lists
            .iter_mut()
            .flat_map(|(at, list)| renumbered(&sources[*at], list));
        writer.term(hash, each)?;
    }
    publish(store, writer, ids, None)
}

/// The postings of a list under the new numbers, without removed documents.
fn renumbered<'a, P: Pages>(
    source: &'a Source<'_, P>,
    list: &'a mut Postings<P>,
) -> impl Iterator<Item = Result<(u32, u32)>> + 'a {
    let mut held: std::vec::IntoIter<(u32, u32)> = Vec::new().into_iter();
    std::iter::from_fn(move || {
        loop {
            if let Some((document, frequency)) = held.next() {
                match source.numbers.get(document as usize) {
                    Some(&u32::MAX) | None => continue,
                    Some(&number) => return Some(Ok((number, frequency))),
                }
            }
            match list.between(&source.reader, 0, u32::MAX) {
                Ok(Some((documents, frequencies))) => {
                    check_interrupt(POSTING * documents.len());
                    let pairs = documents.iter().copied().zip(frequencies.iter().copied());
                    held = pairs.collect::<Vec<_>>().into_iter();
                }
                Ok(None) => return None,
                Err(fault) => return Some(Err(fault)),
            }
        }
    })
}
