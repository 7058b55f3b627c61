//! Tests that a router refuses invalid commands with a panic at the caller's line.

use respire_engine::{ArgList, Command, Cx, Error, Later, Limits, Reply, Router, Row, Spec};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};
use std::sync::{Arc, Once};

thread_local! {
    /// The file, the line and the text of this thread's last panic.
    static PANIC: RefCell<(String, u32, String)> = RefCell::default();
}

fn note(info: &PanicHookInfo<'_>) {
    let place = info.location().expect("panics have one");
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or(payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or_default().to_owned();
    PANIC.with_borrow_mut(|panic| *panic = (place.file().to_owned(), place.line(), text));
}

/// The text of the panic of `register`, which must be on the caller's line.
#[track_caller]
fn refusal(register: impl FnOnce() -> Router<()>) -> String {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| set_hook(Box::new(note)));
    let here = std::panic::Location::caller();
    let outcome = catch_unwind(AssertUnwindSafe(|| drop(register())));
    assert!(outcome.is_err(), "registered at {here}");
    let (file, line, text) = PANIC.take();
    assert_eq!((file.as_str(), line), (here.file(), here.line()), "{text}");
    text
}

fn router() -> Router<()> {
    Router::new(())
}

fn ok(_: &mut Cx<'_, ()>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply.ok();
    Ok(())
}

fn row(name: &'static str) -> Row<()> {
    let spec = Box::leak(Box::new(Spec {
        name,
        ..Spec::EMPTY
    }));
    Row { spec, run: ok }
}

fn boxed(names: &[&'static str]) -> Vec<Box<dyn Command<()>>> {
    let one = |name: &&'static str| Box::new(row(name)) as Box<dyn Command<()>>;
    names.iter().map(one).collect()
}

fn later(_: &mut Cx<'_, ()>, _: (), _: Later) {}

#[test]
fn name_that_cannot_be_sent_panics_at_the_callers_line() {
    let visible = "visible ASCII";
    assert!(refusal(|| router().command("", |_, ()| 1)).contains(visible));
    assert!(refusal(|| router().command("TWO WORDS", |_, ()| 1)).contains(visible));
    assert!(refusal(|| router().deferred("A|B", later)).contains(visible));
    assert!(refusal(|| router().future("\u{e9}", |_, ()| async { 1 })).contains(visible));
    assert!(refusal(|| router().add(row("a b"))).contains(visible));
    assert!(refusal(|| router().container(row("a|b"), [])).contains(visible));
}

#[test]
fn subcommand_that_cannot_be_called_panics_at_the_callers_line() {
    let (plain, other) = (["get"], ["door|get"]);
    for names in [plain, other] {
        let text = refusal(|| router().container(row("mood"), boxed(&names)));
        assert!(text.contains("is named `mood|...`"), "{text}");
    }
    let twice = ["mood|get", "MOOD|GET"];
    let text = refusal(|| router().container(row("mood"), boxed(&twice)));
    assert_eq!(text, "`mood` has two subcommands \"MOOD|GET\"");
}

#[test]
fn merge_that_would_lose_settings_panics_at_the_callers_line() {
    let text = refusal(|| router().merge(router()));
    assert!(
        text.starts_with("merged routers share one application"),
        "{text}"
    );
    let app = Arc::new(());
    let (first, second) = (Router::shared(Arc::clone(&app)), Router::shared(app));
    let text = refusal(|| first.merge(second.limits(Limits::DEFAULT)));
    assert!(
        text.contains("belong to the router that is served"),
        "{text}"
    );
}
