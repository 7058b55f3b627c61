//! Tests of `--check-script`.

use super::command;
use std::path::Path;
use std::process::Output;

/// Runs it in a directory. Returns its exit code and what it printed.
fn check(directory: &Path, files: &[&str]) -> (Option<i32>, String, String) {
    let mut command = command();
    command.current_dir(directory).arg("--check-script");
    let Output {
        status,
        stdout,
        stderr,
    } = command.args(files).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[cfg(feature = "scripts")]
#[test]
fn mistakes_are_printed_with_file_and_line() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    write(
        "good.lua",
        "if redis.call('get', KEYS[1]) == ARGV[1] then\n  return redis.call('del', KEYS[1])\nend\n",
    );
    write(
        "bad.lua",
        "local n = redis.call('INCR', KEYS[1] .. ':x')\nreturn redis.call('GET', KEYS[1], m)\n",
    );
    write(
        "lib.lua",
        "#!lua name=l\nredis.register_function('f', function() end)\n",
    );
    let nothing = (Some(0), String::new(), String::new());
    assert_eq!(check(directory.path(), &["good.lua", "lib.lua"]), nothing);
    let expected = "bad.lua:1: warning: the key of 'INCR' (argument 1) is computed and is not passed by KEYS\n\
                    bad.lua:2: error: global 'm' does not exist\n\
                    bad.lua:2: error: wrong number of arguments for 'GET'\n";
    let found = (Some(1), expected.to_owned(), String::new());
    assert_eq!(check(directory.path(), &["good.lua", "bad.lua"]), found);
    let (code, _, problem) = check(directory.path(), &["none.lua", "bad.lua"]);
    assert_eq!(code, Some(2));
    assert!(
        problem.starts_with("respire-server: cannot read none.lua: "),
        "{problem}"
    );
}

#[cfg(feature = "scripts")]
#[test]
fn standard_input_is_a_script() {
    use std::io::Write as _;
    use std::process::Stdio;

    let mut command = command();
    command.args(["--check-script", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"return 1 +").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "-:1: error: unexpected symbol near '<eof>'\n");
    assert_eq!(output.status.code(), Some(1));
}

#[cfg(not(feature = "scripts"))]
#[test]
fn build_without_scripts_says_so() {
    let (code, printed, problem) = check(Path::new("."), &["-"]);
    assert_eq!((code, &*printed), (Some(2), ""));
    assert!(problem.contains("this build has no scripts"), "{problem}");
}
