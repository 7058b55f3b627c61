//! Tests of the order and the bounds of deferred replies.

use super::*;

#[test]
fn requests_behind_a_pending_call_wait_for_its_reply() {
    let mut line = Line::new();
    assert_eq!(line.ask("PING|WAIT|PING|ECHO a|PING"), "+PONG|");
    assert_eq!(line.step, SessionStep::NeedInput);
    assert_eq!(line.poll(), "");
    assert!(line.next().reply("now"));
    assert_eq!(line.poll(), "$3|now|+PONG|$1|a|+PONG|");
}

#[test]
fn reply_is_sent_once_from_any_thread() {
    let mut line = Line::new();
    line.ask("WAIT");
    let later = line.next();
    std::thread::spawn(move || later.reply(7_i64))
        .join()
        .unwrap();
    assert_eq!(line.poll(), ":7|");
    assert_eq!(line.ask("PING"), "+PONG|");
}

#[test]
fn panics_become_error_replies_and_keep_the_connection_open() {
    let mut line = Line::new();
    assert_eq!(
        line.ask("LOSE|BREAK|SOON|BURST|PING"),
        "-ERR the command gave no reply|-ERR internal error|$4|soon|-ERR internal error|+PONG|"
    );
    line.ask("WAIT|PING");
    drop(line.next());
    assert_eq!(line.poll(), "-ERR the command gave no reply|+PONG|");
    for (name, failed) in [("lose", 1), ("break", 1), ("burst", 1), ("wait", 1)] {
        assert_eq!(line.stats(name), (1, failed), "{name}");
    }
    assert_eq!(
        line.ask("GETS"),
        "-ERR unknown command 'GETS', with args beginning with: |"
    );
}

#[test]
fn pipelined_calls_run_concurrently_and_answer_in_order() {
    let mut line = Line::new();
    assert_eq!(line.ask("PIPE|PING|PIPE|ECHO b|WAIT|PING"), "");
    assert_eq!(line.desk().waiting.lock().unwrap().len(), 3);
    assert!(line.nth(1).reply("second"));
    assert_eq!(line.poll(), "");
    assert!(line.nth(1).reply("third"));
    assert_eq!(line.poll(), "");
    assert!(line.next().reply("first"));
    assert_eq!(line.poll(), "$5|first|+PONG|$6|second|$1|b|$5|third|+PONG|");
}

#[test]
fn pipelined_calls_are_bounded_in_number() {
    let mut line = Line::with(Limits {
        pending_calls_max: 3,
        waiting_input_bytes_max: 100,
        ..Limits::DEFAULT
    });
    assert_eq!(line.ask("PIPE|PIPE|PIPE|PIPE|PING"), "");
    assert_eq!(line.desk().waiting.lock().unwrap().len(), 3);
    assert!(line.session.wants_input(&Output::new()));
    assert_eq!(line.send(&b"PING\r\n".repeat(20)), "");
    assert!(!line.session.wants_input(&Output::new()), "enough waits");
    line.next().reply(1_i64);
    assert_eq!(line.poll(), ":1|");
    assert_eq!(
        line.desk().waiting.lock().unwrap().len(),
        3,
        "the fourth runs"
    );
    for n in 2..=4 {
        line.next().reply(n as i64);
    }
    assert_eq!(line.poll(), format!(":2|:3|:4|{}", "+PONG|".repeat(21)));
    assert!(line.session.wants_input(&Output::new()));
}

#[test]
fn replies_behind_a_pending_call_are_bounded_in_bytes() {
    let mut line = Line::with(Limits {
        parked_bytes_max: 1000,
        output_bytes_max: 5000,
        ..Limits::DEFAULT
    });
    let word = "w".repeat(400);
    let request = format!("ECHO {word}");
    assert_eq!(line.ask(&["PIPE", &request, "PIPE"].join("|")), "");
    assert_eq!(line.ask(&[&*request; 3].join("|")), "");
    assert_eq!(line.ask(&[&*request; 10].join("|")), "");
    assert!(line.session.parked.is_full(&line.engine.limits));
    line.next().reply(1_i64);
    line.next().reply(2_i64);
    let reply = format!("$400|{word}|");
    assert_eq!(line.poll(), format!(":1|{reply}:2|{}", reply.repeat(13)));
}

#[test]
fn pending_input_stops_reading_at_its_bound() {
    let mut line = Line::with(Limits {
        waiting_input_bytes_max: 50,
        ..Limits::DEFAULT
    });
    line.ask("WAIT");
    assert!(line.session.wants_input(&Output::new()));
    line.send(&b"PING\r\n".repeat(10));
    assert!(!line.session.wants_input(&Output::new()));
    line.next().reply(());
    assert_eq!(line.poll(), format!("+OK|{}", "+PONG|".repeat(10)));
}

#[test]
fn late_reply_is_not_sent_to_another_connection() {
    let mut first = Line::new();
    first.ask("WAIT");
    let late = first.next();
    let engine = Arc::clone(&first.engine);
    drop(first);
    assert!(late.cancelled());
    let mut second = Line::to(&engine);
    second.ask("WAIT");
    assert!(!late.reply("for the first"));
    assert_eq!(second.poll(), "");
    second.next().reply("for the second");
    assert_eq!(second.poll(), "$14|for the second|");
}

#[test]
fn replies_keep_the_protocol_of_their_request() {
    let mut line = Line::new();
    line.ask("PIPE|PIPE");
    assert_eq!(line.ask("HELLO 3|PIPE|LARGE"), "");
    line.nth(2).reply(None::<i64>);
    line.nth(1).reply(None::<i64>);
    line.next().reply(None::<i64>);
    let replies = line.poll();
    assert!(replies.starts_with("$-1|$-1|%7|"), "{replies:.80}");
    assert!(replies.contains("|_|$200000|xxx"), "{replies:.400}");
}

#[test]
fn binary_protocol_supports_deferred_replies() {
    let mut line = Line::new();
    let mut input = Vec::new();
    resp_codec::binary::write_call(&mut input, &[&b"wait"[..]]);
    resp_codec::binary::write_call(&mut input, &[&b"ping"[..]]);
    assert_eq!(line.send(&input), "");
    line.next().reply(7_i64);
    let mut expected = Vec::new();
    let mut encoder = resp_codec::Encoder::new(&mut expected, resp_codec::Proto::Binary);
    encoder.int(7);
    encoder.simple("PONG");
    assert_eq!(line.poll().into_bytes(), expected);

    let mut get = Vec::new();
    resp_codec::binary::write_get(&mut get, b"k");
    assert_eq!(line.send(&get), "");
    line.next().reply("value");
    assert_eq!(line.poll(), "\u{5}\0\0\0value");
    line.send(&get);
    line.next().reply(Error::fixed("ERR no"));
    assert_eq!(line.poll(), "");
    assert_eq!(line.step, SessionStep::Close(CloseReason::Unanswerable));
}

mod against_a_model {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug)]
    enum Request {
        Now,
        Piped,
        Waiting,
    }

    fn requests() -> impl Strategy<Value = Vec<Request>> {
        let request = prop_oneof![
            Just(Request::Now),
            Just(Request::Piped),
            Just(Request::Waiting)
        ];
        prop::collection::vec(request, 1..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The model: replies are in the order of requests, whatever the order of answers.
        #[test]
        fn replies_keep_their_order_whatever_the_order_of_answers(
            requests in requests(),
            picks in prop::collection::vec((any::<prop::sample::Index>(), 1..4_usize), 40),
            piece in 1..50_usize,
            pending_calls_max in 1..6_usize,
        ) {
            let (mut input, mut expected, mut deferred) = (String::new(), String::new(), 0);
            for request in &requests {
                let (name, reply) = match request {
                    Request::Now => ("ECHO s", "$1|s|".to_owned()),
                    Request::Piped => ("PIPE", format!(":{deferred}|")),
                    Request::Waiting => ("WAIT", format!(":{deferred}|")),
                };
                deferred += i64::from(name != "ECHO s");
                input.push_str(name);
                input.push_str("\r\n");
                expected.push_str(&reply);
            }
            let mut line = Line::with(Limits { pending_calls_max, ..Limits::DEFAULT });
            let mut replies = String::new();
            for bytes in input.as_bytes().chunks(piece) {
                replies.push_str(&line.send(bytes));
            }
            // Pending calls, numbered as they came. Threads answer a few at a time.
            let (mut waiting, mut came) = (Vec::new(), 0_i64);
            let mut picks = picks.into_iter().cycle();
            while replies.len() < expected.len() {
                for later in line.desk().waiting.lock().unwrap().drain(..) {
                    waiting.push((came, later));
                    came += 1;
                }
                prop_assert!(!waiting.is_empty(), "{replies} of {expected}");
                let (pick, count) = picks.next().expect("it has no end");
                let mut threads = Vec::new();
                for _ in 0..count.min(waiting.len()) {
                    let (n, later) = waiting.swap_remove(pick.index(waiting.len()));
                    threads.push(std::thread::spawn(move || later.reply(n)));
                }
                replies.push_str(&line.poll());
                for thread in threads {
                    prop_assert!(thread.join().unwrap());
                }
                replies.push_str(&line.poll());
            }
            prop_assert_eq!(replies, expected);
        }
    }
}
