//! Makes a payload of arbitrary bytes.

/// The types that some version of Redis writes, and two that none does.
const TYPES: [u8; 23] = [
    0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14, 16, 17, 18, 20, 22, 23, 24, 25, 15, 99, 7,
];

/// The types whose value is a string with a packed form in it.
const ZIPLISTS: [u8; 4] = [10, 12, 13, 14];
const LISTPACKS: [u8; 6] = [16, 17, 18, 20, 23, 25];
const INTSET: u8 = 11;

/// Types with more before that string: a number of nodes, a node's form, a time.
const ZIPLIST_NODES: u8 = 14;
const NODES: u8 = 18;
const EXPIRING_LISTPACK: u8 = 25;

/// The bit for a length before the bytes, as they are one string.
const IS_STRING: u8 = 1;
/// The bit for a packed form whose header and end are made right.
const IS_MENDED: u8 = 2;

/// The payload: the bytes as the options say, with the type before and a right footer behind them.
pub(super) fn of(options: u8, type_number: u8, bytes: &[u8]) -> Vec<u8> {
    let type_byte = TYPES[usize::from(type_number) % TYPES.len()];
    let mut payload = vec![type_byte];
    let mut packed = bytes.to_vec();
    if options & IS_MENDED != 0 {
        mend(type_byte, &mut packed);
    }
    if options & IS_STRING != 0 {
        match type_byte {
            ZIPLIST_NODES => payload.push(1),
            NODES => payload.extend_from_slice(&[1, 2]),
            EXPIRING_LISTPACK => payload.extend_from_slice(&[0; 8]),
            _ => {}
        }
        payload.push(0x80);
        payload.extend_from_slice(&(packed.len() as u32).to_be_bytes());
    }
    payload.extend_from_slice(&packed);
    payload.extend_from_slice(&respire_rdb::VERSION.to_le_bytes());
    let checksum = respire_rdb::checksum(&payload);
    payload.extend_from_slice(&checksum.to_le_bytes());
    payload
}

fn mend(type_byte: u8, bytes: &mut Vec<u8>) {
    let head = match type_byte {
        it if LISTPACKS.contains(&it) => 6,
        it if ZIPLISTS.contains(&it) => 10,
        INTSET => 8,
        _ => return,
    };
    if bytes.len() <= head {
        bytes.resize(head + 1, 0);
    }
    if type_byte == INTSET {
        let width = [2, 4, 8][usize::from(bytes[0] % 3)];
        bytes.truncate(head + (bytes.len() - head) / width * width);
        let len = (bytes.len() - head) / width;
        bytes[..4].copy_from_slice(&(width as u32).to_le_bytes());
        bytes[4..8].copy_from_slice(&(len as u32).to_le_bytes());
        return;
    }
    let total = bytes.len() as u32;
    bytes[..4].copy_from_slice(&total.to_le_bytes());
    // The elements are to be counted.
    bytes[head - 2..head].fill(0xff);
    *bytes.last_mut().expect("more than the header") = 0xff;
}

/// The request that sets the sizes up to which values are small.
pub(super) fn settings(options: u8) -> [&'static [u8]; 16] {
    const NAMES: [&str; 7] = [
        "hash-max-listpack-entries",
        "hash-max-listpack-value",
        "set-max-intset-entries",
        "zset-max-listpack-entries",
        "zset-max-listpack-value",
        "list-max-listpack-size",
        "hll-sparse-max-bytes",
    ];
    let sizes = match options >> 6 {
        0 | 1 => ["128", "64", "512", "128", "64", "-2", "3000"],
        2 => ["2", "64", "2", "2", "64", "2", "3000"],
        _ => ["128", "2", "512", "128", "2", "-1", "20"],
    };
    let mut request = [&b"CONFIG"[..]; 16];
    request[1] = b"SET";
    for (at, (name, size)) in NAMES.iter().zip(sizes).enumerate() {
        request[2 + 2 * at] = name.as_bytes();
        request[3 + 2 * at] = size.as_bytes();
    }
    request
}
