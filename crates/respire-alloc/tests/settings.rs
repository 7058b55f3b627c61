//! Tests in a program that uses the allocator: the settings are in effect, and blocks fit their
//! layout.

use core::alloc::Layout;
use respire_alloc::Mimalloc;

#[global_allocator]
static ALLOCATOR: Mimalloc = Mimalloc;

fn usable_bytes(bytes: usize, align: usize) -> Option<usize> {
    let layout = Layout::from_size_align(bytes, align).ok()?;
    Mimalloc::usable_bytes(layout)
}

#[test]
fn sizes_up_to_64_bytes_come_in_steps_of_8_bytes() {
    for bytes in 1..=64_usize {
        for align in [1, 2, 4, 8] {
            let expected = bytes.next_multiple_of(8);
            assert_eq!(
                usable_bytes(bytes, align),
                Some(expected),
                "{bytes} {align}"
            );
        }
    }
    // A key of 16 bytes with a value of 3.
    assert_eq!(usable_bytes(24, 8), Some(24));
}

#[test]
fn free_memory_is_returned_in_whole_huge_pages() {
    // The variable overrides the setting.
    if std::env::var_os("MIMALLOC_ALLOW_THP").is_none() {
        assert!(Mimalloc::keeps_huge_pages_whole());
    }
}

/// Grows and shrinks a vector of `T`, and checks its alignment and contents.
fn grow_and_shrink<T: Copy + PartialEq + core::fmt::Debug>(make: impl Fn(usize) -> T) {
    let mut items = Vec::new();
    for at in 0..3_000 {
        items.push(make(at));
        assert!(items.as_ptr().is_aligned());
    }
    items.truncate(5);
    items.shrink_to_fit();
    assert!(items.as_ptr().is_aligned());
    let expected: Vec<T> = (0..5).map(make).collect();
    assert_eq!(items, expected);
}

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(16))]
struct Aligned16(usize);

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(128))]
struct Aligned128(usize);

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(4096))]
struct Aligned4096(usize);

#[test]
fn moved_blocks_keep_alignment_and_contents() {
    grow_and_shrink(|at| at as u8);
    grow_and_shrink(|at| at as u64);
    grow_and_shrink(|at| [at as u64; 3]);
    grow_and_shrink(Aligned16);
    grow_and_shrink(Aligned128);
    grow_and_shrink(Aligned4096);
}

#[test]
fn zeroed_blocks_are_zero_in_reused_memory() {
    for bytes in [1, 7, 24, 64, 1_000, 100_000, 5_000_000] {
        drop(vec![0xff_u8; bytes]);
        assert!(vec![0_u8; bytes].iter().all(|byte| *byte == 0));
        drop(vec![u128::MAX; bytes / 16 + 1]);
        assert!(vec![0_u128; bytes / 16 + 1].iter().all(|word| *word == 0));
    }
}

#[test]
fn another_thread_can_free_a_block() {
    let made: Vec<Vec<u8>> = (0..1_000).map(|at| vec![at as u8; at]).collect();
    let made = std::thread::spawn(move || {
        let again = made.clone();
        drop(made);
        again
    });
    let made = made.join().unwrap();
    let is_as_made = |(at, bytes): (usize, &Vec<u8>)| *bytes == vec![at as u8; at];
    assert!(made.iter().enumerate().all(is_as_made));
}
