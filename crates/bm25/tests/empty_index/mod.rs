//! An empty index in memory, for tests.

use reground_bm25::index::pages::memory::MemoryStore;
use reground_bm25::index::pages::meta::IndexSettings;
use reground_bm25::index::terms::Weights;
use reground_bm25::index::write::maintain;

/// An empty index.
pub fn empty_index() -> MemoryStore {
    let store = MemoryStore::default();
    let settings = IndexSettings {
        k1: 1.2,
        b: 0.75,
        text_config: "pg_catalog.english".into(),
        weights: Weights::default(),
        server: 18,
        filters: 4,
    };
    maintain::create(&store, [1, 2], settings).unwrap();
    store
}
