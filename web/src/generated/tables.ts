// Generated from crates/respire-wasm; not to be edited.

export const FRAME_WORDS = 4;
export const MARK_WORDS = 6;
export const NODE_WORDS = 7;
export const READ_WORDS = 6;
export const SEGMENT_WORDS = 6;

/** No parent, no count. */
export const NONE = 0xffffffff;

export interface Meaning {
  id: string;
  label: string;
  letter: string;
  what: string;
}

export const ROLES: readonly Meaning[] = [
  { id: "type", label: "type", letter: "T", what: "says what kind of value follows" },
  { id: "sign", label: "sign", letter: "S", what: "the sign of a number" },
  { id: "len", label: "length", letter: "L", what: "how many bytes or elements follow" },
  { id: "digits", label: "digits", letter: "N", what: "the digits of a number" },
  { id: "crlf", label: "line end", letter: "E", what: "CR and LF end a line or a payload" },
  { id: "payload", label: "payload", letter: "P", what: "the value itself" },
  { id: "format", label: "format", letter: "F", what: "the format of a verbatim string" },
  { id: "colon", label: "colon", letter: "C", what: "ends the format" },
  { id: "stream", label: "stream", letter: "?", what: "the length is not announced" },
  { id: "end", label: "end", letter: ".", what: "ends a streamed value" },
  { id: "word", label: "word", letter: "W", what: "a word of an inline request" },
  { id: "space", label: "blank", letter: "_", what: "separates words" },
  { id: "quote", label: "quote", letter: "Q", what: "holds a word together" },
  { id: "escape", label: "escape", letter: "X", what: "stands for another byte" },
  { id: "field", label: "field", letter: "B", what: "a number in binary" },
  { id: "bad", label: "wrong", letter: "!", what: "cannot be read" },
  { id: "missing", label: "missing", letter: "…", what: "has not arrived" },
];

export const KINDS: readonly Meaning[] = [
  { id: "simple", label: "simple string", letter: "+", what: "a line of text" },
  { id: "error", label: "error", letter: "-", what: "a line that begins with an error code" },
  { id: "int", label: "integer", letter: ":", what: "a signed 64-bit number" },
  { id: "null", label: "null", letter: "_", what: "no value" },
  { id: "bool", label: "boolean", letter: "#", what: "true or false" },
  { id: "double", label: "double", letter: ",", what: "a floating-point number" },
  { id: "bigNumber", label: "big number", letter: "(", what: "an integer of any size" },
  { id: "bulk", label: "bulk string", letter: "$", what: "any bytes, their length in front" },
  { id: "blobError", label: "blob error", letter: "!", what: "an error of any bytes" },
  { id: "verbatim", label: "verbatim string", letter: "=", what: "text with its format" },
  { id: "array", label: "array", letter: "*", what: "values in order" },
  { id: "map", label: "map", letter: "%", what: "pairs of key and value" },
  { id: "set", label: "set", letter: "~", what: "values without an order" },
  { id: "push", label: "push", letter: ">", what: "sent without being asked for" },
  { id: "attribute", label: "attribute", letter: "|", what: "pairs that describe the next value" },
  { id: "chunk", label: "chunk", letter: ";", what: "a piece of a streamed string" },
  { id: "end", label: "end", letter: ".", what: "ends a streamed aggregate" },
  { id: "command", label: "request", letter: "*", what: "a command and its arguments" },
  { id: "arg", label: "argument", letter: "$", what: "an argument of a request" },
  { id: "unknown", label: "unknown", letter: "?", what: "its type has not arrived, or is none" },
];

/** The kinds of errors, from 1: what is wrong, and the rule. */
export const ERRORS: readonly { text: string; rule: string }[] = [
  { text: "Protocol error: invalid multibulk length", rule: "A count is 0, or digits that begin with no 0, within the limit, and CRLF." },
  { text: "Protocol error: invalid bulk length", rule: "A length is 0, or digits that begin with no 0, and CRLF; the payload has exactly that many bytes, and CRLF." },
  { text: "Protocol error: unauthenticated multibulk length", rule: "Before AUTH a request has few and short arguments." },
  { text: "Protocol error: unauthenticated bulk length", rule: "Before AUTH a request has few and short arguments." },
  { text: "Protocol error: expected '$', got '?'", rule: "Every argument of a request is a bulk string: $, a length, CRLF." },
  { text: "Protocol error: too big inline request", rule: "The line is longer than the limit allows." },
  { text: "Protocol error: unbalanced quotes in request", rule: "A quote is closed, and a blank or the line's end follows it." },
  { text: "Protocol error: too big request", rule: "The whole is longer than the limit allows." },
  { text: "Protocol error: unknown reply type 0x3f", rule: "A reply begins with one of + - : $ * _ # , ( ! = % ~ | >." },
  { text: "Protocol error: invalid line end", rule: "A line ends with CRLF, and has neither CR nor LF within." },
  { text: "Protocol error: too big line", rule: "The line is longer than the limit allows." },
  { text: "Protocol error: invalid integer", rule: "An integer is decimal and fits 64 bits." },
  { text: "Protocol error: invalid double", rule: "A double is like 1, -1.5 or 1e-9, or it is inf, -inf or nan." },
  { text: "Protocol error: invalid big number", rule: "A big number is decimal digits, perhaps behind a sign." },
  { text: "Protocol error: invalid boolean", rule: "A boolean is #t or #f." },
  { text: "Protocol error: invalid verbatim string", rule: "A verbatim string begins with three bytes of format and a colon." },
  { text: "Protocol error: invalid push", rule: "A push has elements, and the first is a string that names it." },
  { text: "Protocol error: push within another value", rule: "A push stands between replies, never within one." },
  { text: "Protocol error: expected a chunk of a streamed string", rule: "A streamed string is chunks, each ; and a length, up to ;0." },
  { text: "Protocol error: chunk outside a streamed string", rule: "A chunk stands only within a streamed string." },
  { text: "Protocol error: end outside a streamed aggregate", rule: "The end . stands only within a streamed aggregate, behind a whole value." },
  { text: "Protocol error: streamed map ends behind a key", rule: "A map has a value for every key." },
  { text: "Protocol error: too deep nesting", rule: "The nesting is deeper than the limit allows." },
  { text: "Protocol error: too many values", rule: "There are more values than the limit allows." },
  { text: "Protocol error: unknown binary tag 0x3f", rule: "A binary value begins with one of _ # : , + - $ ! ( = * ~ > % |." },
  { text: "Protocol error: unknown binary operation 0x3f", rule: "A binary request begins with 01, 02, 03 or 10." },
  { text: "Protocol error: input after a protocol error", rule: "Nothing can be read behind an error until the decoder is reset." },
];

/** The presets of limits, by number. */
export const LIMITS: readonly { id: string; label: string; what: string }[] = [
  { id: "server", label: "server", what: "Requests of at most 1 GiB, arguments of 512 MiB, 1048576 arguments, lines of 64 KiB." },
  { id: "unauthenticated", label: "before AUTH", what: "Requests of at most 1 MiB, arguments of 16 KiB, 10 arguments, lines of 64 KiB." },
  { id: "client", label: "client", what: "Replies of at most 2 GiB, strings of 512 MiB, lines of 64 KiB, 128 levels deep." },
];

/** The commands by the number that frames carry, less 1: name and summary. */
export const COMMANDS: readonly (readonly [name: string, summary: string])[] = [
  ["ACL", "A container for Access List Control commands "],
  ["APPEND", "Append a value to a key"],
  ["AUTH", "Authenticate to the server"],
  ["BITCOUNT", "Count set bits in a string"],
  ["BITFIELD", "Perform arbitrary bitfield integer operations on strings"],
  ["BITFIELD_RO", "Perform arbitrary bitfield integer operations on strings. Read-only variant of BITFIELD"],
  ["BITOP", "Perform bitwise operations between strings"],
  ["BITPOS", "Find first bit set or clear in a string"],
  ["CLIENT", "A container for client connection commands"],
  ["COMMAND", "Get array of Redis command details"],
  ["CONFIG", "A container for server configuration commands"],
  ["COPY", "Copy a key"],
  ["DBSIZE", "Return the number of keys in the selected database"],
  ["DEBUG", "A container for debugging commands"],
  ["DECR", "Decrement the integer value of a key by one"],
  ["DECRBY", "Decrement the integer value of a key by the given number"],
  ["DEL", "Delete a key"],
  ["DELEX", "Delete a key, optionally only if its string equals a value or differs from it"],
  ["DELIFEQ", "Delete a key, only if its string equals a value"],
  ["DISCARD", "Discard all commands issued after MULTI"],
  ["DUMP", "Return a serialized version of the value stored at the specified key."],
  ["ECHO", "Echo the given string"],
  ["EXEC", "Execute all commands issued after MULTI"],
  ["EXISTS", "Determine if a key exists"],
  ["EXPIRE", "Set a key's time to live in seconds"],
  ["EXPIREAT", "Set the expiration for a key as a UNIX timestamp"],
  ["EXPIRETIME", "Get the expiration Unix timestamp for a key"],
  ["FLUSHALL", "Remove all keys from all databases"],
  ["FLUSHDB", "Remove all keys from the current database"],
  ["GET", "Get the value of a key"],
  ["GETBIT", "Returns the bit value at offset in the string value stored at key"],
  ["GETDEL", "Get the value of a key and delete the key"],
  ["GETEX", "Get the value of a key and optionally set its expiration"],
  ["GETRANGE", "Get a substring of the string stored at a key"],
  ["GETSET", "Set the string value of a key and return its old value"],
  ["HDEL", "Delete one or more hash fields"],
  ["HELLO", "Handshake with Redis"],
  ["HEXISTS", "Determine if a hash field exists"],
  ["HGET", "Get the value of a hash field"],
  ["HGETALL", "Get all the fields and values in a hash"],
  ["HINCRBY", "Increment the integer value of a hash field by the given number"],
  ["HINCRBYFLOAT", "Increment the float value of a hash field by the given amount"],
  ["HKEYS", "Get all the fields in a hash"],
  ["HLEN", "Get the number of fields in a hash"],
  ["HMGET", "Get the values of all the given hash fields"],
  ["HMSET", "Set multiple hash fields to multiple values"],
  ["HRANDFIELD", "Get one or multiple random fields from a hash"],
  ["HSCAN", "Incrementally iterate hash fields and associated values"],
  ["HSET", "Set the string value of a hash field"],
  ["HSETNX", "Set the value of a hash field, only if the field does not exist"],
  ["HSTRLEN", "Get the length of the value of a hash field"],
  ["HVALS", "Get all the values in a hash"],
  ["INCR", "Increment the integer value of a key by one"],
  ["INCRBY", "Increment the integer value of a key by the given amount"],
  ["INCRBYFLOAT", "Increment the float value of a key by the given amount"],
  ["INFO", "Get information and statistics about the server"],
  ["KEYS", "Find all keys matching the given pattern"],
  ["LASTSAVE", "Get the UNIX time stamp of the last successful save to disk"],
  ["LATENCY", "A container for latency diagnostics commands"],
  ["LCS", "Find longest common substring"],
  ["LOLWUT", "Display some computer art and the Redis version"],
  ["MEMORY", "A container for memory diagnostics commands"],
  ["MGET", "Get the values of all the given keys"],
  ["MOVE", "Move a key to another database"],
  ["MSET", "Set multiple keys to multiple values"],
  ["MSETEX", "Set multiple keys to multiple values with a shared expiration, optionally only if none or all of the keys exist"],
  ["MSETNX", "Set multiple keys to multiple values, only if none of the keys exist"],
  ["MULTI", "Mark the start of a transaction block"],
  ["OBJECT", "A container for object introspection commands"],
  ["PERSIST", "Remove the expiration from a key"],
  ["PEXPIRE", "Set a key's time to live in milliseconds"],
  ["PEXPIREAT", "Set the expiration for a key as a UNIX timestamp specified in milliseconds"],
  ["PEXPIRETIME", "Get the expiration Unix timestamp for a key in milliseconds"],
  ["PFADD", "Adds the specified elements to the specified HyperLogLog."],
  ["PFCOUNT", "Return the approximated cardinality of the set(s) observed by the HyperLogLog at key(s)."],
  ["PFDEBUG", "Internal commands for debugging HyperLogLog values"],
  ["PFMERGE", "Merge N different HyperLogLogs into a single one."],
  ["PFSELFTEST", "An internal command for testing HyperLogLog values"],
  ["PING", "Ping the server"],
  ["PSETEX", "Set the value and expiration in milliseconds of a key"],
  ["PSUBSCRIBE", "Listen for messages published to channels matching the given patterns"],
  ["PTTL", "Get the time to live for a key in milliseconds"],
  ["PUBLISH", "Post a message to a channel"],
  ["PUBSUB", "A container for Pub/Sub commands"],
  ["PUNSUBSCRIBE", "Stop listening for messages posted to channels matching the given patterns"],
  ["QUIT", "Close the connection"],
  ["RANDOMKEY", "Return a random key from the keyspace"],
  ["RENAME", "Rename a key"],
  ["RENAMENX", "Rename a key, only if the new key does not exist"],
  ["RESET", "Reset the connection"],
  ["RESTORE", "Create a key using the provided serialized value, previously obtained using DUMP."],
  ["SCAN", "Incrementally iterate the keys space"],
  ["SELECT", "Change the selected database for the current connection"],
  ["SET", "Set the string value of a key"],
  ["SETBIT", "Sets or clears the bit at offset in the string value stored at key"],
  ["SETEX", "Set the value and expiration of a key"],
  ["SETNX", "Set the value of a key, only if the key does not exist"],
  ["SETRANGE", "Overwrite part of a string at key starting at the specified offset"],
  ["SHUTDOWN", "Synchronously save the dataset to disk and then shut down the server"],
  ["SLOWLOG", "A container for slow log commands"],
  ["SORT", "Sort the elements in a list, set or sorted set"],
  ["SORT_RO", "Sort the elements in a list, set or sorted set. Read-only variant of SORT."],
  ["SPUBLISH", "Post a message to a shard channel"],
  ["SSUBSCRIBE", "Listen for messages published to the given shard channels"],
  ["STRLEN", "Get the length of the value stored in a key"],
  ["SUBSCRIBE", "Listen for messages published to the given channels"],
  ["SUBSTR", "Get a substring of the string stored at a key"],
  ["SUNSUBSCRIBE", "Stop listening for messages posted to the given shard channels"],
  ["SWAPDB", "Swaps two Redis databases"],
  ["TIME", "Return the current server time"],
  ["TOUCH", "Alters the last access time of a key(s). Returns the number of existing keys specified."],
  ["TTL", "Get the time to live for a key in seconds"],
  ["TYPE", "Determine the type stored at key"],
  ["UNLINK", "Delete a key asynchronously in another thread. Otherwise it is just as DEL, but non blocking."],
  ["UNSUBSCRIBE", "Stop listening for messages posted to the given channels"],
  ["UNWATCH", "Forget about all watched keys"],
  ["WATCH", "Watch the given keys to determine execution of the MULTI/EXEC block"],
];

export const Role = { type: 0, sign: 1, len: 2, digits: 3, crlf: 4, payload: 5, format: 6, colon: 7, stream: 8, end: 9, word: 10, space: 11, quote: 12, escape: 13, field: 14, bad: 15, missing: 16 } as const;

export const Kind = { simple: 0, error: 1, int: 2, null: 3, bool: 4, double: 5, bigNumber: 6, bulk: 7, blobError: 8, verbatim: 9, array: 10, map: 11, set: 12, push: 13, attribute: 14, chunk: 15, end: 16, command: 17, arg: 18, unknown: 19 } as const;

export const Mode = { requests: 0, replies: 1, binaryRequests: 2, binaryReplies: 3, auto: 4 } as const;

export const Limits = { server: 0, unauthenticated: 1, client: 2 } as const;

export const FrameStatus = { whole: 0, bad: 1, torn: 2, blank: 3 } as const;

export const Wire = { resp2: 0, resp3: 1, binary: 2, inline: 3 } as const;

export const Outcome = { needsMore: 0, failed: 1, allConsumed: 2 } as const;
