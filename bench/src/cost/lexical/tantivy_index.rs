//! tantivy in this process with an index in memory: the time of a search without server, log and row visibility.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use postgres::Client;
use postgres::fallible_iterator::FallibleIterator;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Query, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{
    Language, LowerCaser, SimpleTokenizer, Stemmer, StopWordFilter, TextAnalyzer,
};
use tantivy::{DocId, Index, Searcher, Term, doc};

/// Memory of the writer in bytes.
const MEMORY: usize = 512 << 20;

/// The indexed passages.
pub struct TantivyIndex {
    searcher: Searcher,
    analyzer: TextAnalyzer,
    body: Field,
    /// Time of the build, with the reading of the passages.
    pub built: Duration,
    /// Bytes of the index.
    pub bytes: i64,
}

impl TantivyIndex {
    /// Reads all passages and merges them into one segment.
    ///
    /// # Errors
    /// Errors of the server and of tantivy.
    pub fn build(client: &mut Client) -> Result<Self> {
        let begun = Instant::now();
        let stop_words = StopWordFilter::new(Language::English).context("no stop words")?;
        let analyzer = TextAnalyzer::builder(SimpleTokenizer::default())
            .filter(LowerCaser)
            .filter(stop_words)
            .filter(Stemmer::new(Language::English))
            .build();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("english")
            .set_index_option(IndexRecordOption::WithFreqs);
        let mut schema = Schema::builder();
        let body = schema.add_text_field(
            "body",
            TextOptions::default().set_indexing_options(indexing),
        );
        let id = schema.add_u64_field("id", FAST);
        let index = Index::create_in_ram(schema.build());
        index.tokenizers().register("english", analyzer.clone());
        let mut writer = index.writer(MEMORY)?;
        let mut rows = client.query_raw("SELECT id, body FROM lexical.passages", [0_i32; 0])?;
        while let Some(row) = rows.next()? {
            let (number, text): (i64, String) = (row.get(0), row.get(1));
            writer.add_document(doc!(id => u64::try_from(number)?, body => text))?;
        }
        writer.commit()?;
        let segments = index.searchable_segment_ids()?;
        if segments.len() > 1 {
            writer.merge(&segments).wait()?;
        }
        writer.wait_merging_threads()?;
        let searcher = index.reader()?.searcher();
        let bytes = searcher.space_usage()?.total().get_bytes();
        Ok(Self {
            searcher,
            analyzer,
            body,
            built: begun.elapsed(),
            bytes: i64::try_from(bytes)?,
        })
    }

    /// The ids of the best passages for any of the words.
    ///
    /// # Errors
    /// Errors of tantivy.
    pub fn search(&mut self, query: &str, limit: usize) -> Result<Vec<u64>> {
        let mut terms: Vec<Box<dyn Query>> = Vec::new();
        let mut tokens = self.analyzer.token_stream(query);
        while tokens.advance() {
            let term = Term::from_field_text(self.body, &tokens.token().text);
            terms.push(Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)));
        }
        let query = BooleanQuery::union(terms);
        let best = self
            .searcher
            .search(&query, &TopDocs::with_limit(limit).order_by_score())?;
        let mut ids = Vec::with_capacity(best.len());
        for (_, address) in best {
            let segment = self.searcher.segment_reader(address.segment_ord);
            let column = segment.fast_fields().u64("id")?;
            let document: DocId = address.doc_id;
            ids.extend(column.first(document));
        }
        Ok(ids)
    }
}
