//! Which addresses are called, and which get a key.

use axum::response::IntoResponse;
use axum::response::Redirect;
use reground_worker::failure::Class;

use crate::server::{Scripted, classes, embed, embed_failure, embeddings, runner, runner_with};

#[tokio::test]
async fn redirects_are_not_followed() {
    let inner = Scripted::start(|_, seen| embeddings(seen)).await;
    let target = format!("http://{}/v1/embeddings", inner.address);
    let outer = Scripted::start(move |_, _| Redirect::temporary(&target).into_response()).await;
    let failure = embed_failure(&runner(), outer.embedder()).await;
    assert_eq!(failure.class, Class::Model);
    assert!(failure.message.contains("redirect"), "{failure}");
    assert_eq!((outer.calls(), inner.calls()), (1, 0));
}

#[tokio::test]
async fn private_addresses_are_refused() {
    let server = Scripted::start(|_, seen| embeddings(seen)).await;
    let port = server.address.port();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"] {
        let mut model = server.embedder();
        model.endpoint = Some(format!("http://{host}:{port}"));
        let failure = embed_failure(&runner_with(&["10.0.0.0/8"], &[]), model).await;
        assert_eq!(failure.class, Class::Model, "{host}");
        assert!(failure.message.contains("not public"), "{host}: {failure}");
    }
    assert_eq!(server.calls(), 0);
}

#[tokio::test]
async fn listed_hosts_and_networks_are_called() {
    let server = Scripted::start(|_, seen| embeddings(seen)).await;
    let port = server.address.port();
    for (allowed, host) in [
        ("127.0.0.0/8", "127.0.0.1"),
        ("127.0.0.1", "localhost"),
        ("localhost", "localhost"),
    ] {
        let mut model = server.embedder();
        model.endpoint = Some(format!("http://{host}:{port}"));
        let results = embed(&runner_with(&[allowed], &[]), model, &["text"]).await;
        assert_eq!(classes(&results), [None], "{allowed}");
    }
}

#[tokio::test]
async fn a_key_goes_only_to_its_hosts() {
    let server = Scripted::start(|_, seen| embeddings(seen)).await;
    let mut model = server.embedder();
    model.key_name = Some("main".into());
    let other: &[&str] = &["api.example.com"];
    let own: &[&str] = &["127.0.0.1"];
    let bound = |hosts| runner_with(&["127.0.0.1"], &[("MAIN", "sk-1", hosts)]);

    let failure = embed_failure(&bound(other), model.clone()).await;
    assert_eq!(failure.class, Class::Model);
    assert!(
        failure.message.contains("REGROUND_KEY_MAIN_HOSTS"),
        "{failure}"
    );
    assert_eq!(server.calls(), 0);

    let results = embed(&bound(own), model.clone(), &["text"]).await;
    assert_eq!(classes(&results), [None]);
    assert_eq!(server.seen()[0].headers["authorization"], "Bearer sk-1");

    let failure = embed_failure(&runner(), model).await;
    assert_eq!(failure.class, Class::Model);
    assert!(failure.message.contains("no key \"main\""), "{failure}");
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn a_key_is_not_sent_without_encryption_to_a_public_address() {
    let mut model = Scripted::raw(b"").await.embedder();
    model.key_name = Some("main".into());
    model.endpoint = Some("http://192.88.99.1:9".into());
    let runner = runner_with(&["192.88.99.1"], &[("main", "sk-1", &[])]);
    let failure = embed_failure(&runner, model).await;
    assert_eq!(failure.class, Class::Model);
    assert!(failure.message.contains("without https"), "{failure}");
}

#[tokio::test]
async fn a_key_without_hosts_is_not_sent_to_other_hosts() {
    let mut model = Scripted::raw(b"").await.embedder();
    model.key_name = Some("main".into());
    for endpoint in ["https://192.88.99.1:9", "https://evil.example"] {
        model.endpoint = Some(endpoint.into());
        let runner = runner_with(&["127.0.0.1", "tei.internal"], &[("main", "sk-1", &[])]);
        let failure = embed_failure(&runner, model.clone()).await;
        assert_eq!(failure.class, Class::Model, "{failure}");
        assert!(!failure.message.contains("sk-1"), "{failure}");
    }
}

#[tokio::test]
async fn without_a_key_no_authorization_is_sent() {
    let server = Scripted::start(|_, seen| embeddings(seen)).await;
    let runner = runner_with(&["127.0.0.1"], &[("main", "sk-1", &[])]);
    let results = embed(&runner, server.embedder(), &["text"]).await;
    assert_eq!(classes(&results), [None]);
    assert!(!server.seen()[0].headers.contains_key("authorization"));
}
