//! Describes the machine and the server of a measurement.

use anyhow::Result;
use postgres::Client;

use crate::database::server::Address;

/// A name and its value.
pub type Fact = (&'static str, String);

/// Machine, server, versions and the relevant settings.
///
/// # Errors
/// Errors of the server.
pub fn describe(client: &mut Client, address: &Address) -> Result<Vec<Fact>> {
    let mut facts = vec![
        ("client's machine", machine()),
        (
            "connection",
            if address.socket {
                "Unix socket".to_owned()
            } else {
                "TCP".to_owned()
            },
        ),
    ];
    let row = client.query_one(
        "SELECT split_part(version(), ' on ', 1), (SELECT extversion FROM pg_extension WHERE extname = 'vector'), \
             (SELECT extversion FROM pg_extension WHERE extname = 'reground'), \
             (SELECT string_agg(name || ' ' || current_setting(name), ', ' ORDER BY name) FROM pg_settings \
              WHERE name IN ('shared_buffers', 'fsync', 'synchronous_commit', 'jit', 'wal_level'))",
        &[],
    )?;
    let names = ["server", "pgvector", "reground", "settings"];
    for (index, name) in names.into_iter().enumerate() {
        facts.push((name, row.get(index)));
    }
    Ok(facts)
}

/// Processor, cores and memory, from /proc.
fn machine() -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        text.lines()
            .find(|line| line.starts_with(name))
            .and_then(|line| line.split_once(':'))
            .map(|(_, value)| value.trim().to_owned())
    };
    let processor = field(&read("/proc/cpuinfo"), "model name");
    let memory = field(&read("/proc/meminfo"), "MemTotal")
        .and_then(|value| value.split_whitespace().next()?.parse::<f64>().ok())
        .map_or_else(String::new, |kib| format!(", {:.0} GiB", kib / 1_048_576.0));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{} cores of {}{memory}",
        cores,
        processor.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
    )
}
