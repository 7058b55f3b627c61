//! Edits of one key: on the store, and on a model value that gives the expected result.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use respire_store::{
    Access, Edited, Elements, EntryRef, EventName, Expiry, NewValue, Slot, Stack, StackRef,
    ValueRef, WrongType,
};

/// A value of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    String(Vec<u8>),
    Stack(Vec<Vec<u8>>),
}

/// A value and its expiry.
pub(crate) type Contents = (Value, Option<u64>);

/// The forms in which a string is given to the store.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    Bytes,
    Int,
    Text,
    Shared,
    Raw,
}

/// An edit of a key.
#[derive(Debug, Clone)]
pub(crate) enum Edit {
    Set(Form, Vec<u8>, Expiry),
    SetStack(Vec<Vec<u8>>, Expiry),
    /// A write that reads the old value first, and may then refuse.
    Exchange(Vec<u8>, Expiry, bool),
    Append(Vec<u8>),
    /// The string is cut; the edit may or may not count as a change.
    Cut(usize, bool),
    /// The string is cut and extended, and then comes a panic.
    CutAndPanic(usize, Vec<u8>),
    Share,
    Expire(Option<u64>),
    Access(Access),
    Remove,
    /// The value is taken out, and put back with this expiry.
    Put(Option<u64>),
    PutAnew,
    Push(Vec<Vec<u8>>),
    Pop(usize),
    /// Elements are popped and one is pushed, and then comes a panic.
    PopAndPanic(usize, Option<Vec<u8>>),
    Nothing,
}

/// The result of an edit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    Is(bool),
    Number(usize),
    Was(Option<Contents>),
    WrongType,
    Panicked,
}

const EDITED: EventName = EventName {
    class: 1,
    name: "edited",
};

/// The contents of an entry.
pub(crate) fn contents(entry: EntryRef<'_>) -> Contents {
    let value = match entry.value() {
        ValueRef::String(string) => Value::String(string.to_vec()),
        ValueRef::Stack(stack) => Value::Stack(elements(stack)),
        other => unreachable!("no edit here makes a {}", other.type_name()),
    };
    (value, entry.expires_at())
}

fn elements(stack: StackRef<'_>) -> Vec<Vec<u8>> {
    let mut elements = Vec::new();
    stack.for_each(&mut |element| elements.push(element.to_vec()));
    assert_eq!(elements.len(), stack.len());
    elements
}

fn stack_of(elements: &[Vec<u8>]) -> Stack {
    let mut stack = Stack::default();
    elements.iter().for_each(|element| stack.push(element));
    stack
}

/// Converts bytes to a number, for edits that need one.
fn number(bytes: &[u8]) -> i64 {
    let mut low = [0; 8];
    let len = bytes.len().min(8);
    low[..len].copy_from_slice(&bytes[..len]);
    i64::from_le_bytes(low)
}

/// The payload of an intended panic.
struct OnPurpose;

/// Panics without calling the panic hook, because fuzzers report a call of the hook as a finding.
pub(crate) fn panic_on_purpose() -> ! {
    resume_unwind(Box::new(OnPurpose))
}

/// Catches an intended panic; any other panic continues.
pub(crate) fn go_on_after(ended: std::thread::Result<()>) {
    if let Err(panic) = ended
        && !panic.is::<OnPurpose>()
    {
        resume_unwind(panic);
    }
}

impl Edit {
    /// Does the edit on the store.
    pub(crate) fn apply(&self, slot: &mut Slot<'_>) -> Answer {
        match self {
            Edit::Set(form, bytes, expiry) => slot.set(form.value(bytes), *expiry),
            Edit::SetStack(elements, expiry) => slot.set(stack_of(elements), *expiry),
            Edit::Exchange(bytes, expiry, is_refused) => {
                return exchange(slot, bytes, *expiry, *is_refused);
            }
            Edit::Append(more) => {
                return Answer::Number(slot.edit_string(|bytes| {
                    bytes.extend_from_slice(more);
                    bytes.len()
                }));
            }
            Edit::Cut(len, counts) => slot.edit_string_if(|bytes| (bytes.truncate(*len), *counts)),
            Edit::CutAndPanic(len, more) => {
                return caught(|| {
                    slot.edit_string(|bytes| {
                        bytes.truncate(*len);
                        bytes.extend_from_slice(more);
                        panic_on_purpose()
                    })
                });
            }
            Edit::Share => slot.share_string(),
            Edit::Expire(at) => return Answer::Is(slot.set_expiry(*at)),
            Edit::Access(access) => drop(slot.set_access(*access)),
            Edit::Remove => return Answer::Is(slot.remove()),
            Edit::Put(expires_at) => {
                let Some(owned) = slot.take() else {
                    return Answer::Is(false);
                };
                assert!(!slot.exists());
                slot.put(owned.with_expiry(*expires_at));
                return Answer::Is(true);
            }
            Edit::PutAnew => {
                let owned = slot.get().map(EntryRef::owned);
                owned.into_iter().for_each(|owned| slot.put_anew(owned));
                slot.event(EDITED);
            }
            Edit::Push(elements) => return push(slot, elements),
            Edit::Pop(count) => return pop(slot, *count),
            Edit::PopAndPanic(count, push) => return pop_and_panic(slot, *count, push.as_deref()),
            Edit::Nothing => {
                slot.looked_up();
                return Answer::Was(slot.get().map(contents));
            }
        }
        Answer::Done
    }

    /// Returns the expected answer and the expected contents of the key.
    pub(crate) fn expected(
        &self,
        was: Option<Contents>,
        now_ms: u64,
    ) -> (Answer, Option<Contents>) {
        let is_there = was.is_some();
        match self {
            Edit::Set(form, bytes, expiry) => {
                let bytes = match form {
                    Form::Int => number(bytes).to_string().into_bytes(),
                    _ => bytes.clone(),
                };
                (
                    Answer::Done,
                    written(Value::String(bytes), *expiry, &was, now_ms),
                )
            }
            Edit::SetStack(elements, expiry) => {
                let is = written(Value::Stack(elements.clone()), *expiry, &was, now_ms);
                (Answer::Done, is.filter(|_| !elements.is_empty()))
            }
            Edit::Exchange(_, _, true) => (Answer::Was(was.clone()), was),
            Edit::Exchange(bytes, expiry, false) => {
                let is = written(Value::String(bytes.clone()), *expiry, &was, now_ms);
                (Answer::Was(was), is)
            }
            Edit::Append(more) => {
                let (mut bytes, expires_at) = string(was);
                bytes.extend_from_slice(more);
                (
                    Answer::Number(bytes.len()),
                    Some((Value::String(bytes), expires_at)),
                )
            }
            Edit::Cut(len, _) => {
                let (mut bytes, expires_at) = string(was);
                bytes.truncate(*len);
                (Answer::Done, Some((Value::String(bytes), expires_at)))
            }
            // An absent key is made after the edit.
            Edit::CutAndPanic(..) | Edit::PopAndPanic(..) if !is_there => (Answer::Panicked, None),
            Edit::CutAndPanic(len, more) => {
                let (mut bytes, expires_at) = string(was);
                bytes.truncate(*len);
                bytes.extend_from_slice(more);
                (Answer::Panicked, Some((Value::String(bytes), expires_at)))
            }
            Edit::Share | Edit::Access(_) | Edit::PutAnew => (Answer::Done, was),
            Edit::Expire(at) => {
                let is = was.and_then(|(value, _)| lasting(value, *at, now_ms));
                (Answer::Is(is_there), is)
            }
            Edit::Remove => (Answer::Is(is_there), None),
            Edit::Put(at) => {
                let is = was.and_then(|(value, _)| lasting(value, *at, now_ms));
                (Answer::Is(is_there), is)
            }
            Edit::Push(elements) => pushed(elements, was),
            Edit::Pop(count) => popped(*count, None, was, false),
            Edit::PopAndPanic(count, push) => popped(*count, push.as_ref(), was, true),
            Edit::Nothing => (Answer::Was(was.clone()), was),
        }
    }
}

impl Form {
    fn value(self, bytes: &[u8]) -> NewValue<'_> {
        match self {
            Form::Bytes => NewValue::Bytes(bytes),
            Form::Int => NewValue::Int(number(bytes)),
            Form::Text => NewValue::Text(bytes.into()),
            Form::Shared => NewValue::Shared(bytes.to_vec().into()),
            Form::Raw => NewValue::Raw(bytes.to_vec()),
        }
    }
}

fn exchange(slot: &mut Slot<'_>, bytes: &[u8], expiry: Expiry, is_refused: bool) -> Answer {
    let mut was = None;
    let answer = slot.exchange(bytes, expiry, |old| {
        was = old.map(contents);
        if is_refused { Err(()) } else { Ok(()) }
    });
    assert_eq!(answer.is_err(), is_refused);
    Answer::Was(was)
}

fn push(slot: &mut Slot<'_>, elements: &[Vec<u8>]) -> Answer {
    let pushed = slot.edit(EDITED, |stack: &mut Stack| {
        elements.iter().for_each(|element| stack.push(element));
        Edited::Changed(stack.len())
    });
    pushed.map_or_else(|WrongType| Answer::WrongType, Answer::Number)
}

fn pop(slot: &mut Slot<'_>, count: usize) -> Answer {
    let popped = slot.edit_existing(EDITED, |stack: &mut Stack| {
        match (0..count).map_while(|_| stack.pop()).count() {
            0 => Edited::Unchanged(0),
            popped => Edited::Changed(popped),
        }
    });
    let number = |popped: Option<usize>| Answer::Number(popped.unwrap_or(0));
    popped.map_or_else(|WrongType| Answer::WrongType, number)
}

fn pop_and_panic(slot: &mut Slot<'_>, count: usize, push: Option<&[u8]>) -> Answer {
    caught(|| {
        let edited = slot.edit(EDITED, |stack: &mut Stack| {
            (0..count).for_each(|_| drop(stack.pop()));
            push.into_iter().for_each(|element| stack.push(element));
            panic_on_purpose()
        });
        edited.map_or_else(|WrongType| Answer::WrongType, |()| Answer::Done)
    })
}

fn caught(f: impl FnOnce() -> Answer) -> Answer {
    let mut answer = Answer::Panicked;
    go_on_after(catch_unwind(AssertUnwindSafe(|| answer = f())));
    answer
}

/// Returns the value with this expiry, or `None` if it has expired.
fn lasting(value: Value, expires_at: Option<u64>, now_ms: u64) -> Option<Contents> {
    let is_over = expires_at.is_some_and(|at| at <= now_ms);
    (!is_over).then_some((value, expires_at.filter(|at| *at != u64::MAX)))
}

fn written(value: Value, expiry: Expiry, was: &Option<Contents>, now_ms: u64) -> Option<Contents> {
    match expiry {
        Expiry::Clear => Some((value, None)),
        Expiry::Keep => Some((value, was.as_ref().and_then(|(_, at)| *at))),
        Expiry::At(at) => lasting(value, Some(at), now_ms),
    }
}

/// Returns the bytes and the expiry with which an edit of a string starts.
fn string(was: Option<Contents>) -> (Vec<u8>, Option<u64>) {
    match was {
        Some((Value::String(bytes), expires_at)) => (bytes, expires_at),
        Some((Value::Stack(_), expires_at)) => (Vec::new(), expires_at),
        None => (Vec::new(), None),
    }
}

fn pushed(more: &[Vec<u8>], was: Option<Contents>) -> (Answer, Option<Contents>) {
    let (mut elements, expires_at) = match was {
        Some((Value::Stack(elements), expires_at)) => (elements, expires_at),
        Some((Value::String(_), _)) => return (Answer::WrongType, was),
        None => (Vec::new(), None),
    };
    elements.extend_from_slice(more);
    let answer = Answer::Number(elements.len());
    let is = (!elements.is_empty()).then_some((Value::Stack(elements), expires_at));
    (answer, is)
}

fn popped(
    count: usize,
    push: Option<&Vec<u8>>,
    was: Option<Contents>,
    panics: bool,
) -> (Answer, Option<Contents>) {
    let (mut elements, expires_at) = match was {
        Some((Value::Stack(elements), expires_at)) => (elements, expires_at),
        Some((Value::String(_), _)) => return (Answer::WrongType, was),
        None => return (Answer::Number(0), None),
    };
    let popped = count.min(elements.len());
    elements.truncate(elements.len() - popped);
    elements.extend(push.cloned());
    let answer = if panics {
        Answer::Panicked
    } else {
        Answer::Number(popped)
    };
    let is = (!elements.is_empty()).then_some((Value::Stack(elements), expires_at));
    (answer, is)
}
