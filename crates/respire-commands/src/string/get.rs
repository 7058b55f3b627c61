//! `GET key`: returns the value of a key, as in Redis.

use crate::Ctx;
use crate::value::{reply_held, reply_uncopied, string_if_any};
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};

pub(super) static GET: Spec = Spec {
    name: "get",
    summary: "Get the value of a key",
    group: Group::String,
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0)],
    examples: &[
        ("GET k", "$-1\r\n"),
        ("SET k v", "+OK\r\n"),
        ("GET k", "$1\r\nv\r\n"),
        (
            "GET k x",
            "-ERR wrong number of arguments for 'get' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn get(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let is_replied = ctx.read(&args[0], |entry| {
        string_if_any(entry).map(|string| reply_uncopied(reply, string))
    })?;
    if is_replied {
        return Ok(());
    }
    ctx.view.update(&args[0], |slot| reply_held(reply, slot))
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn get_returns_a_large_value_as_last_edited() {
        let mut client = Client::new();
        let mut expected = vec![b'0'; 200_000];
        client.send("SETRANGE k 199999 0");
        expected[..199_999].fill(0);
        for nth in 0..4_u8 {
            let digit = b'1' + nth;
            let at = usize::from(nth) * 50_000;
            client.send(&format!("SETRANGE k {at} {}", char::from(digit)));
            expected[at] = digit;
            client.send(&format!("APPEND k {}", char::from(digit)));
            expected.push(digit);
            let value = String::from_utf8_lossy(&expected).into_owned();
            let reply = format!("${}\r\n{value}\r\n", expected.len());
            assert!(client.send("GET k") == reply);
            assert!(client.send("GET k") == reply, "and again");
            client.check(&[("MULTI", "+OK\r\n"), ("GET k", "+QUEUED\r\n")]);
            assert!(client.send("EXEC") == format!("*1\r\n{reply}"));
            client.send("COPY k copy");
            client.send("RENAME copy other");
            assert!(client.send("GET other") == reply);
            client.check(&[("DEL other", ":1\r\n")]);
        }
    }

    #[test]
    fn get_of_a_large_edited_value_does_not_change_it() {
        let mut client = Client::new();
        client.check(&[
            ("SETRANGE k 99999 x", ":100000\r\n"),
            ("WATCH k", "+OK\r\n"),
        ]);
        let memory = client.send("MEMORY USAGE k");
        client.send("GET k");
        assert_eq!(client.send("MEMORY USAGE k"), memory);
        client.check(&[("MULTI", "+OK\r\n"), ("PING", "+QUEUED\r\n")]);
        assert_eq!(client.send("EXEC"), "*1\r\n+PONG\r\n");
    }
}
