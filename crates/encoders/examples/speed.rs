//! Prints passages per second: `speed MODEL-FOLDER PASSAGES.json`, the passages as a JSON array of texts.
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use reground_encoders::SentenceEncoder;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, model, passages] = arguments.as_slice() else {
        return Err("usage: speed MODEL-FOLDER PASSAGES.json".into());
    };
    let texts: Vec<String> = serde_json::from_slice(&std::fs::read(passages)?)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let encoder = SentenceEncoder::load(Path::new(model))?;
    for _ in 0..3 {
        let start = Instant::now();
        let embeddings = encoder.encode(&texts)?;
        let seconds = start.elapsed().as_secs_f64();
        println!("{:.1}", embeddings.len() as f64 / seconds);
    }
    Ok(())
}
