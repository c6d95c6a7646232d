//! Compares the encoder with a second implementation on a small model, and tests the real model on demand.

mod tiny_bert;

use std::path::Path;

use reground_encoders::{EncoderError, SentenceEncoder, find};
use serde_json::json;
use tiny_bert::{MAX_TOKENS, TinyBert, WORDS};

/// Texts of 0 to 40 words, the longest first, in more than one batch.
fn texts() -> Vec<String> {
    let word = |seed: usize| *WORDS.get(seed * seed % 7).unwrap_or(&"unknown");
    (0..=40)
        .rev()
        .map(|count| {
            (0..count)
                .map(|i| word(i + count))
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

fn deviation(found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found
        .iter()
        .zip(expected)
        .map(|(a, b)| (f64::from(*a) - b).abs())
        .fold(0.0, f64::max)
}

#[test]
fn equals_the_forward_pass_in_plain_loops() {
    let (bert, dir) = (TinyBert::new(), tempfile::tempdir().unwrap());
    bert.write(dir.path()).unwrap();
    let encoder = SentenceEncoder::load(dir.path()).unwrap();
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let embeddings = encoder.encode(&texts).unwrap();
    assert_eq!(embeddings.len(), texts.len());
    for (text, embedding) in texts.iter().zip(&embeddings) {
        assert_eq!(embedding.len(), encoder.dimensions());
        let deviation = deviation(embedding, &bert.embed(text, MAX_TOKENS));
        assert!(deviation < 1e-4, "{deviation} for {text:?}");
    }
    // A text gets the same embedding alone (without padding) and among longer texts.
    let alone = encoder.encode(&texts[38..39]).unwrap();
    let padded: Vec<f64> = embeddings[38].iter().map(|x| f64::from(*x)).collect();
    assert!(deviation(&alone[0], &padded) < 1e-5);
    assert!(encoder.encode(&[]).unwrap().is_empty());
}

#[test]
fn reads_the_first_256_tokens() {
    let (bert, dir) = (TinyBert::new(), tempfile::tempdir().unwrap());
    bert.write(dir.path()).unwrap();
    let encoder = SentenceEncoder::load(dir.path()).unwrap();
    let long = WORDS.repeat(60).join(" ");
    let embedding = &encoder.encode(&[&long]).unwrap()[0];
    let cut = |tokens| deviation(embedding, &bert.embed(&long, tokens));
    let (right, short) = (cut(MAX_TOKENS), cut(MAX_TOKENS - 1));
    assert!(right < 1e-5 && right * 10.0 < short, "{right} {short}");
}

#[test]
fn finds_the_model_closest_to_the_root() {
    let root = tempfile::tempdir().unwrap();
    let at = |path: &str| root.path().join(path);
    for path in ["package/model/1_Pooling", "a/b/c/d", "a/b/c/d/e"] {
        std::fs::create_dir_all(at(path)).unwrap();
    }
    std::fs::write(at("package/model/1_Pooling/config.json"), "{}").unwrap();
    TinyBert::new().write(&at("a/b/c/d/e")).unwrap();
    assert!(
        matches!(find(root.path()), Err(EncoderError::NotFound(_))),
        "5 levels are too many"
    );
    TinyBert::new().write(&at("a/b/c/d")).unwrap();
    assert_eq!(find(root.path()).unwrap(), at("a/b/c/d"));
    TinyBert::new().write(&at("package/model")).unwrap();
    assert_eq!(find(root.path()).unwrap(), at("package/model"));
    assert!(SentenceEncoder::load(root.path()).is_ok());
    assert!(matches!(
        find(&at("absent")),
        Err(EncoderError::Read { .. })
    ));
}

#[test]
fn errors_name_the_wrong_file() {
    let load = |name: &str, content: &str| {
        let dir = tempfile::tempdir().unwrap();
        TinyBert::new().write(dir.path()).unwrap();
        std::fs::write(dir.path().join(name), content).unwrap();
        SentenceEncoder::load(dir.path()).err()
    };
    let message = |config: serde_json::Value| {
        let error = load("config.json", &config.to_string());
        error.map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(message(json!({})), "unknown architecture (none)");
    let unknown = json!({ "architectures": ["T5ForConditionalGeneration"] });
    assert_eq!(
        message(unknown),
        "unknown architecture T5ForConditionalGeneration"
    );
    let other = json!({ "architectures": ["BertForTokenClassification"] });
    assert_eq!(
        message(other),
        "BertForTokenClassification is not a sentence encoder"
    );
    let relative =
        json!({ "architectures": ["BertModel"], "position_embedding_type": "relative_key" });
    let relative = message(relative);
    assert!(
        relative.contains("position_embedding_type = relative_key"),
        "{relative}"
    );
    let incomplete = message(json!({ "architectures": ["BertModel"] }));
    assert!(
        incomplete.contains("config.json: missing field `vocab_size`"),
        "{incomplete}"
    );
    let modules = json!([{ "path": "2_Dense", "type": "sentence_transformers.models.Dense" }]);
    let unsupported = load("modules.json", &modules.to_string());
    assert!(unsupported.is_some_and(|error| {
        error
            .to_string()
            .ends_with("modules.json asks for Dense, which is not supported")
    }));
    assert!(matches!(
        load("tokenizer.json", "{}"),
        Some(EncoderError::Tokenizer(_))
    ));
    assert!(matches!(
        load("model.safetensors", "no"),
        Some(EncoderError::Model(_))
    ));

    let dir = tempfile::tempdir().unwrap();
    TinyBert::new().write(dir.path()).unwrap();
    let path = dir.path().join("config.json");
    let wider = std::fs::read_to_string(&path)
        .unwrap()
        .replace("\"hidden_size\":8", "\"hidden_size\":10");
    let shape = load("config.json", &wider).map(|error| error.to_string());
    let shape = shape.unwrap_or_default();
    assert!(
        shape.contains("shape mismatch for embeddings.") && shape.contains("got: [2, 8]"),
        "{shape}"
    );
    let config = std::fs::read_to_string(&path).unwrap();
    let changed = config.replace("\"num_attention_heads\":2", "\"num_attention_heads\":0");
    assert_ne!(config, changed);
    std::fs::write(&path, changed).unwrap();
    let refused = SentenceEncoder::load(dir.path()).err();
    assert!(
        matches!(
            refused,
            Some(EncoderError::Heads {
                hidden: 8,
                heads: 0
            })
        ),
        "{refused:?}"
    );
}

/// Runs only if `REGROUND_MODEL_DIR` names a directory with all-MiniLM-L6-v2.
#[test]
fn the_real_model_ranks_similar_texts_higher() {
    let Some(dir) = std::env::var_os("REGROUND_MODEL_DIR") else {
        return;
    };
    let encoder = SentenceEncoder::load(Path::new(&dir)).unwrap();
    assert_eq!(encoder.dimensions(), 384);
    let texts = [
        "How do I bake bread?",
        "A recipe for a loaf",
        "The stock market fell on Monday",
    ];
    let embeddings = encoder.encode(&texts).unwrap();
    let cosine = |a: usize, b: usize| -> f32 {
        embeddings[a]
            .iter()
            .zip(&embeddings[b])
            .map(|(x, y)| x * y)
            .sum()
    };
    assert!((cosine(0, 0) - 1.0).abs() < 1e-5);
    assert!(
        cosine(0, 1) > cosine(0, 2) + 0.3,
        "{} {}",
        cosine(0, 1),
        cosine(0, 2)
    );
}
