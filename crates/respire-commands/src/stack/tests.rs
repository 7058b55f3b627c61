//! Tests every command on keys with a value that is not a string.

use crate::key::testing::Client;
use crate::unlocked::tests::send_and_write_meanwhile;
use std::time::Duration;

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";

/// Creates a server with a stack of this many elements of 20 bytes at the key `k`.
fn with_stack(elements: usize) -> Client {
    let mut client = Client::new();
    for part in (0..elements).collect::<Vec<_>>().chunks(1_000) {
        let part: Vec<String> = part.iter().map(|it| format!("{it:020}")).collect();
        client.send(&format!("STACK.PUSH k {}", part.join(" ")));
    }
    client
}

fn int(reply: &str) -> usize {
    let text = reply.trim_start_matches(':').trim_end();
    text.parse().expect("an integer")
}

/// The payload of `k`, in the quoting of redis-cli.
fn dump(client: &mut Client) -> String {
    let reply = client.send_for_output("DUMP k").to_vec();
    let (_, payload) = reply.split_at(
        reply
            .iter()
            .position(|byte| *byte == b'\n')
            .expect("a line")
            + 1,
    );
    let bytes = payload[..payload.len() - 2].iter();
    format!(
        "\"{}\"",
        bytes
            .map(|byte| format!("\\x{byte:02x}"))
            .collect::<String>()
    )
}

#[test]
fn type_encoding_and_scan_report_a_stack() {
    let mut client = with_stack(3);
    client.check(&[
        ("SET s 1", "+OK\r\n"),
        ("TYPE k", "+stack\r\n"),
        ("OBJECT ENCODING k", "$5\r\nstack\r\n"),
        ("OBJECT REFCOUNT k", ":1\r\n"),
        (
            "SCAN 0 COUNT 1000 TYPE stack",
            "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nk\r\n",
        ),
        (
            "SCAN 0 COUNT 1000 TYPE string",
            "*2\r\n$1\r\n0\r\n*1\r\n$1\r\ns\r\n",
        ),
    ]);
}

#[test]
fn string_commands_refuse_a_stack_and_do_not_change_it() {
    let mut client = with_stack(3);
    for request in [
        "GET k",
        "APPEND k x",
        "INCR k",
        "SETRANGE k 0 x",
        "STRLEN k",
        "GETRANGE k 0 -1",
        "SETBIT k 1 1",
        "GETSET k x",
        "GETDEL k",
        "GETEX k",
        "BITCOUNT k",
        "BITOP NOT d k",
        "INCRBYFLOAT k 1",
        "BITFIELD k SET u8 0 1",
        "SET k x GET",
        "SET k x IFEQ x",
        "SET k x IFNE x",
        "SET k x IFNE x GET",
        "DELEX k IFEQ x",
        "DELEX k IFNE x",
        "DELIFEQ k x",
    ] {
        assert_eq!(client.send(request), WRONG_TYPE, "{request}");
    }
    client.check(&[
        ("STACK.LEN k", ":3\r\n"),
        ("MGET k", "*1\r\n$-1\r\n"),
        ("SET k x", "+OK\r\n"),
        ("DEL k", ":1\r\n"),
        ("STACK.PUSH k x", ":1\r\n"),
        ("DELEX k", ":1\r\n"),
    ]);
}

#[test]
fn dumped_stack_is_restored() {
    for elements in [1, 3, 500] {
        let mut client = with_stack(elements);
        let digest = client.send("DEBUG DIGEST-VALUE k");
        let payload = dump(&mut client);
        client.check(&[
            (&format!("RESTORE copy 0 {payload}"), "+OK\r\n"),
            ("DEBUG DIGEST-VALUE copy", &digest),
            (&format!("RESTORE copy 5000 {payload} REPLACE"), "+OK\r\n"),
            ("PTTL copy", ":5000\r\n"),
            ("STACK.LEN copy", &format!(":{elements}\r\n")),
        ]);
        let last = elements - 1;
        client.check(&[("STACK.POP copy", &format!("$20\r\n{last:020}\r\n"))]);
        assert_ne!(client.send("DEBUG DIGEST-VALUE k copy"), digest);
    }
}

#[test]
fn restore_refuses_a_malformed_stack() {
    use crate::rdb::tests::payload;
    let mut client = Client::new();
    // No element, fewer elements than counted, and a count beyond the payload.
    for body in [
        &b"\xc8\x00"[..],
        b"\xc8\x02\x01a",
        b"\xc8\x81\xff\xff\xff\xff\xff\xff\xff\xff\x01a",
    ] {
        let bytes = payload(body, 10);
        let quoted: String = bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect();
        let request = format!("RESTORE k 0 \"{quoted}\"");
        client.check(&[(&request, "-ERR Bad data format\r\n")]);
    }
}

#[test]
fn copy_rename_and_move_keep_the_elements() {
    with_stack(100).check(&[
        ("COPY k c", ":1\r\n"),
        ("STACK.PUSH c more", ":101\r\n"),
        ("STACK.LEN k", ":100\r\n"),
        ("RENAME k r", "+OK\r\n"),
        ("MOVE r 3", ":1\r\n"),
        ("EXISTS k r", ":0\r\n"),
        ("SELECT 3", "+OK\r\n"),
        ("STACK.LEN r", ":100\r\n"),
    ]);
}

#[test]
fn digest_and_object_depend_on_the_elements() {
    let mut client = with_stack(3);
    let of_three = client.send("DEBUG DIGEST");
    client.send("STACK.POP k");
    assert_ne!(client.send("DEBUG DIGEST"), of_three);
    let object = client.send("DEBUG OBJECT k");
    // A length, and two strings of 20 bytes.
    assert!(
        object.contains("encoding:stack serializedlength:43 "),
        "{object}"
    );
}

#[test]
fn memory_usage_grows_with_the_elements() {
    let mut client = with_stack(0);
    let empty = client.send("MEMORY STATS");
    let mut before = 0;
    for _ in 0..10 {
        let part = vec!["x".repeat(100); 100].join(" ");
        client.send(&format!("STACK.PUSH k {part}"));
        let usage = int(&client.send("MEMORY USAGE k"));
        assert!(
            (before + 10_000..before + 16_000).contains(&usage),
            "{usage}"
        );
        before = usage;
    }
    client.check(&[("DEL k", ":1\r\n")]);
    let dataset = |stats: &str| {
        stats
            .split("dataset.bytes")
            .nth(1)
            .map(|rest| rest.split("\r\n").nth(1).map(str::to_owned))
    };
    assert_eq!(dataset(&client.send("MEMORY STATS")), dataset(&empty));
}

#[test]
fn stack_expires_and_is_evicted() {
    let mut client = with_stack(10);
    client.check(&[("PEXPIRE k 10", ":1\r\n")]);
    client.advance(Duration::from_millis(10));
    client.check(&[("STACK.PUSH k new", ":1\r\n"), ("PTTL k", ":-1\r\n")]);
    client.tune(|tuning| {
        tuning.memory_bytes_max = 1;
        tuning.policy = respire_store::Policy::AllKeysLru;
    });
    // Eviction precedes the command, which then finds no key.
    assert!(client.send("STACK.PUSH k new").starts_with("-OOM"));
    client.check(&[("EXISTS k", ":0\r\n")]);
}

#[test]
fn every_command_that_removes_a_large_stack_frees_it_in_steps() {
    for request in [
        "DEL k",
        "UNLINK k",
        "SET k x",
        "COPY other k REPLACE",
        "RENAME other k",
        "GETSET k x",
        "PEXPIRE k -1",
    ] {
        let mut client = with_stack(30_000);
        client.send("SET other 1");
        let refused = client.send(request).starts_with('-');
        let pending = client.engine().app().store().memory().pending_keys;
        assert_eq!(pending, usize::from(!refused), "{request}");
        assert_eq!(refused, request == "GETSET k x");
        let mut steps = 1;
        while !client.engine().app().store().sweep(0, 1).finished {
            steps += 1;
        }
        assert!(refused || steps > 100, "{request}: {steps}");
    }
}

#[test]
fn key_is_not_locked_during_long_work_on_its_stack() {
    for request in ["DUMP k", "DEBUG OBJECT k", "DEBUG DIGEST-VALUE k"] {
        let mut client = with_stack(30_000);
        let push = || "STACK.PUSH k meanwhile".to_owned();
        let (reply, is_unlocked) = send_and_write_meanwhile(&mut client, request, push);
        assert!(!reply.starts_with('-'), "{request}");
        assert_eq!(is_unlocked, [true], "{request}");
        client.check(&[("STACK.LEN k", ":30001\r\n")]);
    }
}

#[test]
fn stack_works_with_watch_and_transactions() {
    let mut client = with_stack(2);
    let mut other = client.other();
    client.check(&[
        ("WATCH k", "+OK\r\n"),
        ("MULTI", "+OK\r\n"),
        ("STACK.POP k", "+QUEUED\r\n"),
    ]);
    other.check(&[("STACK.PUSH k more", ":3\r\n")]);
    client.check(&[
        ("EXEC", "*-1\r\n"),
        ("MULTI", "+OK\r\n"),
        ("STACK.POP k", "+QUEUED\r\n"),
        ("STACK.LEN k", "+QUEUED\r\n"),
        ("EXEC", "*2\r\n$4\r\nmore\r\n:2\r\n"),
    ]);
}

#[test]
fn sort_orders_elements_by_number_text_or_other_keys() {
    let array = |elements: &[&str]| {
        let bulk = |text: &&str| format!("${}\r\n{text}\r\n", text.len());
        format!(
            "*{}\r\n{}",
            elements.len(),
            elements.iter().map(bulk).collect::<String>()
        )
    };
    let mut client = Client::new();
    client.send("STACK.PUSH k 3 10 -1 2.5 10");
    client.send("MSET w_3 a w_10 c w_-1 b n_3 1 n_10 -5 v_3 three v_10 ten");
    client.send("STACK.PUSH f_3 x y");
    for (options, expected) in [
        ("", &["-1", "2.5", "3", "10", "10"][..]),
        ("DESC", &["10", "10", "3", "2.5", "-1"]),
        ("ALPHA", &["-1", "10", "10", "2.5", "3"]),
        ("ALPHA DESC LIMIT 1 2", &["2.5", "10"]),
        ("LIMIT -3 2", &["-1", "2.5"]),
        ("LIMIT 3 -1", &["10", "10"]),
        ("LIMIT 9 1", &[]),
        // Absent keys come first as texts, and count as 0.
        ("BY w_* ALPHA", &["2.5", "3", "-1", "10", "10"]),
        ("BY n_*", &["10", "10", "-1", "2.5", "3"]),
        ("BY nosort", &["3", "10", "-1", "2.5", "10"]),
        ("BY nosort DESC LIMIT 1 2", &["2.5", "-1"]),
        ("BY n_* LIMIT 0 1 GET #", &["10"]),
    ] {
        for name in ["SORT", "SORT_RO"] {
            let request = format!("{name} k {options}");
            assert_eq!(client.send(&request), array(expected), "{request}");
        }
    }
    client.check(&[
        ("SORT k BY w_*", "-ERR One or more scores can't be converted into double\r\n"),
        (
            "SORT k LIMIT 2 2 GET # GET v_* GET f_*->1 GET v GET f_* GET v_*->1",
            "*12\r\n$1\r\n3\r\n$5\r\nthree\r\n$1\r\ny\r\n$-1\r\n$-1\r\n$-1\r\n$2\r\n10\r\n$3\r\nten\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n",
        ),
        ("SORT k STORE d", ":5\r\n"),
        ("RPOP d", "$2\r\n10\r\n"),
        ("SORT k GET v_* LIMIT 1 2 STORE d", ":2\r\n"),
        ("RPOP d", "$5\r\nthree\r\n"),
        ("RPOP d", "$0\r\n\r\n"),
        ("SET d 1", "+OK\r\n"),
        ("SORT k LIMIT 9 9 STORE d", ":0\r\n"),
        ("EXISTS d", ":0\r\n"),
        ("MULTI", "+OK\r\n"),
        ("SORT k BY n_* LIMIT 0 1 GET v_*", "+QUEUED\r\n"),
        ("EXEC", "*1\r\n*1\r\n$3\r\nten\r\n"),
    ]);
}

#[test]
fn notifications_report_push_pop_and_removal() {
    let mut client = Client::new();
    client.check(&[("CONFIG SET notify-keyspace-events KEA", "+OK\r\n")]);
    let mut other = client.other();
    other.send("PSUBSCRIBE __keyspace@0__:k");
    client.send("STACK.PUSH k a");
    client.send("STACK.POP k");
    client.send("STACK.POP k");
    let received = other.poll();
    let events: Vec<&str> = received
        .split("\r\n")
        .filter(|line| ["stack.push", "stack.pop", "del"].contains(line))
        .collect();
    assert_eq!(events, ["stack.push", "stack.pop", "del"], "{received}");
}

#[test]
fn blocked_client_gets_the_element_that_another_pushes() {
    let mut client = Client::new();
    let (mut first, mut second) = (client.other(), client.other());
    first.check(&[("STACK.BPOP a b 0", "")]);
    second.check(&[("STACK.BPOP b 0.5", "")]);
    assert_eq!(
        int_after("blocked_clients:", &client.send("INFO clients")),
        2
    );
    client.check(&[("STACK.PUSH b x y z", ":3\r\n"), ("STACK.LEN b", ":1\r\n")]);
    assert_eq!(first.poll(), "*2\r\n$1\r\nb\r\n$1\r\nz\r\n");
    assert_eq!(second.poll(), "*2\r\n$1\r\nb\r\n$1\r\ny\r\n");
    client.check(&[
        ("STACK.BPOP a b 0", "*2\r\n$1\r\nb\r\n$1\r\nx\r\n"),
        ("SET b string", "+OK\r\n"),
        ("STACK.BPOP a b 0", WRONG_TYPE),
        ("STACK.BPOP a -1", "-ERR timeout is negative\r\n"),
        ("STACK.BPOP a 1e300", "-ERR timeout is negative\r\n"),
        (
            "STACK.BPOP a x",
            "-ERR timeout is not a float or out of range\r\n",
        ),
        (
            "STACK.BPOP a nan",
            "-ERR timeout is not a float or out of range\r\n",
        ),
    ]);
}

fn int_after(name: &str, text: &str) -> usize {
    let rest = text.split(name).nth(1).and_then(|rest| rest.lines().next());
    rest.and_then(|number| number.parse().ok())
        .expect("a number")
}

#[test]
fn blocked_client_gets_null_after_the_timeout_and_nothing_is_taken_for_it() {
    let mut client = Client::new();
    let mut waiting = client.other();
    for (request, nothing) in [
        ("STACK.BPOP k 0.0101", "*-1\r\n"),
        ("STACK.BMOVE k l 0.0101", "$-1\r\n"),
    ] {
        waiting.check(&[(request, "")]);
        waiting.advance(Duration::from_millis(10));
        assert_eq!(waiting.poll(), "");
        waiting.advance(Duration::from_millis(1));
        assert_eq!(waiting.poll(), nothing);
    }
    client.check(&[("STACK.PUSH k x", ":1\r\n"), ("STACK.LEN k", ":1\r\n")]);
}

#[test]
fn nothing_is_taken_for_a_client_that_left_or_was_unblocked() {
    let mut client = Client::new();
    let (mut left, mut unblocked, mut stays) = (client.other(), client.other(), client.other());
    let id = unblocked.send("CLIENT ID");
    left.check(&[("STACK.BPOP k 0", "")]);
    unblocked.check(&[("STACK.BPOP k 0", "")]);
    stays.check(&[("STACK.BPOP j k 0", "")]);
    drop(left);
    client.check(&[
        (
            &format!("CLIENT UNBLOCK {}", id.trim_matches([':', '\r', '\n'])),
            ":1\r\n",
        ),
        ("STACK.PUSH k x", ":1\r\n"),
    ]);
    assert_eq!(unblocked.poll(), "*-1\r\n");
    assert_eq!(stays.poll(), "*2\r\n$1\r\nk\r\n$1\r\nx\r\n");
    client.check(&[
        ("STACK.PUSH k y", ":1\r\n"),
        ("STACK.PUSH j y", ":1\r\n"),
        ("STACK.LEN k", ":1\r\n"),
    ]);
}

#[test]
fn blocked_moves_hand_an_element_on_and_report_a_wrong_destination() {
    let mut client = Client::new();
    let mut others: Vec<Client> = (0..5).map(|_| client.other()).collect();
    for (at, other) in others.iter_mut().enumerate() {
        other.check(&[(&format!("STACK.BMOVE k{at} k{} 0", at + 1), "")]);
    }
    client.check(&[
        ("STACK.PUSH k0 x", ":1\r\n"),
        ("STACK.LEN k5", ":1\r\n"),
        ("DBSIZE", ":1\r\n"),
    ]);
    for other in &mut others {
        assert_eq!(other.poll(), "$1\r\nx\r\n");
    }
    others[0].check(&[("STACK.BMOVE a s 0", "")]);
    client.check(&[
        ("SET s 1", "+OK\r\n"),
        ("STACK.PUSH a x", ":1\r\n"),
        ("STACK.LEN a", ":1\r\n"),
    ]);
    assert_eq!(others[0].poll(), WRONG_TYPE);
}

#[test]
fn command_does_not_wait_in_a_transaction_and_transactions_serve_at_their_end() {
    let mut client = Client::new();
    let mut waiting = client.other();
    waiting.check(&[("STACK.BPOP k 0", "")]);
    client.check(&[
        ("MULTI", "+OK\r\n"),
        ("STACK.BPOP l 0", "+QUEUED\r\n"),
        ("STACK.BMOVE l k 0", "+QUEUED\r\n"),
        ("STACK.PUSH k x y", "+QUEUED\r\n"),
        ("STACK.POP k", "+QUEUED\r\n"),
        ("STACK.LEN k", "+QUEUED\r\n"),
        ("EXEC", "*5\r\n*-1\r\n$-1\r\n:2\r\n$1\r\ny\r\n:1\r\n"),
        ("STACK.LEN k", ":0\r\n"),
    ]);
    assert_eq!(waiting.poll(), "*2\r\n$1\r\nk\r\n$1\r\nx\r\n");
}

#[test]
fn rename_move_copy_and_restore_serve_those_who_wait() {
    let mut client = with_stack(1);
    let payload = dump(&mut client);
    let mut waiting = client.other();
    let restore = format!("RESTORE w 0 {payload}");
    client.send("MOVE k 3");
    for requests in [
        &["STACK.PUSH j x", "RENAME j w"][..],
        &["STACK.PUSH j x", "COPY j w", "DEL j"],
        &["SELECT 1", "STACK.PUSH w x", "MOVE w 0", "SELECT 0"],
        &["SELECT 1", "STACK.PUSH w x", "SWAPDB 0 1", "SELECT 0"],
        &[&restore],
    ] {
        waiting.check(&[("STACK.BPOP w 0", "")]);
        requests.iter().for_each(|request| _ = client.send(request));
        assert!(
            waiting.poll().starts_with("*2\r\n$1\r\nw\r\n"),
            "{requests:?}"
        );
        client.check(&[("STACK.LEN w", ":0\r\n")]);
    }
}
