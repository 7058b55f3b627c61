//! What `cjson` gives for tricky values and texts.

use super::super::tests::{check, check_file};

#[test]
fn tricky_values_and_texts_give_what_redis_gives() {
    check_file(include_str!("cases.txt"));
}

#[test]
fn depth_is_bounded_at_1000() {
    let depths = |open: &str, close: &str, depth: usize| {
        let (open, close) = (open.repeat(depth), close.repeat(depth));
        format!("type(cjson.decode('{open}1{close}'))")
    };
    check(&depths("[", "]", 1_000), "table");
    check(&depths(r#"{"a":"#, "}", 1_000), "table");
    check(
        &depths("[", "]", 1_001),
        "user_script:1: Found too many nested data structures (1001) at character 1001",
    );
    check(
        &depths(r#"{"a":"#, "}", 1_001),
        "user_script:1: Found too many nested data structures (1001) at character 5001",
    );
    let encode = |depth: usize| {
        let make = format!("local t = {{}} for i = 2, {depth} do t = {{t}} end");
        format!("(function() {make} return #cjson.encode(t) end)()")
    };
    check(&encode(1_000), "2000");
    let problem = "user_script:1: Cannot serialise, excessive nesting (1001)";
    check(&encode(1_001), problem);
}

#[test]
fn depth_past_what_the_library_can_hold_is_an_error_whatever_the_options_say() {
    let problem = "user_script:1: Found too many nested data structures (3999) at character 3999";
    let text = "string.rep('[', 10000)";
    check(
        &format!("(function() cjson.decode_max_depth(100000) cjson.decode({text}) end)()"),
        problem,
    );
    let make = "local t = {} for i = 1, 1000 do t = {t} end cjson.encode_max_depth(100000)";
    check(
        &format!("(function() {make} return cjson.encode(t) end)()"),
        "user_script:1: Cannot serialise, excessive nesting (1001)",
    );
}

#[test]
fn result_longer_than_the_limit_is_refused() {
    let problem = "user_script:1: resulting string too large";
    check("cjson.encode(string.rep('x', 2^20))", problem);
    check("#cjson.encode(string.rep('x', 2^20 - 2))", "1048576");
    let sparse = "cjson.encode_sparse_array(false, 0) return cjson.encode({[2^30] = 1})";
    check(&format!("(function() {sparse} end)()"), problem);
}

#[test]
fn encoder_needs_little_of_a_thread_s_stack() {
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    let script =
        "(function() local t = {} for i = 2, 1000 do t = {t} end return #cjson.encode(t) end)()";
    let checked = thread.spawn(move || check(script, "2000")).unwrap();
    checked.join().unwrap();
}
