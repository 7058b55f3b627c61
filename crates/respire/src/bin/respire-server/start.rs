//! Starts the server from its flags, and runs it until it stops.

use crate::console;
use crate::data::Data;
#[cfg(feature = "explorer")]
use crate::explorer::Explorer;
use crate::failed::Failed;
use crate::file::Given;
use crate::flags::Flags;
use crate::logging;
use crate::reload::{Hangups, Reload};
use crate::rows::rows;
use respire::commands::Kv;
use respire::disk::{Disk, Values};
use respire::engine::{Engine, Options, Setting};
#[cfg(feature = "metrics")]
use respire::net::metrics::MetricsListener;
use respire::net::{Config, Facts, Line, Listeners, Process, check_protected_mode, clock, process};
use respire::serve::Shutdown;
use respire::store::{self, Store};
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;

/// Runs the server until it is stopped.
pub(crate) fn run(given: Given, arguments: Vec<OsString>) -> Result<(), Failed> {
    let hangups = Hangups::catch()?;
    let flags = &given.flags;
    let log_level = logging::install(flags.log_level).map_err(io::Error::other)?;
    log_configuration(&given);
    let config = flags.to_config();
    let password = flags.requirepass.as_deref().unwrap_or_default();
    check_protected_mode(&config, !password.is_empty())?;
    check_capacity(flags.capacity)?;
    let clients_max = process::raise_descriptor_limit(flags.maxclients);
    #[cfg(feature = "explorer")]
    let (explorer, tap) = Explorer::bind(flags)?;
    let listeners = Listeners::bind(&config)?;
    #[cfg(feature = "metrics")]
    let metrics = bind_metrics(flags)?;
    let shutdown = Shutdown::on_signals()?;
    #[cfg(feature = "mimalloc")]
    crate::memory::return_freed_memory()?;

    let facts = facts(flags, &config, &listeners);
    // The process measures its memory without data, so create the store first.
    let kv = Kv::new(store(flags));
    let host = Arc::new(Process::new(
        facts.clone(),
        shutdown.clone(),
        given.file.clone(),
    ));
    let mut rows = rows(flags, &config);
    rows.push(log_level);
    let disk = Disk::new(Values::default());
    let engine = engine(kv, &disk, &host, rows);
    host.set_defaults(defaults(engine.settings()));
    configure(engine.settings(), flags, clients_max, &given.settings)
        .map_err(|error| Failed::Wrong(error.to_string()))?;
    engine.tunables().set_password(password.as_bytes());
    disk.attach(&engine);

    hangups.follow(Reload::new(&engine, arguments, &given))?;

    #[cfg(feature = "metrics")]
    let _metrics = match metrics {
        Some(listener) => {
            tracing::info!("metrics on http://{}/metrics", listener.address());
            Some(listener.serve(Arc::clone(&engine))?)
        }
        None => None,
    };
    #[cfg(feature = "explorer")]
    let _explorer = explorer
        .map(|explorer| explorer.serve(&engine, facts.flavour))
        .transpose()?;
    log_start(&facts);
    let unix_socket = config.unix_socket.clone();
    #[cfg(feature = "explorer")]
    let config = Config { tap, ..config };
    let data = Data::open(&disk, &engine, flags.load.clone(), &shutdown)?;
    let report = flags.flavour().serve(listeners, engine, config, shutdown)?;
    data.close(&disk)?;
    if let Some(path) = unix_socket {
        // If the file stays, the next start only has to check it.
        let _ = std::fs::remove_file(path);
    }
    tracing::info!(
        "stopped: {} connections served, {} refused, {} cut",
        report.accepted,
        report.refused,
        report.cut
    );
    Ok(())
}

fn log_configuration(given: &Given) {
    if let Some(file) = &given.file {
        tracing::info!("configured by {}", file.path().display());
    }
    for warning in &given.warnings {
        tracing::warn!("{warning}");
    }
}

fn log_start(facts: &Facts) {
    tracing::info!(
        "Respire {} ({}, {} {}) listens on {}, pid {}",
        env!("CARGO_PKG_VERSION"),
        facts.flavour,
        facts.threads,
        if facts.threads == 1 {
            "thread"
        } else {
            "threads"
        },
        facts.listens,
        std::process::id(),
    );
}

#[cfg(feature = "metrics")]
fn bind_metrics(flags: &Flags) -> Result<Option<MetricsListener>, Failed> {
    let Some(address) = flags
        .metrics
        .as_deref()
        .filter(|address| !address.is_empty())
    else {
        return Ok(None);
    };
    let bound = MetricsListener::bind(address);
    bound.map(Some).map_err(|error| {
        let error = format!("cannot listen on {address} for --metrics: {error}");
        Failed::Start(io::Error::other(error))
    })
}

/// The least memory per key of `--capacity`: its slot in a table that is never quite full.
const SLOT_BYTES: u64 = 20;

/// Refuses a capacity that exceeds the memory of this machine. Allocating it would end the process,
/// or others.
fn check_capacity(capacity: usize) -> Result<(), Failed> {
    let bytes = (capacity as u64).saturating_mul(SLOT_BYTES);
    match process::total_memory_bytes() {
        Some(total) if bytes > total => Err(Failed::Wrong(format!(
            "--capacity {capacity} takes at least {} GB, and this machine has {} GB",
            bytes >> 30,
            total >> 30
        ))),
        _ => Ok(()),
    }
}

fn store(flags: &Flags) -> Store {
    Store::new(store::Config {
        databases: flags.databases,
        shards: flags.shards,
        capacity: flags.capacity,
        seed: random(),
        ..store::Config::default()
    })
}

fn engine(
    kv: Kv,
    disk: &Arc<Disk>,
    host: &Arc<Process>,
    settings: Vec<Setting>,
) -> Arc<Engine<Kv>> {
    let [high, low, ..] = random();
    let mut run_id = [0; 16];
    run_id[..8].copy_from_slice(&high.to_le_bytes());
    run_id[8..].copy_from_slice(&low.to_le_bytes());
    let host = Arc::clone(host);
    let options = Options {
        host,
        settings,
        run_id,
        ..Options::default()
    };
    Engine::new(console::router(kv, disk), options, clock::now())
}

/// The default values of `CONFIG`, so that `CONFIG REWRITE` writes only values that differ.
fn defaults(settings: &[Setting]) -> Vec<(String, String)> {
    let mut defaults = console::values(settings);
    let unset = Flags::defaults();
    for row in rows(&unset, &unset.to_config()) {
        if let Some(default) = defaults.iter_mut().find(|(name, _)| name == row.name()) {
            default.1 = row.get();
        }
    }
    defaults
}

/// Sets the values that the engine holds itself. The lines have been checked before.
fn configure(
    settings: &[Setting],
    flags: &Flags,
    clients_max: u32,
    lines: &[Line],
) -> io::Result<()> {
    console::set(settings, "maxclients", &clients_max.to_string())?;
    console::set(settings, "maxmemory", &flags.maxmemory.to_string())?;
    console::set(settings, "maxmemory-policy", &flags.maxmemory_policy)?;
    console::set(settings, "timeout", &flags.timeout.to_string())?;
    for (name, value) in flags.durability() {
        console::set(settings, name, &value)?;
    }
    for line in lines {
        console::set(settings, &line.key, &line.value)?;
    }
    Ok(())
}

fn facts(flags: &Flags, config: &Config, listeners: &Listeners) -> Facts {
    Facts {
        flavour: flags.flavour().name(),
        allocator: if cfg!(feature = "mimalloc") {
            "mimalloc"
        } else {
            "system"
        },
        threads: config.threads,
        port: config.port,
        listens: listeners.describe(),
    }
}

/// Random bits from the system, from which the standard library seeds its hasher.
fn random() -> [u64; 4] {
    std::array::from_fn(|at| RandomState::new().hash_one(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_differ() {
        assert_ne!(random(), random());
    }
}
