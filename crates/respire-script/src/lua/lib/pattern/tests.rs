//! What patterns match, and what stops them.

use super::super::tests::{check, check_file, state};
use super::super::{Limits, install, raise};
use mlua::Lua;
use std::cell::Cell;
use std::rc::Rc;

#[test]
fn tricky_patterns_match_what_redis_matches() {
    check_file(include_str!("cases.txt"));
}

#[test]
fn depth_is_bounded_as_in_lua_5_2() {
    let problem = "user_script:1: pattern too complex";
    check("string.match('', string.rep('a?', 199))", "");
    check("string.match('', string.rep('a*', 200))", problem);
    check(
        "string.find(string.rep('a', 1000), string.rep('a-', 1000) .. 'b')",
        problem,
    );
    check("#string.match(string.rep('a', 100000), '.-b?$')", "100000");
}

#[test]
fn result_of_gsub_is_bounded() {
    let problem = "user_script:1: resulting string too large";
    check(
        "string.gsub(string.rep('a', 2^16), 'a', string.rep('b', 2^10))",
        problem,
    );
    check(
        "string.gsub(string.rep('a', 2^16), '.*', string.rep('%0', 17))",
        problem,
    );
    check(
        "#string.gsub(string.rep('a', 2^16), '.*', string.rep('%0', 16))",
        "1048576",
    );
}

#[test]
fn what_a_replacement_raises_is_raised_as_it_is() {
    let lua = state();
    let script = "local ok, e = pcall(string.gsub, 'a', 'a', function() error({code = 7}) end)
        assert(not ok and e.code == 7)
        local ok, e = pcall(string.gsub, 'a', 'a', function() error('text', 0) end)
        assert(not ok and e == 'text')
        local ok, e = pcall(string.gsub, 'a', 'a', function() string.rep() end)
        assert(not ok and e == \"user_script:5: bad argument #1 to 'rep' (string expected, got no value)\", e)";
    lua.load(script).set_name("@user_script").exec().unwrap();
}

#[test]
fn long_match_is_asked_whether_to_go_on() {
    for expression in [
        "string.find(string.rep('a', 10000), '.-.-.-.-b')",
        "string.match(string.rep('a', 10000), '(.*)%1b')",
        "string.gsub(string.rep('a', 10000), '.-.-.-b', '')",
        "string.gmatch(string.rep('a', 10000), '.-.-.-b')()",
        "string.find(string.rep('(', 10000), '%b()')",
        "string.find(string.rep('a', 10000), '[' .. string.rep('b', 10000) .. ']')",
    ] {
        let asked = Rc::new(Cell::new(0));
        let count = asked.clone();
        let spend = move || {
            count.set(count.get() + 1);
            if count.get() < 100 {
                Ok(())
            } else {
                Err(raise::fatal("stopped"))
            }
        };
        let lua = Lua::new();
        let limits = Limits {
            string_bytes_max: 1 << 20,
            spend: Rc::new(spend),
        };
        install(&lua, &lua.globals(), &limits).unwrap();
        let problem = lua.load(format!("return pcall(function() {expression} end)"));
        let problem = problem.exec().unwrap_err();
        assert!(raise::is_fatal(&problem), "{expression}: {problem}");
        assert_eq!(asked.get(), 100, "{expression}");
    }
}

#[test]
fn matcher_needs_little_of_a_thread_s_stack() {
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    let check_it = || {
        check(
            "string.match(string.rep('a', 300), string.rep('a?', 199))",
            &"a".repeat(199),
        )
    };
    thread.spawn(check_it).unwrap().join().unwrap();
}
