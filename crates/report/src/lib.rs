#![forbid(unsafe_code)]
//! HTML reports of a conversation or a corpus, and the metrics of the audit as OpenMetrics text. Each report is one page.
//!
//! A page is self-contained: it includes its styles and plots, loads nothing and runs no scripts. Only [`html`] writes markup. All
//! text of users, documents and models goes through it, so text cannot become an element, an attribute or an unintended link. The
//! same data give the same page.
//!
//! | content | module |
//! |---|---|
//! | report of a conversation: turns, answers, citations with their verdicts | [`conversation`] |
//! | report of a corpus: the share that holds, the answers to read first, stages, documents, scores | [`corpus`] |
//! | metrics of the audit for Prometheus | [`openmetrics`] |
//! | split of an answer at its citations | [`spans`] |
//! | appearance of verdicts, of citations and of answers | [`verdict`] |
//! | line plots and bars | [`plot`] |
//! | tables | [`table`] |
//! | owner of the reported conversation or corpus | [`owner`] |
//! | elements, text, links | [`html`] |
//! | page frame and number formats | [`page`] |

pub mod conversation;
pub mod corpus;
pub mod html;
pub mod openmetrics;
pub mod owner;
pub mod page;
pub mod plot;
pub mod spans;
pub mod table;
pub mod verdict;
