//! Every function that a user may call, and values for its arguments: the caller's, the other tenant's, and nonsense.

use reground_tests::chance::Chance;

use crate::house::Tenant;

/// Where the value of an argument comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The caller's.
    Mine,
    /// The other tenant's.
    Theirs,
    /// Nobody's.
    Nonsense,
}

/// What an argument means.
#[derive(Debug, Clone, Copy)]
pub enum Argument {
    Conversation,
    KnownConversation,
    Corpus,
    PrivateCorpus,
    Document,
    Pinned,
    Content,
    Uri,
    Metadata,
    Query,
    Embedding,
    Keys,
    Embeddings,
    Count,
    Filter,
    TurnSettings,
    ConversationSettings,
    Request,
    Tags,
    OpenTurn,
    DeferredTurn,
    Results,
    Answer,
    Message,
    MessageId,
    Format,
    Tenant,
    Moment,
}

/// A call of one function.
pub struct Call {
    /// Its name.
    pub function: &'static str,
    /// As it stands in FROM, with text for every parameter.
    call: &'static str,
    /// The parameters' meanings.
    pub arguments: &'static [Argument],
}

use Argument as A;

/// One call a function.
pub const CALLS: &[Call] = &[
    Call {
        function: "_answers_by",
        call: "_answers_by('conversation', false, $1::text::timestamptz, NULL)",
        arguments: &[A::Moment],
    },
    Call {
        function: "_citations_by",
        call: "_citations_by('document', $1::text::timestamptz, NULL)",
        arguments: &[A::Moment],
    },
    Call {
        function: "_dimension_name",
        call: "_dimension_name('model')",
        arguments: &[],
    },
    Call {
        function: "_dimension_key",
        call: "_dimension_key('tag:team')",
        arguments: &[],
    },
    Call {
        function: "_node",
        call: "_node('chunk', $1, $2)",
        arguments: &[A::Corpus, A::Document],
    },
    Call {
        function: "_pair",
        call: "_pair(1, 2, 3)",
        arguments: &[],
    },
    Call {
        function: "citation_quality",
        call: "citation_quality('document', $1::text::timestamptz)",
        arguments: &[A::Moment],
    },
    Call {
        function: "compare_cfs",
        call: "compare_cfs('conversation', $1, $2, $3::text::timestamptz)",
        arguments: &[A::KnownConversation, A::KnownConversation, A::Moment],
    },
    Call {
        function: "conversation_report",
        call: "conversation_report($1, $2)",
        arguments: &[A::KnownConversation, A::Tenant],
    },
    Call {
        function: "corpus_report",
        call: "corpus_report($1, $2::text::timestamptz, tenant => $3)",
        arguments: &[A::Corpus, A::Moment, A::Tenant],
    },
    Call {
        function: "in_canary",
        call: "in_canary($1)",
        arguments: &[A::Conversation],
    },
    Call {
        function: "mann_whitney",
        call: "mann_whitney('{1,2}', '{3}')",
        arguments: &[],
    },
    Call {
        function: "report_citation",
        call: "report_citation((SELECT min(c.citation_id) FROM reground.message_citations AS c WHERE c.message_id = $1::text::bigint), $2)",
        arguments: &[A::MessageId, A::Query],
    },
    Call {
        function: "retrieval_metrics",
        call: "retrieval_metrics(ARRAY[$1], '{\"a\": 1}')",
        arguments: &[A::Document],
    },
    Call {
        function: "sli",
        call: "sli($1::text::timestamptz)",
        arguments: &[A::Moment],
    },
    Call {
        function: "document_type",
        call: "document_type($1, $2)",
        arguments: &[A::Uri, A::Document],
    },
    Call {
        function: "check_coordinates",
        call: "check_coordinates($1)",
        arguments: &[A::Corpus],
    },
    Call {
        function: "put_probe",
        call: "put_probe($1, $2, $3, $4, embedding => $5::text::vector, filter => $6::text::jsonb, settings => $7::text::jsonb)",
        arguments: &[
            A::Query,
            A::Corpus,
            A::Query,
            A::Document,
            A::Embedding,
            A::Filter,
            A::TurnSettings,
        ],
    },
    Call {
        function: "drop_probe",
        call: "drop_probe($1)",
        arguments: &[A::Query],
    },
    Call {
        function: "rehearse_turn",
        call: "rehearse_turn($1, $2, $3::text::vector, $4::text::jsonb, $5::text::jsonb, $6)",
        arguments: &[
            A::Query,
            A::Corpus,
            A::Embedding,
            A::Filter,
            A::TurnSettings,
            A::KnownConversation,
        ],
    },
    Call {
        function: "shadow_turn",
        call: "shadow_turn($1::text::bigint, $2::text::jsonb, $3, $4, $5::text::vector, $6)",
        arguments: &[
            A::OpenTurn,
            A::TurnSettings,
            A::Query,
            A::Corpus,
            A::Embedding,
            A::Query,
        ],
    },
    Call {
        function: "run_probes",
        call: "run_probes($1)",
        arguments: &[A::Corpus],
    },
    Call {
        function: "source_usage",
        call: "source_usage($1::text::timestamptz)",
        arguments: &[A::Moment],
    },
    Call {
        function: "stage_survival",
        call: "stage_survival('conversation', $1::text::timestamptz)",
        arguments: &[A::Moment],
    },
    Call {
        function: "text_metrics",
        call: "text_metrics($1, $2)",
        arguments: &[A::Answer, A::Content],
    },
    Call {
        function: "trace_document",
        call: "trace_document($1, $2)",
        arguments: &[A::Corpus, A::Document],
    },
    Call {
        function: "wilson_interval",
        call: "wilson_interval(1, 2)",
        arguments: &[],
    },
    Call {
        function: "_settings",
        call: "_settings()",
        arguments: &[],
    },
    Call {
        function: "_source_state",
        call: "_source_state($1, $2, $3, 1)",
        arguments: &[A::Tenant, A::PrivateCorpus, A::Document],
    },
    Call {
        function: "_trace_bucket",
        call: "_trace_bucket($1::text::timestamptz)",
        arguments: &[A::Moment],
    },
    Call {
        function: "abandon_turn",
        call: "abandon_turn($1::text::bigint)",
        arguments: &[A::OpenTurn],
    },
    Call {
        function: "forget_conversation",
        call: "forget_conversation($1)",
        arguments: &[A::KnownConversation],
    },
    Call {
        function: "forget_document",
        call: "forget_document($1, $2)",
        arguments: &[A::Corpus, A::Document],
    },
    Call {
        function: "alter_conversation",
        call: "alter_conversation($1, $2::text::jsonb)",
        arguments: &[A::Conversation, A::ConversationSettings],
    },
    Call {
        function: "apply_rerank",
        call: "apply_rerank($1::text::bigint, $2::text::jsonb)",
        arguments: &[A::DeferredTurn, A::Results],
    },
    Call {
        function: "begin_turn",
        call: "begin_turn($1, $2, $3, $4::text::vector, $5::text::jsonb, request_id => $6, settings => $7::text::jsonb, tags => $8::text::jsonb)",
        arguments: &[
            A::Conversation,
            A::Query,
            A::Corpus,
            A::Embedding,
            A::Filter,
            A::Request,
            A::TurnSettings,
            A::Tags,
        ],
    },
    Call {
        function: "begin_turn",
        call: "begin_turn($1, $2, corpora => ARRAY[$3, $4], parent => CASE WHEN EXISTS (SELECT FROM reground.turns WHERE turn_id = $5::text::bigint) THEN 0 ELSE $5::text::bigint END)",
        arguments: &[A::Conversation, A::Query, A::Corpus, A::Corpus, A::OpenTurn],
    },
    Call {
        function: "retrieve",
        call: "retrieve($1::text::bigint, $2, $3, $4::text::vector, $5::text::jsonb)",
        arguments: &[A::OpenTurn, A::Query, A::Corpus, A::Embedding, A::Filter],
    },
    Call {
        function: "retrieve",
        call: "retrieve($1::text::bigint, $2, corpora => ARRAY[$3, $4])",
        arguments: &[A::OpenTurn, A::Query, A::Corpus, A::Corpus],
    },
    Call {
        function: "record_turn",
        call: "record_turn($1, $2, $3, jsonb_build_array(jsonb_build_object('text', $4::text, 'doc_id', $5::text)), message => $6, tags => $7::text::jsonb, corpus => $8)",
        arguments: &[
            A::Conversation,
            A::Query,
            A::Answer,
            A::Content,
            A::Document,
            A::Message,
            A::Tags,
            A::Corpus,
        ],
    },
    Call {
        function: "record_turns",
        call: "record_turns(jsonb_build_array(jsonb_build_object('conversation', $1::text, 'query', $2::text, 'answer', $3::text, 'message', $4::text)), corpus => $5)",
        arguments: &[A::Conversation, A::Query, A::Answer, A::Message, A::Corpus],
    },
    Call {
        function: "add_passages",
        call: "add_passages($1::text::bigint, jsonb_build_array(jsonb_build_object('text', $2::text, 'doc_id', $3::text)))",
        arguments: &[A::OpenTurn, A::Content, A::Document],
    },
    Call {
        function: "bm25_distance",
        call: "bm25_distance($1, reground.bm25_query($2, 'commons'))",
        arguments: &[A::Query, A::Query],
    },
    Call {
        function: "bm25_explain",
        call: "bm25_explain($1, reground.bm25_query($2, 'commons'))",
        arguments: &[A::Query, A::Query],
    },
    Call {
        function: "bm25_matches",
        call: "bm25_matches($1, reground.bm25_query($2, 'commons'))",
        arguments: &[A::Query, A::Query],
    },
    Call {
        function: "bm25_query",
        call: "bm25_query($1, 'commons')",
        arguments: &[A::Query],
    },
    Call {
        function: "find_text_config",
        call: "find_text_config($1)",
        arguments: &[A::Query],
    },
    Call {
        function: "in_language",
        call: "in_language($1, $2)",
        arguments: &[A::Query, A::Corpus],
    },
    Call {
        function: "bm25_score",
        call: "bm25_score($1, reground.bm25_query($2, 'commons'))",
        arguments: &[A::Query, A::Query],
    },
    Call {
        function: "answer_metrics",
        call: "answer_metrics($1::text::bigint)",
        arguments: &[A::MessageId],
    },
    Call {
        function: "check_answer",
        call: "check_answer($1, jsonb_build_array(jsonb_build_object('text', $2::text)), corpus => $3)",
        arguments: &[A::Answer, A::Content, A::Corpus],
    },
    Call {
        function: "check_corpus",
        call: "check_corpus($1)",
        arguments: &[A::Corpus],
    },
    Call {
        function: "check_policy",
        call: "check_policy($1::text::bigint)",
        arguments: &[A::MessageId],
    },
    Call {
        function: "citation_grammar",
        call: "citation_grammar($1::text::bigint)",
        arguments: &[A::OpenTurn],
    },
    Call {
        function: "citation_instructions",
        call: "citation_instructions($1)",
        arguments: &[A::Format],
    },
    Call {
        function: "current_tenant",
        call: "current_tenant()",
        arguments: &[],
    },
    Call {
        function: "delete_document",
        call: "delete_document($1, $2)",
        arguments: &[A::Corpus, A::Document],
    },
    Call {
        function: "delete_edges",
        call: "delete_edges($1, doc_id => $2, node => $3)",
        arguments: &[A::PrivateCorpus, A::Document, A::Query],
    },
    Call {
        function: "end_turn",
        call: "end_turn($1::text::bigint, $2, message => $3, model => $4, usage => $5::text::jsonb, tags => $6::text::jsonb)",
        arguments: &[
            A::OpenTurn,
            A::Answer,
            A::Message,
            A::Message,
            A::Tags,
            A::Tags,
        ],
    },
    Call {
        function: "extract_citations",
        call: "extract_citations($1)",
        arguments: &[A::Answer],
    },
    Call {
        function: "feed_answer",
        call: "feed_answer($1::text::bigint, $2, complete => true)",
        arguments: &[A::OpenTurn, A::Answer],
    },
    Call {
        function: "import_citations",
        call: "import_citations($1, jsonb_build_array(jsonb_build_object('start', 0, 'end', 4, 'document_ids', jsonb_build_array($2::text))), 'cohere')",
        arguments: &[A::Answer, A::Document],
    },
    Call {
        function: "pending_embeddings",
        call: "pending_embeddings($1, $2::text::integer)",
        arguments: &[A::Corpus, A::Count],
    },
    Call {
        function: "pin",
        call: "pin($1, doc_id => $2, corpus => $3)",
        arguments: &[A::Conversation, A::Pinned, A::PrivateCorpus],
    },
    Call {
        function: "profile",
        call: "profile()",
        arguments: &[],
    },
    Call {
        function: "prompt_context",
        call: "prompt_context($1::text::bigint, $2)",
        arguments: &[A::OpenTurn, A::Format],
    },
    Call {
        function: "history",
        call: "history($1, max_tokens => 40)",
        arguments: &[A::KnownConversation],
    },
    Call {
        function: "put_document",
        call: "put_document($1, $2, content => $3, uri => $4, title => $5, metadata => $6::text::jsonb)",
        arguments: &[
            A::PrivateCorpus,
            A::Document,
            A::Content,
            A::Uri,
            A::Document,
            A::Metadata,
        ],
    },
    Call {
        function: "put_edges",
        call: "put_edges($1, jsonb_build_array(jsonb_build_object('source', $2::text, 'target', $3::text, 'chunk_id', public.present($1))))",
        arguments: &[A::PrivateCorpus, A::Query, A::Document],
    },
    Call {
        function: "put_embeddings",
        call: "put_embeddings($1, $2::text::text[], $3::text::vector[], model => $4)",
        arguments: &[A::Corpus, A::Keys, A::Embeddings, A::Message],
    },
    Call {
        function: "search",
        call: "search($1, $2, $3::text::vector, filter => $4::text::jsonb, settings => $5::text::jsonb)",
        arguments: &[
            A::Corpus,
            A::Query,
            A::Embedding,
            A::Filter,
            A::TurnSettings,
        ],
    },
    Call {
        function: "unpin",
        call: "unpin($1, doc_id => $2, corpus => $3)",
        arguments: &[A::KnownConversation, A::Document, A::PrivateCorpus],
    },
];

impl Call {
    /// The statement, whose one column is the row as JSON.
    pub fn statement(&self) -> String {
        format!("SELECT to_jsonb(r)::text FROM reground.{} AS r", self.call)
    }

    /// Values for the arguments, each from whom `whose` says of its position.
    pub fn arguments(
        &self,
        chance: &mut Chance,
        mine: &Tenant,
        theirs: &Tenant,
        whose: &dyn Fn(usize) -> Whose,
    ) -> Vec<Option<String>> {
        self.arguments
            .iter()
            .enumerate()
            .map(|(position, argument)| match whose(position) {
                Whose::Mine => argument.of(mine, chance),
                Whose::Theirs => argument.of(theirs, chance),
                Whose::Nonsense => argument.nonsense(chance),
            })
            .collect()
    }
}

/// One of several.
fn one_of<T: Clone>(chance: &mut Chance, values: &[T]) -> T {
    values[chance.below(values.len())].clone()
}

/// One of the latest ids: older turns have ended long ago.
fn recent(chance: &mut Chance, ids: &[i64]) -> String {
    let start = ids.len().saturating_sub(12);
    match &ids[start..] {
        [] => "0".into(),
        ids => one_of(chance, ids).to_string(),
    }
}

impl Argument {
    /// A value that is good for the tenant; with a chance of none, where none is good too.
    fn of(self, tenant: &Tenant, chance: &mut Chance) -> Option<String> {
        let z = tenant.sentinel;
        let number = 1 + chance.below(2);
        Some(match self {
            A::Conversation => tenant.conversation(1 + chance.below(4)),
            A::KnownConversation => tenant.conversation(number),
            A::Corpus => one_of(
                chance,
                &[tenant.corpus(), tenant.corpus(), "commons".into()],
            ),
            A::PrivateCorpus => tenant.corpus(),
            A::Document => tenant.document(number),
            A::Pinned => one_of(chance, &[tenant.document(1), tenant.document(2)]),
            A::Content => format!("The {z}plan number {number} is kept in the {z}barn."),
            A::Uri => format!("https://{z}site.example/{z}page-{number}"),
            A::Metadata => format!("{{\"owner\": \"{z}-owner\"}}"),
            A::Query => one_of(
                chance,
                &[
                    format!("Where is the {z}plan kept?"),
                    format!("and who guards the {z}barn?"),
                    format!("{z}goat"),
                ],
            ),
            A::Embedding => one_of(chance, &["[1,0]", "[0,1]", "[0.6,0.8]"]).into(),
            A::Keys => one_of(chance, &["{1}", "{2}", "{3}"]).into(),
            A::Embeddings => "{\"[0.5,0.5]\"}".into(),
            A::Count => "10".into(),
            A::Filter if chance.happens(70) => return None,
            A::Filter => one_of(
                chance,
                &[
                    format!("{{\"doc_id\": \"{}\"}}", tenant.document(number)),
                    format!("{{\"doc_id\": [\"{}\", \"handbook\"]}}", tenant.note()),
                    format!("{{\"metadata\": {{\"owner\": \"{z}-owner\"}}}}"),
                ],
            ),
            A::TurnSettings => one_of(
                chance,
                &[
                    "{}".into(),
                    "{\"max_sources\": 2}".into(),
                    "{\"reranker\": \"deferred\"}".into(),
                    format!("{{\"reranker\": \"public.{z}rank(text,text[])\"}}"),
                ],
            ),
            A::ConversationSettings => one_of(
                chance,
                &[
                    "{\"max_sources\": 3}".into(),
                    "{\"reranker\": null}".into(),
                    format!("{{\"reranker\": \"public.{z}rank(text,text[])\"}}"),
                ],
            ),
            A::Request if chance.happens(90) => return None,
            A::Request => format!("{z}-request-{}", chance.below(4)),
            A::Tags => format!("{{\"tag\": \"{z}-tag\"}}"),
            A::OpenTurn => recent(chance, &tenant.turns),
            A::DeferredTurn => recent(chance, &tenant.waiting),
            A::Results if chance.happens(40) => return None,
            A::Results => format!(
                "[{{\"index\": 0, \"score\": 0.5}}, {{\"text\": \"{z}reranked\", \"score\": 0.4}}]"
            ),
            A::Answer => one_of(
                chance,
                &[
                    format!("The {z}plan is kept in the {z}barn [A1]. {z}pigs fly [Z9]."),
                    format!(
                        "The {z}plan is kept [Source: {}, p. 1].",
                        tenant.document(number)
                    ),
                    format!(
                        "The {z}goat guards it [B1], as (Smith, 2020) says [Source: {}].",
                        tenant.note()
                    ),
                ],
            ),
            A::Message if chance.happens(70) => return None,
            A::Message => format!("{z}-message-{}", chance.below(100)),
            A::MessageId => recent(chance, &tenant.messages),
            A::Format => one_of(chance, &["text", "xml", "json"]).into(),
            A::Tenant => tenant.name.into(),
            A::Moment => "2026-07-01".into(),
        })
    }

    /// A value that is good for nobody; none where that is refused too.
    fn nonsense(self, chance: &mut Chance) -> Option<String> {
        if chance.happens(20) {
            return None;
        }
        Some(
            match self {
                A::Embedding => "[1,2,3]",
                A::Keys => "{none}",
                A::Embeddings => "{\"[1]\"}",
                A::Count => "-1",
                A::Filter => "{\"nowhere\": 1}",
                A::TurnSettings | A::ConversationSettings => "{\"nowhere\": 1}",
                A::Metadata | A::Tags | A::Results => "[1]",
                A::OpenTurn | A::DeferredTurn | A::MessageId => "999999999",
                A::Moment => "noon or so",
                A::Query | A::Conversation | A::KnownConversation | A::Document | A::Pinned => "",
                A::Corpus | A::PrivateCorpus | A::Format => "nowhere",
                A::Content | A::Uri | A::Request | A::Answer | A::Message | A::Tenant => "\u{1f}",
            }
            .to_owned(),
        )
    }
}
