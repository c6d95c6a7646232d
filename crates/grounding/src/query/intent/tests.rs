use super::*;
use proptest::prelude::*;

fn past(query: &str, title: &str) -> PastTurn {
    PastTurn {
        query: query.into(),
        sources: vec![title.into()],
        ..PastTurn::default()
    }
}

fn password() -> PastTurn {
    PastTurn {
        answer: "Open the settings of your account and choose a new password; a link is sent to you by mail."
            .into(),
        ..past("How do I reset my password?", "Accounts and passwords")
    }
}

fn after(query: &str) -> JudgedIntent {
    classify(query, &[password()], None)
}

/// A later turn with its similarities: to the earlier query and passage, to the rest of the document, and the usual one.
fn by_similarity(query: &str, near: f64, rest: f64, usual: f64) -> JudgedIntent {
    let turn = PastTurn {
        similarity: Some(near),
        cited_similarity: Some(near),
        document_similarity: Some(rest),
        own_similarity: Some(usual),
        ..password()
    };
    classify(query, &[turn], None)
}

/// Intents that only cues can show, in the languages with built-in cues.
#[test]
fn intents_in_other_languages() {
    use Intent::*;
    for (query, intent) in [
        ("Nouvelle question : combien coûte l'abonnement ?", NewTopic),
        ("Où est-ce écrit, dans quel document ?", SameSources),
        (
            "Quelle est la différence entre un jeton et un mot de passe ?",
            Compare,
        ),
        ("Otra pregunta: ¿cuánto cuesta la suscripción?", NewTopic),
        ("¿Dónde dice eso?", SameSources),
        (
            "¿Cuál es la diferencia entre un token y una contraseña?",
            Compare,
        ),
        ("Cambiamo argomento: quanto costa l'abbonamento?", NewTopic),
        ("In quale documento?", SameSources),
        ("Outra pergunta: quanto custa a assinatura?", NewTopic),
        ("Onde está escrito isso?", SameSources),
        ("Andere vraag: wat kost het abonnement?", NewTopic),
        ("Waar staat dat?", SameSources),
        (
            "Wat is het verschil tussen een token en een wachtwoord?",
            Compare,
        ),
        ("Новый вопрос: сколько стоит подписка?", NewTopic),
        ("Где это написано?", SameSources),
        ("В чём разница между токеном и паролем?", Compare),
        ("А если я его забыл?", DrillDown),
        ("换个话题：订阅多少钱？", NewTopic),
        ("哪里写着？在哪一页？", SameSources),
        ("令牌和密码有什么区别？", Compare),
        ("那它多久过期？", DrillDown),
        ("別の質問ですが、料金はいくらですか。", NewTopic),
        ("どの文書に書いてありますか。", SameSources),
    ] {
        assert_eq!(
            after(query).intent,
            intent,
            "{query}: {:?}",
            after(query).signals
        );
    }
    let members = |query: &str| after(query).entities;
    assert_eq!(members("В чём разница между токеном и паролем?").len(), 2);
    assert_eq!(members("令牌和密码有什么区别？").len(), 2);
    assert_eq!(
        members("Quelle est la différence entre un jeton et un mot de passe ?").len(),
        2
    );
}

#[test]
fn intents_of_plain_cases() {
    use Intent::*;
    for (query, intent, dependency) in [
        ("and for admins?", DrillDown, Dependency::Hard),
        ("How long is it valid?", DrillDown, Dependency::Hard),
        (
            "How strong must a new password be?",
            DrillDown,
            Dependency::Soft,
        ),
        (
            "How many gigabytes of object storage does the standard plan include?",
            NewTopic,
            Dependency::None,
        ),
        ("New topic: billing", NewTopic, Dependency::None),
        ("Where does it say so?", SameSources, Dependency::Hard),
        (
            "Which of these documents covers tokens?",
            SameSources,
            Dependency::Hard,
        ),
        (
            "What is the difference between a token and a password?",
            Compare,
            Dependency::Soft,
        ),
        ("und für Administratoren?", DrillDown, Dependency::Hard),
        ("Wie lange ist es gültig?", DrillDown, Dependency::Hard),
        ("Neues Thema: Abrechnung", NewTopic, Dependency::None),
        ("Wo steht das?", SameSources, Dependency::Hard),
    ] {
        let judged = after(query);
        assert_eq!(
            (judged.intent, judged.dependency),
            (intent, dependency),
            "{query}: {:?}",
            judged.signals
        );
    }
    let first = classify("How do I reset it?", &[], None);
    assert_eq!((first.intent, first.confidence), (NewTopic, 1.0));
}

#[test]
fn the_caller_overrides_the_intent() {
    let judged = classify(
        "compare HNSW with IVFFlat",
        &[],
        Some(Intent::SameSources.into()),
    );
    assert_eq!(
        (judged.intent, judged.confidence),
        (Intent::SameSources, 1.0)
    );
    assert!(judged.entities.is_empty());
    let judged = after("Which is faster, HNSW or IVFFlat?");
    assert_eq!(judged.entities, ["HNSW", "IVFFlat"]);
}

#[test]
fn other_scripts_are_judged_by_overlap_and_length() {
    let earlier = [past("如何重置我的密码", "密码")];
    assert_eq!(
        classify("密码的有效期是多长时间", &earlier, None).dependency,
        Dependency::Soft
    );
    assert_eq!(
        classify("为什么", &earlier, None).dependency,
        Dependency::Hard
    );
    let other = classify("对象存储标准套餐包括多少千兆字节的存储空间", &earlier, None);
    assert_eq!(other.intent, Intent::NewTopic);
}

#[test]
fn similarity_decides_without_shared_words() {
    let query = "Could someone else open my mailbox with such a mail?";
    assert_eq!(
        by_similarity(query, 0.05, 0.0, 0.6).intent,
        Intent::NewTopic
    );
    assert_ne!(
        by_similarity(query, 0.55, 0.3, 0.6).intent,
        Intent::NewTopic
    );
}

#[test]
fn a_query_nearest_to_a_cited_passage_has_the_same_sources() {
    let query = "How long can the link in the mail be used?";
    assert_eq!(
        by_similarity(query, 0.6, 0.2, 0.6).intent,
        Intent::SameSources
    );
    assert_eq!(
        by_similarity(query, 0.3, 0.6, 0.6).intent,
        Intent::DrillDown
    );
}

#[test]
fn no_passage_holds_a_query_without_content_words() {
    let turn = PastTurn {
        cited_texts: vec!["Users reset a password under Settings.".into()],
        similarity: Some(0.2),
        cited_similarity: Some(0.5),
        document_similarity: Some(0.1),
        own_similarity: Some(0.6),
        ..password()
    };
    for query in ["Why?", "Go on.", "Tell me more.", "Warum?"] {
        let judged = classify(query, std::slice::from_ref(&turn), None);
        assert_eq!(
            (judged.intent, judged.dependency),
            (Intent::DrillDown, Dependency::Hard),
            "{query}: {:?}",
            judged.signals
        );
        let holds = |signal: &String| signal.starts_with("held by");
        assert!(!judged.signals.iter().any(holds), "{:?}", judged.signals);
    }
    // A pronoun refers to the subject of the passage.
    let judged = classify("What is it?", std::slice::from_ref(&turn), None);
    assert_eq!(judged.intent, Intent::SameSources);
    // Cues still decide.
    let judged = classify("Which source?", &[turn], None);
    assert_eq!(judged.intent, Intent::SameSources);
}

#[test]
fn signals_list_the_features() {
    let judged = by_similarity("Is the link valid for long?", 0.3, 0.3, 0.6);
    for signal in ["known words: 1 of 3", "distance: 0.50"] {
        assert!(
            judged.signals.iter().any(|s| s == signal),
            "{:?}",
            judged.signals
        );
    }
}

#[test]
fn unknown_data_may_be_missing() {
    let turn: PastTurn =
        serde_json::from_str(r#"{"query": "a", "sources": ["b"], "cited": []}"#).unwrap();
    assert_eq!(turn, past("a", "b"));
}

#[test]
fn names_round_trip() {
    for intent in Intent::ALL {
        assert_eq!(intent.name().parse::<Intent>().unwrap(), intent);
    }
    assert!("newtopic".parse::<Intent>().is_err());
}

#[test]
fn higher_features_never_count_against() {
    let away = FITTED.new_topic.as_flattened();
    let again = FITTED.same_sources.as_flattened();
    let weights = away.iter().flat_map(|w| w.weights);
    let weights = weights.chain(again.iter().flat_map(|w| w.weights));
    assert!(weights.into_iter().all(|weight| weight >= 0.0));
}

/// Any value that a caller may pass as a similarity.
fn similarity() -> impl Strategy<Value = Option<f64>> {
    proptest::option::of(prop_oneof![
        -1.0..=1.0,
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        any::<f64>(),
    ])
}

fn turn() -> impl Strategy<Value = PastTurn> {
    let text = "\\PC{0,60}";
    let similarities = (similarity(), similarity(), similarity(), similarity());
    (text, text, text, text, similarities).prop_map(|(query, title, answer, passage, s)| PastTurn {
        answer,
        cited_texts: vec![passage],
        similarity: s.0,
        cited_similarity: s.1,
        document_similarity: s.2,
        own_similarity: s.3,
        ..past(&query, &title)
    })
}

proptest! {
    #[test]
    fn any_text_is_judged(query in "\\PC{0,200}", earlier in proptest::collection::vec(turn(), 0..4)) {
        let judged = classify(&query, &earlier, None);
        prop_assert!((0.0..=1.0).contains(&judged.confidence), "{}", judged.confidence);
        prop_assert_eq!(&judged, &classify(&query, &earlier, None));
        if earlier.is_empty() || judged.intent == Intent::NewTopic {
            prop_assert_eq!(judged.dependency, Dependency::None);
        }
    }

    /// A model whose cosines are all smaller by a factor gives the same judgement.
    #[test]
    fn the_scale_of_similarities_does_not_matter(near in 0.01..0.9, rest in 0.01..0.9, usual in 0.1..0.9, halvings in 1..4) {
        let query = "Could someone else open my mailbox with such a mail?";
        let by = 0.5_f64.powi(halvings);
        prop_assert_eq!(
            by_similarity(query, near, rest, usual),
            by_similarity(query, near * by, rest * by, usual * by)
        );
    }

    #[test]
    fn distance_makes_a_new_topic_more_likely(near in 0.0..0.9, nearer in 0.0..0.1) {
        let query = "Could someone else open my mailbox with such a mail?";
        let new = |near| {
            let turn = PastTurn { similarity: Some(near), ..password() };
            FITTED.likelihoods(&figures(query, &[turn]).unwrap()).new_topic
        };
        prop_assert!(new(near) >= new(near + nearer));
    }
}
