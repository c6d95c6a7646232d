//! `reground-worker`: runs the tasks of reground's queue.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use reground_worker::apis::Apis;
use reground_worker::apis::local::Local;
use reground_worker::batch::Runner;
use reground_worker::check::check;
use reground_worker::config::Config;
use reground_worker::database::Database;
use reground_worker::database::connection::Target;
use reground_worker::database::lane::Worker;
use reground_worker::http::{Http, tls};
use reground_worker::limits::Limits;
use reground_worker::metrics::Metrics;
use reground_worker::registry::Registry;
use reground_worker::server::{self, Served};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Running calls may end within this time after SIGTERM.
const GRACE: Duration = Duration::from_secs(20);

const HELP: &str = "\
reground-worker runs the tasks of reground's queue: embeddings, rerankers, judges.

Usage: reground-worker [--once | --check | --help | --version]

  --once     work until nothing is left, then exit; the exit code is 1 if tasks failed
  --check    connect, list the models and call each one once; the exit code is 1 if something fails

Variables (in the TOML file that REGROUND_CONFIG names: in lower case without REGROUND_, keys under [keys]):
  REGROUND_DATABASES       URIs of the databases, separated by white space
  REGROUND_MODELS          folder of the local models
  REGROUND_LISTEN          address of /metrics, /healthz and /v1/embeddings, for example 127.0.0.1:8085
  REGROUND_LISTEN_TOKEN    bearer token of /v1/embeddings; required unless the address is a loopback address
  REGROUND_ALLOW_PRIVATE   hosts, addresses or networks (CIDR) that may be private addresses
  REGROUND_KEY_NAME        the key NAME; REGROUND_KEY_NAME_FILE names a file that contains it
  REGROUND_KEY_NAME_HOSTS  the only hosts that the key NAME is sent to, * for all; by default the hosts of OpenAI,
                           Anthropic and Cohere, and the private addresses above
  REGROUND_LOG             error, warn, info (default) or debug
";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Serve,
    Once,
    Check,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mode = match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => Mode::Serve,
        (Some("--once"), None) => Mode::Once,
        (Some("--check"), None) => Mode::Check,
        (Some("--help" | "-h"), None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        (Some("--version" | "-V"), None) => {
            println!("reground-worker {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    start_log();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("reground-worker: {error}");
            return ExitCode::from(2);
        }
    };
    let ended = runtime.block_on(run(mode));
    // A local model may still compute; its task was handed back.
    runtime.shutdown_timeout(Duration::from_millis(100));
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("reground-worker: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Only our own events are logged, because those of the libraries can contain texts.
fn start_log() {
    let level = std::env::var("REGROUND_LOG").ok();
    let level = level
        .and_then(|level| level.parse::<LevelFilter>().ok())
        .unwrap_or(LevelFilter::INFO);
    tracing_subscriber::registry()
        .with(tracing_subscriber::fmt::layer().json().flatten_event(true))
        .with(Targets::new().with_target("reground_worker", level))
        .init();
}

/// Returns whether everything succeeded.
async fn run(mode: Mode) -> anyhow::Result<bool> {
    let variables: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let config = Config::load(&variables).context("configuration")?;
    let targets = config
        .databases
        .iter()
        .map(Target::new)
        .collect::<Result<Vec<_>, _>>()?;
    let https = tls::https().context("TLS")?;
    let http = Http::new(config.allowed, config.keys, &https).context("HTTP client")?;
    let runner = Runner {
        apis: Apis {
            http,
            local: Local::new(config.models),
        },
        limits: Limits::default(),
        metrics: Arc::new(Metrics::new().context("metrics")?),
    };
    if mode == Mode::Check {
        let mut works = true;
        for target in &targets {
            works &= check(target, &runner).await;
        }
        return Ok(works);
    }
    let (stop, kill) = (CancellationToken::new(), CancellationToken::new());
    let worker = Arc::new(Worker {
        name: worker_name(&variables),
        runner,
        tally: Default::default(),
        once: mode == Mode::Once,
        kill: kill.clone(),
    });
    let registry = Arc::new(Registry::default());
    tokio::spawn(stop_on_signals(stop.clone(), kill));
    let server = config.listen.filter(|_| mode == Mode::Serve).map(|listen| {
        let served = Arc::new(Served {
            worker: Arc::clone(&worker),
            registry: Arc::clone(&registry),
            token: config.listen_token,
        });
        tokio::spawn(server::serve(listen, served, stop.clone()))
    });
    let mut databases = JoinSet::new();
    for target in targets {
        let database = Database::new(
            Arc::clone(&worker),
            Arc::clone(&registry),
            target,
            stop.clone(),
        );
        databases.spawn(async move {
            if mode == Mode::Once {
                database.serve_once().await
            } else {
                database.serve().await;
                Ok(())
            }
        });
    }
    if let Some(server) = server {
        // The server ends with `stop`, or at once if it cannot listen.
        let ended = server.await.context("server")?;
        if ended.is_err() {
            stop.cancel();
        }
        ended.context("cannot listen")?;
    }
    while let Some(ended) = databases.join_next().await {
        ended.context("database")??;
    }
    Ok(mode == Mode::Serve || worker.tally.failed() == 0)
}

/// Returns a name that distinguishes this process from others.
fn worker_name(variables: &BTreeMap<String, String>) -> String {
    let host = variables
        .get("HOSTNAME")
        .cloned()
        .or_else(|| std::fs::read_to_string("/etc/hostname").ok())
        .unwrap_or_default();
    format!("{}:{}", host.trim(), std::process::id())
}

/// Stops claiming at the first signal. Running calls end at the end of the grace period, or at a second signal.
async fn stop_on_signals(stop: CancellationToken, kill: CancellationToken) {
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        tracing::warn!("signals are not handled");
        return;
    };
    tokio::select! { _ = terminate.recv() => {} _ = interrupt.recv() => {} }
    tracing::info!("stops");
    stop.cancel();
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        () = tokio::time::sleep(GRACE) => {}
    }
    kill.cancel();
}
