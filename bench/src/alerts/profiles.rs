//! The simulated corpora.

/// A corpus: its share of the traffic, its share of failing citations, and the shares of its document types.
pub struct Profile {
    pub name: &'static str,
    pub traffic: f64,
    pub failing: f64,
    pub types: [(&'static str, f64); 3],
}

/// The corpora.
pub const PROFILES: [Profile; 3] = [
    Profile {
        name: "help",
        traffic: 0.5,
        failing: 0.06,
        types: [("pdf", 0.3), ("html", 0.5), ("md", 0.2)],
    },
    Profile {
        name: "law",
        traffic: 0.3,
        failing: 0.08,
        types: [("pdf", 0.6), ("docx", 0.3), ("html", 0.1)],
    },
    Profile {
        name: "wiki",
        traffic: 0.2,
        failing: 0.03,
        types: [("html", 0.9), ("md", 0.08), ("pdf", 0.02)],
    },
];
