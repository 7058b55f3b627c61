//! Tests of the module rules on made-up crates.

use super::*;

fn problems(files: &[(&str, &str)]) -> Vec<String> {
    let files = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    crate_problems("lib.rs", &files).unwrap()
}

/// A crate with a ring of modules: each uses the next one.
fn ring(modules: usize) -> Vec<(String, String)> {
    let names: Vec<String> = (0..modules).map(|number| format!("m{number}")).collect();
    let root: String = names.iter().map(|name| format!("mod {name};\n")).collect();
    let mut files = vec![("lib.rs".to_owned(), root)];
    for (name, next) in names.iter().zip(names.iter().cycle().skip(1)) {
        files.push((
            format!("{name}.rs"),
            format!("use crate::{next}::A;\npub struct A;\n"),
        ));
    }
    files
}

fn problems_of_ring(modules: usize) -> Vec<String> {
    crate_problems("lib.rs", &ring(modules).into_iter().collect()).unwrap()
}

#[test]
fn knot_of_seven_is_refused_with_its_imports_and_of_six_is_not() {
    assert!(problems_of_ring(6).is_empty());
    let found = problems_of_ring(7);
    assert_eq!(found.len(), 1, "{found:?}");
    let knot = &found[0];
    assert!(knot.starts_with("lib.rs: a knot of 7 modules"), "{knot}");
    assert!(knot.contains(": m0, m1, m2, m3, m4, m5, m6\n"), "{knot}");
    assert!(
        knot.contains("\n    m6 -> m0: m6.rs, line 1: `crate::m0::A`"),
        "{knot}"
    );
}

#[test]
fn knots_within_folders_are_refused_too() {
    let mut files: Files = ring(7)
        .into_iter()
        .map(|(name, text)| {
            let text = text.replace("crate::", "super::");
            (format!("room/{}", name.replace("lib.rs", "mod.rs")), text)
        })
        .collect();
    files.insert("lib.rs".to_owned(), "mod room;\n".to_owned());
    let found = crate_problems("lib.rs", &files).unwrap();
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("room/mod.rs: a knot of 7 modules"));
}

#[test]
fn folder_is_one_room_among_its_siblings() {
    let found = problems(&[
        (
            "lib.rs",
            "// Floor: top\nmod a;\n// Floor: bottom\nmod b;\n",
        ),
        ("a/mod.rs", "mod inner;\npub struct A(inner::I);\n"),
        ("a/inner.rs", "pub struct I(super::A);\n"),
        ("b.rs", "mod deep;\n"),
        ("b/deep.rs", "fn f(a: super::super::a::A) {}\n"),
    ]);
    assert_eq!(
        found,
        [
            "b/deep.rs: line 1: `super::super::a::A` goes up, from `b` on the floor \"bottom\" to `a` on \"top\""
        ]
    );
}

const FLOORS: &str = "// Floor: top\nmod a;\n\n// Floor: bottom\nmod b;\nmod c;\n";

#[test]
fn only_upward_arrows_are_refused() {
    let fine = [
        ("lib.rs", FLOORS),
        ("a.rs", "use crate::b::B;\n"),
        ("b.rs", "use super::c::C;\n"),
        ("c.rs", "pub struct C;\n"),
    ];
    assert!(problems(&fine).is_empty());
    let up = [
        ("lib.rs", FLOORS),
        ("a.rs", "pub struct A;\n"),
        ("b.rs", "\nuse crate::{a::A, c};\n"),
        ("c.rs", ""),
    ];
    assert_eq!(
        problems(&up),
        ["b.rs: line 2: `crate::a::A` goes up, from `b` on the floor \"bottom\" to `a` on \"top\""]
    );
}

#[test]
fn root_is_above_all_floors() {
    let root = format!("{FLOORS}pub use a::A;\npub use bytes::Bytes;\npub struct Root;\n");
    let found = problems(&[
        ("lib.rs", &root),
        ("a.rs", "pub struct A;\nuse crate::{A, Bytes, Root};\n"),
    ]);
    assert_eq!(
        found,
        ["a.rs: line 2: `crate::Root` goes up, to what the crate's root defines"]
    );
}

#[test]
fn every_module_has_a_floor_if_the_crate_states_floors() {
    let root = format!("mod d;\n{FLOORS}");
    assert_eq!(
        problems(&[("lib.rs", &root)]),
        ["lib.rs: `mod d` stands on no floor"]
    );
}

#[test]
fn many_modules_need_floors() {
    let modules = |count| {
        (0..count)
            .map(|number| format!("mod m{number};\n"))
            .collect::<String>()
    };
    assert!(problems(&[("lib.rs", &modules(MODULES_WITHOUT_FLOORS_MAX))]).is_empty());
    let found = problems(&[("lib.rs", &modules(MODULES_WITHOUT_FLOORS_MAX + 1))]);
    assert!(found[0].starts_with("lib.rs: 9 modules and no floors"));
}

#[test]
fn reexported_names_count_for_the_module_that_defines_them() {
    // Bottom names `Top` by way of two files that it may use.
    let found = problems(&[
        (
            "lib.rs",
            "// Floor: top\nmod top;\n// Floor: bottom\nmod bottom;\nmod hall;\n",
        ),
        ("top/mod.rs", "mod deep;\npub use deep::Top;\n"),
        ("top/deep.rs", "pub struct Top;\n"),
        ("hall.rs", "pub use self::inner::*;\nmod inner;\n"),
        (
            "hall/inner.rs",
            "pub struct Own;\npub use crate::top::Top as Other;\n",
        ),
        (
            "bottom.rs",
            "use super::hall::{Other, Own};\nuse super::hall;\nfn f() { hall::Other::new() }\n",
        ),
    ]);
    let lines: Vec<&str> = found
        .iter()
        .filter_map(|text| text.split(" goes").next())
        .collect();
    assert_eq!(
        lines,
        [
            "bottom.rs: line 1: `super::hall::Other`",
            "bottom.rs: line 3: `hall::Other::new`",
            "hall/inner.rs: line 2: `crate::top::Top`",
        ]
    );
}

#[test]
fn names_reexported_by_the_root_count_for_their_module() {
    let root = format!("{FLOORS}pub use a::{{A, a}};\n");
    let found = problems(&[
        ("lib.rs", &root),
        ("a.rs", "pub struct A;\npub fn a() {}\n"),
        // A module and a function with the same name: the function is in the module, too.
        ("b.rs", "fn b() -> crate::A { crate::a() }\n"),
    ]);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found.iter().all(|text| text.contains("goes up")),
        "{found:?}"
    );
}

#[test]
fn tests_and_other_crates_do_not_count() {
    let found = problems(&[
        (
            "lib.rs",
            "#[cfg(test)]\nmod tests;\n// Floor: top\nmod a;\n// Floor: bottom\nmod b;\n",
        ),
        ("tests.rs", "use crate::a::A;\n"),
        ("a.rs", "pub struct A;\n"),
        (
            "b.rs",
            "use a_crate::a::A;\nuse ::a::b;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n",
        ),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn glob_import_of_an_enclosing_module_is_refused() {
    let found = problems(&[
        ("lib.rs", "mod a;\nmod b;\nuse b::B;\n"),
        ("a.rs", "use super::*;\nfn f() -> B {}\n"),
        ("b.rs", "pub use inner::*;\nmod inner;\n"),
        ("b/inner.rs", "pub enum B { C }\nfn f() { use B::*; }\n"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("a.rs: line 1: `super::*` hides"));
}
