//! The kinds of arguments, with values for each.

use reground_tests::chance::Chance;

use crate::fixture::Tenant;

/// The tenant whose value an argument gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The calling tenant.
    Caller,
    /// The other tenant.
    Other,
    /// No tenant: an invalid value.
    Nobody,
}

/// The kind of an argument.
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

use Argument as A;

/// Returns a random element.
fn one_of<T: Clone>(chance: &mut Chance, values: &[T]) -> T {
    values[chance.below(values.len())].clone()
}

/// Returns one of the latest ids, because older turns have ended.
fn recent(chance: &mut Chance, ids: &[i64]) -> String {
    let start = ids.len().saturating_sub(12);
    match &ids[start..] {
        [] => "0".into(),
        ids => one_of(chance, ids).to_string(),
    }
}

/// Returns an answer with citations of own sources and unknown ones.
fn answer(tenant: &Tenant, number: usize, chance: &mut Chance) -> String {
    let z = tenant.sentinel;
    one_of(
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
    )
}

/// Returns settings for a call that begins a turn.
fn turn_settings(tenant: &Tenant, chance: &mut Chance) -> String {
    let z = tenant.sentinel;
    one_of(
        chance,
        &[
            "{}".into(),
            "{\"max_sources\": 2}".into(),
            "{\"reranker\": \"deferred\"}".into(),
            format!("{{\"reranker\": \"public.{z}rank(text,text[])\"}}"),
        ],
    )
}

impl Argument {
    /// Returns a valid value of the tenant, sometimes NULL if that is valid, too.
    pub fn of(self, tenant: &Tenant, chance: &mut Chance) -> Option<String> {
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
            A::TurnSettings => turn_settings(tenant, chance),
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
                "[{{\"index\": 0, \"score\": 0.5}}, {{\"content\": \"{z}reranked\", \"score\": 0.4}}]"
            ),
            A::Answer => answer(tenant, number, chance),
            A::Message if chance.happens(70) => return None,
            A::Message => format!("{z}-message-{}", chance.below(100)),
            A::MessageId => recent(chance, &tenant.messages),
            A::Format => one_of(chance, &["text", "xml", "json"]).into(),
            A::Tenant => tenant.name.into(),
            A::Moment => "2026-07-01".into(),
        })
    }

    /// Returns an invalid value, sometimes NULL.
    pub fn invalid(self, chance: &mut Chance) -> Option<String> {
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
