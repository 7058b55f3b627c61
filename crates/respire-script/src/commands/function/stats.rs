//! `FUNCTION STATS`, `FUNCTION KILL`: the function that runs.

use super::FUNCTION;
use crate::run::BUSY_SCRIPT;
use crate::running::Kill;
use crate::scripts::Scripts;
use respire_engine::{App, ArgList, Arity, Cx, Error, Flags, Reply, Spec};
use std::sync::Arc;

pub(super) static STATS: Spec = Spec {
    name: "function|stats",
    summary: "Return information about the function currently running (name, description, \
              duration)",
    complexity: "O(1)",
    arity: Arity::exactly(2),
    flags: Flags::NOSCRIPT.with(Flags::ALLOW_BUSY),
    tips: &[
        "nondeterministic_output",
        "request_policy:all_shards",
        "response_policy:special",
    ],
    examples: &[(
        "FUNCTION STATS",
        "*4\r\n$14\r\nrunning_script\r\n$-1\r\n$7\r\nengines\r\n*2\r\n$3\r\nLUA\r\n*4\r\n\
         $15\r\nlibraries_count\r\n:0\r\n$15\r\nfunctions_count\r\n:0\r\n",
    )],
    ..FUNCTION
};

pub(super) static KILL: Spec = Spec {
    name: "function|kill",
    summary: "Kill the function currently in execution.",
    complexity: "O(1)",
    arity: Arity::exactly(2),
    flags: Flags::NOSCRIPT.with(Flags::ALLOW_BUSY),
    tips: &["request_policy:all_shards", "response_policy:one_succeeded"],
    examples: &[(
        "FUNCTION KILL",
        "-NOTBUSY No scripts in execution right now.\r\n",
    )],
    ..FUNCTION
};

/// Shows the function that has been running for the longest time: several may, on as many threads.
pub(super) fn stats<A: App>(
    scripts: &Arc<Scripts>,
    cx: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply.map(2);
    reply.bulk("running_script");
    match scripts.running.oldest_function() {
        Some(run) => {
            let now_ns = cx.engine().host().stopwatch_ns();
            let duration_ms = now_ns.saturating_sub(run.began_ns) / 1_000_000;
            reply.map(3);
            reply.bulk("name");
            reply.bulk(&run.name);
            reply.bulk("command");
            reply.array(run.command.len());
            run.command.iter().for_each(|arg| reply.bulk(arg));
            reply.bulk("duration_ms");
            reply.int(duration_ms as i64);
        }
        None => reply.null(),
    }
    let table = scripts.libraries.table();
    reply.bulk("engines");
    reply.map(1);
    reply.bulk("LUA");
    reply.map(2);
    reply.bulk("libraries_count");
    reply.int(table.libraries().len() as i64);
    reply.bulk("functions_count");
    reply.int(table.function_count() as i64);
    Ok(())
}

pub(super) fn kill<A: App>(
    scripts: &Arc<Scripts>,
    _: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    scripts.running.kill(true).into_reply(BUSY_SCRIPT)?;
    reply.ok();
    Ok(())
}

impl Kill {
    /// What the client is told; `other_kind` if only scripts run and a function was to end, or the
    /// other way round.
    ///
    /// # Errors
    /// If nothing is ended.
    pub(in crate::commands) fn into_reply(self, other_kind: Error) -> Result<(), Error> {
        match self {
            Self::Done => Ok(()),
            Self::NotBusy => Err(Error::fixed("NOTBUSY No scripts in execution right now.")),
            Self::OtherKind => Err(other_kind),
            Self::HasWritten => Err(Error::fixed(
                "UNKILLABLE Sorry the script already executed write commands against the dataset. \
                 You can either wait the script termination or kill the server in a hard way using \
                 the SHUTDOWN NOSAVE command.",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::{client_of, load};
    use crate::running::Run;
    use respire_engine::Null;
    use std::sync::atomic::Ordering;

    #[test]
    fn running_function_is_shown_and_killed() {
        let (mut client, scripts) = client_of();
        load(
            &mut client,
            "redis.register_function('f', function() return 1 end)",
        );
        let run = |is_function, name: &str, began_ns| Run {
            name: name.to_owned(),
            command: vec![b"FCALL".to_vec(), name.into(), b"0".to_vec()],
            is_function,
            is_killed: false.into(),
            has_written: false.into(),
            began_ns,
        };
        let script = scripts.running.add(run(false, "script", 0));
        let stats = client.call("FUNCTION STATS");
        assert_eq!(stats.get("running_script"), Null);
        assert_eq!(stats.get("engines").get("LUA").get("functions_count"), 1);
        assert!(client.call("FUNCTION KILL").error().starts_with("BUSY "));
        let late = scripts.running.add(run(true, "late", 2));
        let early = scripts.running.add(run(true, "early", 1));
        let stats = client.call("FUNCTION STATS");
        assert_eq!(stats.get("running_script").get("name"), "early");
        assert_eq!(stats.get("running_script").get("command").at(0), "FCALL");
        late.has_written.store(true, Ordering::Relaxed);
        assert_eq!(client.call("FUNCTION KILL").raw(), b"+OK\r\n");
        assert!(early.is_killed.load(Ordering::Relaxed));
        assert!(!script.is_killed.load(Ordering::Relaxed));
        scripts.running.remove(&early);
        let written = client.call("FUNCTION KILL");
        assert!(written.error().starts_with("UNKILLABLE "));
        assert!(client.call("SCRIPT KILL").raw() == b"+OK\r\n");
    }
}
