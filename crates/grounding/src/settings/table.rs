//! The table of settings: name, default, range and meaning of each. The SQL view, the reference page and the resolver
//! read it.

use reground_citations::{Grammar, GrammarRules};
use serde::Deserialize;
use serde_json::Value;

/// The type of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number within the bounds, both included.
    Count(i64, i64),
    /// A finite number within the bounds, both included.
    Real(f64, f64),
    /// True or false.
    Flag,
    /// One of the words.
    Choice(&'static [&'static str]),
    /// One of the words, or a finite number above 0 and at most 1.
    ChoiceOrExponent(&'static [&'static str]),
    /// Any text.
    Text,
    /// The citation grammar, as `reground_citations::GrammarRules`.
    CitationForms,
}

/// A row of the table of settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettingInfo {
    /// The name for users.
    pub name: &'static str,
    /// The default as JSON; `null` for a setting that is off.
    pub default: &'static str,
    /// The accepted values for users, with the unit.
    pub expects: &'static str,
    /// The effect.
    pub meaning: &'static str,
    /// The accepted values for the resolver.
    pub kind: Kind,
}

impl SettingInfo {
    /// The default as a JSON value.
    #[must_use]
    pub fn default_value(&self) -> Value {
        serde_json::from_str(self.default).unwrap_or(Value::Null)
    }

    /// The value in its own type, from JSON or from the text of a GUC.
    ///
    /// # Errors
    /// The accepted values.
    pub fn read(&self, value: &Value) -> Result<Value, String> {
        match self.kind {
            Kind::CitationForms if !is_off(value) => citation_forms(value),
            _ => self.plain(value).ok_or_else(|| self.expects.to_owned()),
        }
    }

    fn plain(&self, value: &Value) -> Option<Value> {
        let optional = self.default == "null";
        if optional && is_off(value) {
            return Some(Value::Null);
        }
        match self.kind {
            Kind::Count(least, most) => {
                let number = match value {
                    Value::String(text) => text.trim().parse().ok(),
                    other => other.as_i64(),
                };
                number
                    .filter(|n| (least..=most).contains(n))
                    .map(Value::from)
            }
            Kind::Real(least, most) => real(value)
                .filter(|n| (least..=most).contains(n))
                .map(Value::from),
            Kind::Flag => match value {
                Value::Bool(_) => Some(value.clone()),
                Value::String(text) => flag(text.trim()).map(Value::Bool),
                _ => None,
            },
            Kind::Choice(words) => choice(words, value),
            Kind::ChoiceOrExponent(words) => choice(words, value).or_else(|| {
                real(value)
                    .filter(|n| 0.0 < *n && *n <= 1.0)
                    .map(Value::from)
            }),
            Kind::Text => value.as_str().map(|text| Value::from(text.trim())),
            Kind::CitationForms => None,
        }
    }
}

/// Name of the setting for the statistics of the lexical branch.
pub(super) const LEXICAL_STATISTICS: &str = "lexical_statistics";
/// Its stricter value.
pub(super) const VISIBLE: &str = "visible";

fn is_off(value: &Value) -> bool {
    let word = value.as_str();
    word.is_some_and(|word| word.trim().eq_ignore_ascii_case("off"))
}

fn real(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    }
}

/// The matching word, in any case.
fn choice(words: &[&'static str], value: &Value) -> Option<Value> {
    let word = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    words
        .iter()
        .find(|known| known.eq_ignore_ascii_case(&word))
        .map(|&w| Value::from(w))
}

/// Rules of a grammar, as an object or as its text.
fn citation_forms(value: &Value) -> Result<Value, String> {
    let rules: serde_json::Result<GrammarRules> = match value {
        Value::String(text) => serde_json::from_str(text),
        other => GrammarRules::deserialize(other),
    };
    let rules = rules.map_err(|error| format!("{FORMS}: {error}"))?;
    Grammar::new(&rules).map_err(|error| format!("{FORMS}: {error}"))?;
    // The value as given, so that omitted members follow later defaults.
    Ok(match value {
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        other => other.clone(),
    })
}

const FORMS: &str =
    "an object of families, patterns, locators, titles, context_titles, positions, ids; or off";

/// The words that PostgreSQL accepts for a boolean.
fn flag(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "true" | "on" | "yes" | "t" | "y" | "1" => Some(true),
        "false" | "off" | "no" | "f" | "n" | "0" => Some(false),
        _ => None,
    }
}

const fn row(
    name: &'static str,
    default: &'static str,
    kind: Kind,
    expects: &'static str,
    meaning: &'static str,
) -> SettingInfo {
    SettingInfo {
        name,
        default,
        expects,
        meaning,
        kind,
    }
}

const SHARE: Kind = Kind::Real(0.0, 1.0);
const STRATEGIES: &[&str] = &[
    "none",
    "first_turn",
    "every_turn",
    "refresh_only",
    "compression_only",
    "reground",
];
const SLOTS: Kind = Kind::Count(0, 100);

/// Every setting, in the order of the turn.
#[rustfmt::skip]
pub const SETTINGS: &[SettingInfo] = &[
    row("strategy", "\"reground\"", Kind::Choice(STRATEGIES), "none, first_turn, every_turn, refresh_only, compression_only or reground",
        "strategy for the conversation history: a preset of retrieve_at, refresh and compress; explicit values of these override it"),
    row("retrieve_at", "\"every_turn\"", Kind::Choice(&["every_turn", "first_turn", "on_demand"]), "every_turn, first_turn or on_demand",
        "turns that may retrieve: all, only while there are no sources, or only those whose call sets every_turn; other turns reuse the existing sources. Default: as the strategy says"),
    row("refresh", "\"always\"", Kind::Choice(&["always", "adaptive", "never"]), "always, adaptive or never",
        "whether a turn that may retrieve replaces the existing sources: always, only if their share of the context is too small for accuracy_target, or never. Default: as the strategy says"),
    row("compress", "true", Kind::Flag, "true or false",
        "limit the history to the tokens that accuracy_target allows; the last history_exchanges and the list of cited sources are always complete; false: the whole history. Default: as the strategy says"),
    row("history_exchanges", "2", SLOTS, "a whole number of exchanges, 0 to 100",
        "last questions with their answers that are complete in every history, whatever its budget"),
    row("accuracy_target", "0.85", SHARE, "a number above 0, below accuracy_baseline",
        "target accuracy of citations, which limits the history by the attention model"),
    row("accuracy_baseline", "0.91", SHARE, "a number above accuracy_target, at most 1",
        "accuracy of citations without history, acc(0) of the attention model, measured on single turns"),
    row("domain_specificity", "\"section\"", Kind::ChoiceOrExponent(&["verse", "section", "document"]), "verse, section, document or a number above 0, at most 1",
        "how precise citations have to be, the exponent of the attention model: 0.8, 0.5, 0.2 or the number"),
    row("query_history", "4", SLOTS, "a whole number, 0 to 100",
        "earlier turns used to judge the intent and to expand the query"),
    row("query_from", "\"contextual\"", Kind::Choice(&["turn", "dialogue", "contextual"]), "turn, dialogue or contextual",
        "query text: the turn's own words, all queries of the user, or the words expanded with the conversation as far as they depend on it"),
    row("history_weight", "1", Kind::Real(0.0, 10.0), "a number, 0 to 10",
        "factor on the expansion of a contextual query; 0 is no expansion"),
    row("candidates", "40", Kind::Count(1, 1000), "a whole number of passages, 1 to 1000",
        "passages requested from each branch, lexical and vector, in every turn"),
    row("lexical_search", "\"auto\"", Kind::Choice(&["auto", "exact"]), "auto or exact",
        "how the lexical branch searches: through a BM25 index if a usable one exists, or by reading every passage"),
    row(LEXICAL_STATISTICS, "\"all\"", Kind::Choice(&["all", VISIBLE]), "all or visible",
        "the passages that the figures of BM25 count: all, or only those that the caller may read, which must then all be read; visible in one layer overrides all in any other"),
    row("vector_search", "\"auto\"", Kind::Choice(&["auto", "exact", "index"]), "auto, exact or index",
        "how the vector branch searches: as the planner chooses, without an index, or through an index"),
    row("require_embedding", "false", Kind::Flag, "true or false",
        "raise an error for a turn without an embedding instead of a warning"),
    row("min_answerability", "0.25", SHARE, "a number, 0 to 1",
        "answerability below which a turn gets the warning nothing_fits; 0: never"),
    row("fusion", "\"scores\"", Kind::Choice(&["scores", "rrf", "integrated"]), "scores, rrf or integrated",
        "how the branches are combined: by standardised scores, by reciprocal rank, or by scores with the results of earlier turns included"),
    row("vector_share", "0.7", SHARE, "a number, 0 to 1",
        "share of the vector branch in the fusion, from 0, lexical only, to 1, vector only. Default: 0.7, or 0.5 if fusion is rrf"),
    row("rrf_k", "60", Kind::Real(1.0, 10_000.0), "a number, 1 to 10000",
        "the constant k of reciprocal rank fusion, weight / (k + rank)"),
    row("recency_half_life", "null", Kind::Real(1.0, 1e10), "a number of seconds, at least 1, or off",
        "age at which a document loses half of what age takes from its fused score, at most a quarter; documents without a date lose as much as the median"),
    row("graph", "false", Kind::Flag, "true or false",
        "look up entities that the conversation repeats in the corpus' edges, and add the passages of their neighbours as candidates"),
    row("graph_weight", "1", Kind::Real(0.0, 100.0), "a number, 0 to 100",
        "weight of the list of neighbours in the fusion; in score fusion, 1 raises the first neighbour by two deviations"),
    row("collapse_twins", "true", Kind::Flag, "true or false",
        "count passages with the same text, nearly the same range or nearly the same words as one"),
    row("merge_adjacent", "true", Kind::Flag, "true or false",
        "merge passages that follow each other in a document"),
    row("max_merged_tokens", "512", Kind::Count(1, 100_000), "a whole number of tokens, 1 to 100000",
        "maximum tokens of a merged passage"),
    row("max_passage_tokens", "1024", Kind::Count(128, 100_000), "a whole number of tokens, 128 to 100000",
        "maximum tokens of a passage in a context; of a longer one, the window that fits the query best is shown"),
    row("rerank_top", "40", Kind::Count(1, 1000), "a whole number of candidates, 1 to 1000",
        "fused candidates that go to the reranker"),
    row("reranker", "null", Kind::Text, "deferred, model:NAME, the signature of a function, or off",
        "reranker of the candidates: a function f(query text, passages text[]) returns real[], a registered model, or the application"),
    row("intent_function", "null", Kind::Text, "the signature of a function, or off",
        "function that judges the intent of a later turn: f(query text, earlier jsonb) returns jsonb; if off, or if it returns NULL, cues decide"),
    row("carry_over", "true", Kind::Flag, "true or false",
        "carry sources of earlier turns; pins are always carried"),
    row("carry_threshold", "1", SHARE, "a number, 0 to 1",
        "minimum relevance of a carried source to this turn's query, as a share of the best passage's; a turn that cannot be understood alone always keeps the document of the last citation"),
    row("carry_decay", "0.7", SHARE, "a number, 0 to 1",
        "factor on every carry score at the end of a turn"),
    row("carry_ttl_turns", "3", Kind::Count(1, 1000), "a whole number of turns, 1 to 1000",
        "inactive turns after which a source is forgotten"),
    row("carry_max_age", "null", Kind::Real(0.0, 1e10), "a number of seconds, or off",
        "time since its last use after which a source is not carried"),
    row("carry_activation", "\"cited\"", Kind::Choice(&["context", "cited"]), "context or cited",
        "condition for a source to stay active: cited or retrieved into the context, or only cited"),
    row("max_pinned", "3", SLOTS, "a whole number of pins, 0 to 100",
        "pins that enter a context, in pin order"),
    row("reserved_slots", "1", SLOTS, "a whole number of sources, 0 to 100",
        "places of the context reserved for pinned and carried sources"),
    row("max_sources", "10", Kind::Count(1, 100), "a whole number of sources, 1 to 100",
        "maximum number of sources in a context"),
    row("max_tokens", "5000", Kind::Count(1, 1_000_000), "a whole number of tokens, 1 to 1000000",
        "budget for the block of the sources as prompt_context writes it by default, in o200k_base tokens"),
    row("passage_order", "\"score\"", Kind::Choice(&["score", "edges"]), "score or edges",
        "order of the passages in the prompt: strongest first, or strongest at both ends"),
    row("marker_style", "\"A1\"", Kind::Choice(&["A1", "1"]), "A1 or 1",
        "markers with letters for the document, or one running number"),
    row("facts_per_source", "2", Kind::Count(0, 10), "a whole number of sentences, 0 to 10",
        "facts of each source: key sentences for the query, or those in its metadata; 0 also shows no facts of earlier turns"),
    row("history_note", "false", Kind::Flag, "true or false",
        "add a note to the prompt that the sources override contradicting statements of the conversation"),
    row("reuse_answers", "false", Kind::Flag, "true or false",
        "let reusable_answer return accepted answers to the first question of a conversation"),
    row("source_conflicts", "false", Kind::Flag, "true or false",
        "list sources that contradict each other in the prompt, and advise against an answer that relies on one of them and does not cite the other"),
    row("keep_candidates", "\"all\"", Kind::Choice(&["all", "kept", "none"]), "all, kept or none",
        "candidates that the trace of a turn keeps"),
    row("component_versions", "null", Kind::Text, "words such as reranker=2.1 chunker=7, or off",
        "versions of the application's components, stored with each turn; diagnose names the one that changed"),
    row("provenance", "\"metadata\"", Kind::Choice(&["metadata", "hash", "semantic", "merkle"]), "metadata, hash, semantic or merkle",
        "evidence stored for the origin of a citation; each level includes the previous ones: coordinates and ranks, hashes of all candidates' texts, similarities of the sources, a hash chain of queries, contexts and answers"),
    row("store_answers", "\"full\"", Kind::Choice(&["full", "hash"]), "full or hash",
        "stored part of an answer: all of it, or its hash and the verdicts on its citations without its text"),
    row("repair", "null", Kind::Choice(&["mark", "repoint", "strict"]), "mark, repoint, strict, or off",
        "corrected copy of an answer that end_turn stores: with marks at sentences that nothing supports, with corrected citations, or also without these sentences"),
    row("citation_forms", "null", Kind::CitationForms, FORMS,
        "changes to the citation forms: disabled families, patterns, locators, titles"),
    row("language", "null", Kind::Text, "a code such as en or zh, or off",
        "language of the negation words and number formats used to judge support; off: that of the text search configuration"),
    row("support_threshold", "0.4", SHARE, "a number, 0 to 1",
        "minimum support for a cited claim to count as supported"),
    row("other_source_margin", "0.2", SHARE, "a number, 0 to 1",
        "how much more another source must support a claim for the citation to be wrong"),
    row("min_support_rate", "0.5", SHARE, "a number, 0 to 1",
        "minimum share of the citations of an acceptable answer that hold; 0 accepts any share"),
    row("min_cfs", "null", SHARE, "a number, 0 to 1, or off",
        "minimum citation fidelity score of an acceptable answer"),
    row("min_grounded_cfs", "null", SHARE, "a number, 0 to 1, or off",
        "minimum grounded_cfs of an acceptable answer: mean of score × support"),
    row("require_citations", "false", Kind::Flag, "true or false",
        "advise to regenerate an answer without any citation"),
];
