//! What the log does in single situations: when it syncs, what it publishes, what it says.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use bytes::Bytes;
use respire_durable::Log;
use respire_durable::log::{
    Base, Batch, Busy, Failure, FileId, Lane, Operation, OutOfOrder, Outcome, Policy, Settings,
    Start, Trouble,
};

/// A log with its first file in use, at the time 0.
fn log(policy: Policy) -> Log {
    let settings = Settings {
        policy,
        write_bytes_max: 100,
        ..Settings::default()
    };
    let mut log = Log::new(settings, Start::empty());
    chores(&mut log, 0);
    log
}

/// Does all operations of a lane but syncs of increments, successfully.
fn chores(log: &mut Log, now_ms: u64) {
    while let Some(operation) = log.next(Lane::Sync, now_ms) {
        assert!(
            !matches!(operation, Operation::Sync { .. }),
            "a sync is due"
        );
        log.complete(Lane::Sync, Ok(0), now_ms);
    }
}

fn append(log: &mut Log, bytes: usize, now_ms: u64) {
    let ticket = log.appended() + 1;
    let batch = Batch {
        first: ticket,
        last: ticket,
        ..Batch::default()
    };
    let piece = Bytes::from(vec![b'x'; bytes]);
    log.append(batch, [piece], now_ms).unwrap();
}

/// Writes all that may be written.
fn write(log: &mut Log, now_ms: u64) -> usize {
    let mut operations = 0;
    while let Some(operation) = log.next(Lane::Write, now_ms) {
        let Operation::Write { len, .. } = operation else {
            panic!("{operation:?}");
        };
        log.complete(Lane::Write, Ok(len), now_ms);
        operations += 1;
    }
    operations
}

fn fail_write(log: &mut Log, failure: Failure, now_ms: u64) {
    assert!(matches!(
        log.next(Lane::Write, now_ms),
        Some(Operation::Write { .. })
    ));
    log.complete(Lane::Write, Err(failure), now_ms);
}

fn sync(log: &mut Log, outcome: Outcome, now_ms: u64) {
    let operation = log.next(Lane::Sync, now_ms);
    assert!(
        matches!(operation, Some(Operation::Sync { .. })),
        "{operation:?}"
    );
    log.complete(Lane::Sync, outcome, now_ms);
}

/// Gives the log the base that it wants, and lets it install it.
fn renew(log: &mut Log, now_ms: u64) {
    assert!(log.wants_base(now_ms));
    let id = log.begin_rewrite(now_ms).unwrap();
    let base = Base {
        temporary_name: "temp-base".to_owned(),
        is_rdb: true,
        bytes: 10,
    };
    log.base_finished(id, base).unwrap();
    for _ in 0..50 {
        write(log, now_ms);
        if log.next(Lane::Sync, now_ms).is_some() {
            log.complete(Lane::Sync, Ok(0), now_ms);
        }
    }
}

#[test]
fn batches_out_of_order_are_refused() {
    let mut log = log(Policy::Always);
    let batch = |first, last| Batch {
        first,
        last,
        ..Batch::default()
    };
    for (first, last) in [(0, 0), (2, 2), (1, 0)] {
        assert_eq!(
            log.append(batch(first, last), [], 0),
            Err(OutOfOrder { expected: 1 })
        );
    }
    assert_eq!(log.append(batch(1, 5), [], 0), Ok(()));
    assert_eq!(log.appended(), 5);
}

#[test]
fn units_without_bytes_are_durable_at_once_if_all_before_them_is() {
    let mut log = log(Policy::EverySec);
    append(&mut log, 0, 0);
    assert_eq!(write(&mut log, 0), 0);
    assert_eq!((log.written(), log.durable()), (1, 1));
}

#[test]
fn always_syncs_what_was_staged_during_a_sync_with_the_next() {
    let mut log = log(Policy::Always);
    append(&mut log, 10, 0);
    write(&mut log, 0);
    assert!(matches!(
        log.next(Lane::Sync, 0),
        Some(Operation::Sync { file: FileId(1) })
    ));
    append(&mut log, 10, 0);
    append(&mut log, 10, 0);
    assert_eq!(write(&mut log, 0), 1, "two batches are one block");
    assert_eq!(log.next(Lane::Sync, 0), None, "one operation at a time");
    log.complete(Lane::Sync, Ok(0), 0);
    assert_eq!((log.written(), log.durable()), (3, 1));
    sync(&mut log, Ok(0), 0);
    assert_eq!(log.durable(), 3);
}

#[test]
fn everysec_syncs_once_a_second_and_goes_on_writing() {
    let mut log = log(Policy::EverySec);
    append(&mut log, 10, 5000);
    write(&mut log, 5000);
    sync(&mut log, Ok(0), 5000);
    append(&mut log, 10, 5100);
    write(&mut log, 5100);
    assert_eq!(log.written(), 2);
    assert_eq!(log.next(Lane::Sync, 5999), None);
    assert_eq!(log.wake_at(), Some(6000));
    assert_eq!(log.oldest_age_ms(5900), Some(800));
    assert!(log.next(Lane::Sync, 6000).is_some());
    append(&mut log, 10, 7000);
    write(&mut log, 7000);
    assert_eq!(log.written(), 3, "a slow sync does not stop writes");
    log.complete(Lane::Sync, Ok(0), 9000);
    assert_eq!((log.durable(), log.info().syncs_delayed), (2, 1));
    assert_eq!(log.oldest_age_ms(9000), Some(2000));
}

#[test]
fn never_syncs_by_itself_with_no() {
    let mut log = log(Policy::No);
    append(&mut log, 10, 0);
    write(&mut log, 0);
    assert_eq!((log.next(Lane::Sync, 1 << 40), log.wake_at()), (None, None));
    log.stop();
    sync(&mut log, Ok(0), 0);
    assert_eq!(log.durable(), 1);
    assert!(!log.is_stopped(), "the end is to be declared durable");
    assert_eq!(write(&mut log, 0), 1);
    sync(&mut log, Ok(0), 0);
    assert!(log.is_stopped());
}

#[test]
fn large_batches_are_written_in_parts_without_a_copy() {
    let mut log = log(Policy::No);
    let value = Bytes::from(vec![b'x'; 1000]);
    let address = value.as_ptr() as usize;
    let batch = Batch {
        first: 1,
        last: 1,
        ..Batch::default()
    };
    log.append(batch, [value], 0).unwrap();
    let (mut seen, mut operations) = (Vec::new(), 0);
    while let Some(Operation::Write { pieces, len, .. }) = log.next(Lane::Write, 0) {
        assert!(len <= 100);
        seen.extend(pieces.iter().map(|piece| piece.as_ptr() as usize));
        log.complete(Lane::Write, Ok(len), 0);
        operations += 1;
    }
    assert!(operations >= 11);
    let within = seen
        .iter()
        .filter(|at| (address..address + 1000).contains(at));
    assert!(within.count() >= 10);
}

#[test]
fn short_and_interrupted_writes_go_on_behind_what_was_taken() {
    let mut log = log(Policy::No);
    append(&mut log, 50, 0);
    let (mut end, mut writes) = (0, 0);
    while let Some(Operation::Write { offset, len, .. }) = log.next(Lane::Write, 0) {
        assert_eq!(offset, end);
        writes += 1;
        let taken = len.div_ceil(2);
        let outcome = if writes % 2 == 0 {
            Err(Failure::Interrupted)
        } else {
            Ok(taken)
        };
        end += outcome.unwrap_or(0) as u64;
        log.complete(Lane::Write, outcome, 0);
    }
    assert_eq!(log.written(), 1);
}

#[test]
fn full_disk_keeps_the_bytes_cuts_the_tail_and_heals() {
    let mut log = log(Policy::No);
    append(&mut log, 500, 0);
    assert!(log.next(Lane::Write, 0).is_some());
    log.complete(Lane::Write, Ok(30), 0);
    fail_write(&mut log, Failure::NoSpace, 0);
    assert_eq!(log.trouble(0), Some(Trouble::NoSpace));
    assert!(!log.info().last_write_ok);
    assert_eq!(
        log.next(Lane::Write, 99),
        None,
        "it waits before it tries again"
    );
    assert_eq!(log.wake_at(), Some(100));
    let truncate = Operation::Truncate {
        file: FileId(1),
        len: 0,
    };
    assert_eq!(log.next(Lane::Write, 100), Some(truncate));
    log.complete(Lane::Write, Ok(0), 100);
    fail_write(&mut log, Failure::NoSpace, 100);
    assert_eq!(log.wake_at(), Some(300), "and longer each time");
    assert!(matches!(
        log.next(Lane::Write, 300),
        Some(Operation::Truncate { .. })
    ));
    log.complete(Lane::Write, Ok(0), 300);
    assert!(write(&mut log, 300) > 5);
    assert_eq!((log.trouble(300), log.written()), (None, 1));
    assert!(log.info().last_write_ok);
}

#[test]
fn failed_sync_is_never_asked_again_and_a_new_base_is_wanted() {
    let mut log = log(Policy::Always);
    append(&mut log, 10, 0);
    write(&mut log, 0);
    sync(&mut log, Err(Failure::Io), 0);
    assert_eq!(log.trouble(29_999), Some(Trouble::Renewing));
    assert_eq!(log.trouble(30_000), Some(Trouble::Overdue));
    append(&mut log, 10, 1);
    assert_eq!(log.next(Lane::Write, 1), None);
    assert!(matches!(
        log.next(Lane::Sync, 1),
        Some(Operation::Close { file: FileId(1) })
    ));
    log.complete(Lane::Sync, Ok(0), 1);
    assert!(!log.is_whole());
    renew(&mut log, 2);
    assert_eq!((log.trouble(2), log.durable(), log.written()), (None, 2, 2));
    let names: Vec<_> = log
        .manifest()
        .files()
        .map(|entry| entry.name.clone())
        .collect();
    assert_eq!(
        names,
        ["appendonly.aof.2.base.rdb", "appendonly.aof.2.incr.aof"]
    );
    assert!(log.manifest().history.is_empty(), "the old file is deleted");
    append(&mut log, 10, 3);
    write(&mut log, 3);
    sync(&mut log, Ok(0), 3);
    assert_eq!(log.durable(), 3);
}

#[test]
fn nothing_is_published_until_the_new_base_is_listed() {
    let mut log = log(Policy::EverySec);
    append(&mut log, 10, 0);
    fail_write(&mut log, Failure::Io, 0);
    let id = log.begin_rewrite(0).unwrap();
    chores(&mut log, 0);
    append(&mut log, 10, 0);
    write(&mut log, 0);
    assert_eq!((log.written(), log.durable()), (0, 0));
    log.base_aborted(id, 0);
    assert!(
        !log.wants_base(999) && log.wants_base(1000),
        "it waits before the next base"
    );
    renew(&mut log, 1000);
    assert_eq!((log.written(), log.durable()), (2, 2));
}

#[test]
fn second_failure_in_a_row_is_failed_until_a_base_is_durable() {
    let mut log = log(Policy::Always);
    for _ in 0..2 {
        append(&mut log, 10, 0);
        let now_ms = if log.wants_base(0) { 0 } else { 1000 };
        if !log.is_whole() {
            let _ = log.begin_rewrite(now_ms);
            chores(&mut log, now_ms);
            append(&mut log, 10, 0);
        }
        fail_write(&mut log, Failure::Io, now_ms);
    }
    assert_eq!(log.trouble(0), Some(Trouble::Failed));
    assert_eq!(log.begin_rewrite(0).map(|id| id.0), Ok(2));
    log.base_aborted(log.rewrite().unwrap(), 0);
    renew(&mut log, 100_000);
    assert_eq!(log.trouble(100_000), None);
}

#[test]
fn base_of_a_stale_rewrite_is_given_back() {
    let mut log = log(Policy::Always);
    let id = log.begin_rewrite(0).unwrap();
    assert_eq!(log.begin_rewrite(0), Err(Busy::InProgress));
    log.base_aborted(id, 0);
    chores(&mut log, 0);
    assert_eq!(log.manifest().increments.len(), 2, "both increments stay");
    assert!(!log.info().last_rewrite_ok);
    let base = Base {
        temporary_name: "temp-base".to_owned(),
        is_rdb: true,
        bytes: 1,
    };
    assert_eq!(log.base_finished(id, base.clone()), Err(base));
}

#[test]
fn rotation_whose_manifest_cannot_be_written_leaves_the_old_file_in_use() {
    let mut log = log(Policy::No);
    log.begin_rewrite(0).unwrap();
    loop {
        let operation = log.next(Lane::Sync, 0).unwrap();
        let is_manifest = matches!(operation, Operation::WriteWhole { .. });
        log.complete(
            Lane::Sync,
            if is_manifest {
                Err(Failure::NoSpace)
            } else {
                Ok(0)
            },
            0,
        );
        if is_manifest {
            break;
        }
    }
    assert_eq!((log.rewrite(), log.trouble(0)), (None, None));
    append(&mut log, 10, 0);
    assert!(matches!(
        log.next(Lane::Write, 0),
        Some(Operation::Write {
            file: FileId(1),
            ..
        })
    ));
}

#[test]
fn rotation_whose_rename_failed_writes_nothing_until_a_manifest_is_durable() {
    let mut log = log(Policy::No);
    log.begin_rewrite(0).unwrap();
    append(&mut log, 10, 0);
    let mut renames = 0;
    let mut now_ms = 0;
    while renames < 3 {
        let Some(operation) = log.next(Lane::Sync, now_ms) else {
            now_ms = log.wake_at().unwrap();
            continue;
        };
        assert!(
            !matches!(operation, Operation::Unlink { .. }),
            "both manifests may be on disk"
        );
        let is_rename = matches!(operation, Operation::Rename { .. });
        renames += u32::from(is_rename);
        let fails = is_rename && renames < 3;
        log.complete(
            Lane::Sync,
            if fails { Err(Failure::Io) } else { Ok(0) },
            now_ms,
        );
        assert_eq!(log.next(Lane::Write, now_ms), None);
        if renames == 2 && fails {
            assert_eq!(log.trouble(now_ms), Some(Trouble::Failed));
        }
    }
    chores(&mut log, now_ms);
    assert_eq!(log.trouble(now_ms), None);
    assert!(matches!(
        log.next(Lane::Write, now_ms),
        Some(Operation::Write {
            file: FileId(2),
            ..
        })
    ));
}

#[test]
fn automatic_rewrites_follow_growth_and_slow_down_after_failures() {
    let mut log = log(Policy::No);
    assert!(!log.rewrite_due(100, 64, 0));
    append(&mut log, 5000, 0);
    write(&mut log, 0);
    assert!(log.rewrite_due(100, 64, 0));
    assert!(!log.rewrite_due(0, 64, 0) && !log.rewrite_due(100, 10_000, 0));
    for failure in 0..4_u32 {
        let now_ms = u64::from(failure) * 1000;
        let id = log.begin_rewrite(now_ms).unwrap();
        log.base_aborted(id, now_ms);
        while log.next(Lane::Sync, now_ms).is_some() {
            log.complete(Lane::Sync, Ok(0), now_ms);
        }
    }
    assert_eq!(log.info().rewrite_failures, 4);
    assert!(!log.rewrite_due(100, 64, 3000 + 119_999));
    assert!(log.rewrite_due(100, 64, 3000 + 120_000));
}

#[test]
fn log_that_is_turned_on_is_whole_once_its_base_and_increment_are_durable() {
    let start = Start::from_memory(Default::default(), 5, 77);
    let mut log = Log::new(Settings::default(), start);
    chores(&mut log, 0);
    assert!(log.wants_base(0) && !log.is_whole());
    assert_eq!(log.trouble(1 << 40), None, "nothing has failed");
    let batch = Batch {
        first: 78,
        last: 78,
        ..Batch::default()
    };
    log.append(batch, [Bytes::from_static(b"x")], 0).unwrap();
    renew(&mut log, 0);
    assert!(log.is_whole());
    assert_eq!((log.written(), log.durable()), (78, 78));
    assert_eq!(
        log.manifest().increments[0].name,
        "appendonly.aof.5.incr.aof"
    );
}

#[test]
fn each_file_selects_its_database_and_later_blocks_only_another() {
    let mut log = log(Policy::No);
    let mut text = Vec::new();
    for (ticket, start, end) in [(1, 0, 0), (2, 0, 3), (3, 3, 3), (4, 0, 0)] {
        let batch = Batch {
            first: ticket,
            last: ticket,
            db_at_start: start,
            db_at_end: end,
            offset: 0,
        };
        log.append(batch, [Bytes::from_static(b"<>")], 0).unwrap();
        while let Some(Operation::Write { pieces, len, .. }) = log.next(Lane::Write, 0) {
            text.extend(pieces.concat());
            log.complete(Lane::Write, Ok(len), 0);
        }
    }
    let text = String::from_utf8(text).unwrap();
    let selects = text.match_indices("SELECT").count();
    assert_eq!(selects, 2, "{text}");
    assert!(
        text.contains("#RS:db\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n<>"),
        "{text}"
    );
}
