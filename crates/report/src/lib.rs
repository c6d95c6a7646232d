#![forbid(unsafe_code)]
//! What happened in a conversation or over a corpus, as one HTML page to look at.
//!
//! A page is whole in itself: styles and plots stand in it, nothing is fetched, nothing runs. What came from people, documents
//! and models goes through [`html`], which is the one place that writes markup, so none of it becomes an element, an attribute
//! or a link that was not meant. The same data give the same page.
//!
//! | what is shown | module |
//! |---|---|
//! | a conversation, turn by turn, each citation under its verdict | [`conversation`] |
//! | the answers of a corpus: rates, stages, scores over time, documents | [`corpus`] |
//! | an answer cut where its citations stand | [`spans`] |
//! | what a verdict looks like | [`verdict`] |
//! | lines over turns or days | [`plot`] |
//! | whose it is | [`whose`] |
//! | elements, text, links | [`html`] |
//! | what both pages share | [`page`] |

pub mod conversation;
pub mod corpus;
pub mod html;
pub mod page;
pub mod plot;
pub mod spans;
pub mod verdict;
pub mod whose;
