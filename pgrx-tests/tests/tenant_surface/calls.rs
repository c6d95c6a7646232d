//! A call of each function that a user may call.

use reground_tests::chance::Chance;

use crate::arguments::Argument::{self, *};
use crate::arguments::Owner;
use crate::fixture::Tenant;

/// A call of one function.
pub struct Call {
    /// The call, as written in FROM, with text for each parameter.
    call: &'static str,
    /// The kinds of the arguments.
    pub arguments: &'static [Argument],
}

const fn call(call: &'static str, arguments: &'static [Argument]) -> Call {
    Call { call, arguments }
}

/// The calls; some functions have more than one.
#[rustfmt::skip]
pub const CALLS: &[Call] = &[
    call("_answers_by('conversation', false, $1::text::timestamptz, NULL)", &[Moment]),
    call("_citations_by('document', $1::text::timestamptz, NULL)", &[Moment]),
    call("_dimension_name('model')", &[]),
    call("_dimension_key('tag:team')", &[]),
    call("_node('chunk', $1, $2)", &[Corpus, Document]),
    call("_pair_index(1, 2, 3)", &[]),
    call("hallucination_mix($1, $2::text::timestamptz)", &[Corpus, Moment]),
    call("citation_quality('document', $1::text::timestamptz)", &[Moment]),
    call("compare('cfs', 'conversation', $1, $2, $3::text::timestamptz)", &[KnownConversation, KnownConversation, Moment]),
    call("compare('holding', 'document', $1, $2, $3::text::timestamptz)", &[Document, Document, Moment]),
    call("conversation_report($1, $2)", &[KnownConversation, Tenant]),
    call("corpus_report($1, $2::text::timestamptz, tenant => $3)", &[Corpus, Moment, Tenant]),
    call("openmetrics()", &[]),
    call("in_canary($1)", &[Conversation]),
    call("_judge_majority('{accurate}', true)", &[]),
    call("judge_agreement(NULL, $1::text::timestamptz)", &[Moment]),
    call("judge_confusion(NULL, $1::text::timestamptz)", &[Moment]),
    call("queue_judgements(since => $1::text::timestamptz, corpus => $2, citation_ids => (SELECT array_agg(n) FROM generate_series(1, 100) AS n))", &[Moment, Corpus]),
    call("_of_answers('cfs')", &[]),
    call("_compare('cfs', 'model', 'a', 'b', false, '{1,0}', '{1,0}', '{0,2}', '{0,1}')", &[]),
    call("report_citation((SELECT min(c.citation_id) FROM reground.message_citations AS c WHERE c.message_id = $1::text::bigint), $2)", &[MessageId, Query]),
    call("report_answer($1::text::bigint, $2)", &[MessageId, Query]),
    call("report_rates('conversation', $1::text::timestamptz)", &[Moment]),
    call("who_saw($1, $2)", &[Corpus, Document]),
    call("_usage_tokens('{\"a\": 1}', ARRAY[$1])", &[Query]),
    call("retrieval_metrics(ARRAY[$1], '{\"a\": 1}')", &[Document]),
    call("sli($1::text::timestamptz)", &[Moment]),
    call("put_gold_facts($1, ARRAY[$2], $3)", &[Document, Content, Content]),
    call("drop_gold_facts($1)", &[Query]),
    call("evaluate_factuality(coalesce((SELECT m.turn_id FROM reground.messages AS m WHERE m.message_id = $1::text::bigint), 0), $2, 'splitter', 'checker')", &[MessageId, Document]),
    call("_factuality('{entailed,neutral}', '{contradicted}', 10, 0)", &[]),
    call("factuality_report('conversation', $1::text::timestamptz)", &[Moment]),
    call("factuality_agreement(since => $1::text::timestamptz)", &[Moment]),
    call("_document_type($1, $2)", &[Uri, Document]),
    call("_unsealed($1, 'title', $2)", &[Tenant, Query]),
    call("check_coordinates($1)", &[Corpus]),
    call("put_probe($1, $2, $3, $4, embedding => $5::text::vector, filter => $6::text::jsonb, settings => $7::text::jsonb)", &[Query, Corpus, Query, Document, Embedding, Filter, TurnSettings]),
    call("drop_probe($1)", &[Query]),
    call("dry_run_turn($1, $2, $3::text::vector, $4::text::jsonb, $5::text::jsonb, $6)", &[Query, Corpus, Embedding, Filter, TurnSettings, KnownConversation]),
    call("reusable_answer($1, $2, $3::text::vector)", &[Corpus, Query, Embedding]),
    call("shadow_turn($1::text::bigint, $2::text::jsonb, $3, $4, $5::text::vector, $6)", &[OpenTurn, TurnSettings, Query, Corpus, Embedding, Query]),
    call("run_probes($1)", &[Corpus]),
    call("source_usage($1::text::timestamptz)", &[Moment]),
    call("stage_survival('conversation', $1::text::timestamptz)", &[Moment]),
    call("text_metrics($1, $2)", &[Answer, Content]),
    call("trace_document($1, $2)", &[Corpus, Document]),
    call("_wilson_interval(1, 2)", &[]),
    call("_settings()", &[]),
    call("_hides_nothing()", &[]),
    call("_is_shown_turn($1::text::bigint)", &[OpenTurn]),
    call("_is_shown_source(1, $1, $2, '1')", &[Corpus, Document]),
    call("_source_state($1, $2, $3, 1)", &[Tenant, PrivateCorpus, Document]),
    call("_cited_row((SELECT min(c.citation_id) FROM reground.message_citations AS c WHERE c.message_id = $1::text::bigint))", &[MessageId]),
    call("_trace_bucket($1::text::timestamptz)", &[Moment]),
    call("abandon_turn($1::text::bigint)", &[OpenTurn]),
    call("forget_conversation($1)", &[KnownConversation]),
    call("forget_document($1, $2)", &[Corpus, Document]),
    call("forget_user($1)", &[KnownConversation]),
    call("alter_conversation($1, $2::text::jsonb)", &[Conversation, ConversationSettings]),
    call("apply_rerank($1::text::bigint, $2::text::jsonb)", &[DeferredTurn, Results]),
    call("begin_turn($1, $2, $3, $4::text::vector, $5::text::jsonb, request_id => $6, settings => $7::text::jsonb, tags => $8::text::jsonb)", &[Conversation, Query, Corpus, Embedding, Filter, Request, TurnSettings, Tags]),
    call("begin_turn($1, $2, corpora => ARRAY[$3, $4], parent_turn_id => CASE WHEN EXISTS (SELECT FROM reground.turns WHERE turn_id = $5::text::bigint) THEN 0 ELSE $5::text::bigint END)", &[Conversation, Query, Corpus, Corpus, OpenTurn]),
    call("retrieve($1::text::bigint, $2, $3, $4::text::vector, $5::text::jsonb)", &[OpenTurn, Query, Corpus, Embedding, Filter]),
    call("retrieve($1::text::bigint, $2, corpora => ARRAY[$3, $4])", &[OpenTurn, Query, Corpus, Corpus]),
    call("record_turn($1, $2, $3, jsonb_build_array(jsonb_build_object('content', $4::text, 'doc_id', $5::text)), message_ref => $6, tags => $7::text::jsonb, corpus => $8)", &[Conversation, Query, Answer, Content, Document, Message, Tags, Corpus]),
    call("record_turns(jsonb_build_array(jsonb_build_object('conversation_ref', $1::text, 'query', $2::text, 'answer', $3::text, 'message_ref', $4::text)), corpus => $5)", &[Conversation, Query, Answer, Message, Corpus]),
    call("add_passages($1::text::bigint, jsonb_build_array(jsonb_build_object('content', $2::text, 'doc_id', $3::text)))", &[OpenTurn, Content, Document]),
    call("_bm25_distance($1, reground.bm25_query($2, 'commons'))", &[Query, Query]),
    call("bm25_explain($1, reground.bm25_query($2, 'commons'))", &[Query, Query]),
    call("_bm25_matches($1, reground.bm25_query($2, 'commons'))", &[Query, Query]),
    call("bm25_query($1, 'commons')", &[Query]),
    call("bm25_with_statistics(concat('+\"statistics\"{\"text_config\":\"english\",\"weights\":\"1\",\"k1\":1.2,\"b\":0.75,\"documents\":1,\"length\":1,\"frequencies\":{}} -: ', $1::text)::reground.bm25query)", &[Query]),
    call("find_text_config($1)", &[Query]),
    call("in_language($1, $2)", &[Query, Corpus]),
    call("bm25_score($1, reground.bm25_query($2, 'commons'))", &[Query, Query]),
    call("answer_metrics($1::text::bigint)", &[MessageId]),
    call("check_answer($1, jsonb_build_array(jsonb_build_object('content', $2::text)), corpus => $3)", &[Answer, Content, Corpus]),
    call("repair_text($1, jsonb_build_array(jsonb_build_object('content', $2::text)), corpus => $3)", &[Answer, Content, Corpus]),
    call("repair_answer($1::text::bigint, 'strict')", &[MessageId]),
    call("check_corpus($1)", &[Corpus]),
    call("answer_parts($1::text::bigint, 'openai')", &[MessageId]),
    call("citation_evidence($1::text::bigint)", &[MessageId]),
    call("turn_sources($1::text::bigint)", &[OpenTurn]),
    call("turn_conflicts($1::text::bigint)", &[OpenTurn]),
    call("citation_grammar($1::text::bigint)", &[OpenTurn]),
    call("citation_instructions($1, turn_id => $2::text::bigint)", &[Format, OpenTurn]),
    call("current_tenant()", &[]),
    call("current_principals()", &[]),
    call("delete_document($1, $2)", &[Corpus, Document]),
    call("delete_edges($1, doc_id => $2, entity => $3)", &[PrivateCorpus, Document, Query]),
    call("end_turn($1::text::bigint, $2, message_ref => $3, model => $4, usage => $5::text::jsonb, tags => $6::text::jsonb)", &[OpenTurn, Answer, Message, Message, Tags, Tags]),
    call("extract_citations($1)", &[Answer]),
    call("feed_answer($1::text::bigint, $2, complete => true)", &[OpenTurn, Answer]),
    call("import_citations($1, jsonb_build_array(jsonb_build_object('start', 0, 'end', 4, 'document_ids', jsonb_build_array($2::text))), 'cohere')", &[Answer, Document]),
    call("pending_embeddings($1, $2::text::integer)", &[Corpus, Count]),
    call("pin($1, doc_id => $2, corpus => $3)", &[Conversation, Pinned, PrivateCorpus]),
    call("profile()", &[]),
    call("prompt_context($1::text::bigint, $2, 'both')", &[OpenTurn, Format]),
    call("history($1, max_tokens => 40)", &[KnownConversation]),
    call("context_text($1, $2)", &[KnownConversation, Query]),
    call("put_document($1, $2, content => $3, uri => $4, title => $5, metadata => $6::text::jsonb)", &[PrivateCorpus, Document, Content, Uri, Document, Metadata]),
    call("put_edges($1, jsonb_build_array(jsonb_build_object('source', $2::text, 'target', $3::text, 'chunk_id', public.present($1))))", &[PrivateCorpus, Query, Document]),
    call("put_embeddings($1, $2::text::text[], $3::text::vector[], model => $4, content_hashes => NULL)", &[Corpus, Keys, Embeddings, Message]),
    call("search($1, $2, $3::text::vector, filter => $4::text::jsonb, settings => $5::text::jsonb)", &[Corpus, Query, Embedding, Filter, TurnSettings]),
    call("explain_search($1, $2, $3::text::vector, filter => $4::text::jsonb, settings => $5::text::jsonb)", &[Corpus, Query, Embedding, Filter, TurnSettings]),
    call("_notice_scope()", &[]),
    call("_trusted_owner()", &[]),
    call("unpin($1, doc_id => $2, corpus => $3)", &[KnownConversation, Document, PrivateCorpus]),
];

impl Call {
    /// Returns the name of the function.
    pub fn function(&self) -> &'static str {
        self.call
            .split_once('(')
            .map_or(self.call, |(name, _)| name)
    }

    /// Returns the statement; its column is the row as JSON.
    pub fn statement(&self) -> String {
        format!("SELECT to_jsonb(r)::text FROM reground.{} AS r", self.call)
    }

    /// Returns values for the arguments, each from the tenant that `owner` returns for its position.
    pub fn arguments(
        &self,
        chance: &mut Chance,
        mine: &Tenant,
        theirs: &Tenant,
        owner: &dyn Fn(usize) -> Owner,
    ) -> Vec<Option<String>> {
        self.arguments
            .iter()
            .enumerate()
            .map(|(position, argument)| match owner(position) {
                Owner::Caller => argument.of(mine, chance),
                Owner::Other => argument.of(theirs, chance),
                Owner::Nobody => argument.invalid(chance),
            })
            .collect()
    }
}
