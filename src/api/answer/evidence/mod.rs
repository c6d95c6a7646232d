//! Stored answers with the evidence of their citations.

mod answer_parts;
mod citation_evidence;
mod cited_sources;
