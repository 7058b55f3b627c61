// Generated from crates/respire-wasm; not to be edited.

export type State = { 
/**
 * The bytes it has been given.
 */
offset: number, 
/**
 * The frame at hand.
 */
frame: number, 
/**
 * `between`, `type`, `length`, `lf`, `crlf`, `payload`, `digits`, `line`, `word`, `field` or
 * `error`: what it is in the middle of, or what comes next.
 */
state: string, 
/**
 * The same in words.
 */
text: string, 
/**
 * The path of the value at hand.
 */
path: string, 
/**
 * The values around it that are begun and not finished, outermost first.
 */
open: Array<OpenValue>, 
/**
 * Bytes the frame lacks at least, as the decoder says; 0 between frames and behind an error.
 */
need: number, 
/**
 * What is there of the length or number at hand.
 */
number: string | null, 
/**
 * Bytes of the payload at hand that are missing.
 */
payloadLeft: number | null, 
/**
 * What may come next, in words.
 */
expected: string, 
/**
 * The bytes that may come next; none behind an error.
 */
expectedBytes: Array<number>, };

export type OpenValue = { 
/**
 * Its kind, by number.
 */
kind: number, 
/**
 * Its kind, by name.
 */
label: string, 
/**
 * Where it begins.
 */
start: number, 
/**
 * How many of its values are whole.
 */
done: number, 
/**
 * How many it announces; none if it is streamed.
 */
of: number | null, 
/**
 * How many are missing.
 */
left: number | null, 
/**
 * Its path.
 */
path: string, };

export type DocError = { 
/**
 * The frame.
 */
frame: number, 
/**
 * The byte that is wrong.
 */
offset: number, 
/**
 * The kind of error, by number.
 */
kind: number, 
/**
 * What is wrong.
 */
text: string, 
/**
 * The line a server sends before it closes the connection.
 */
reply: string, 
/**
 * The rule that was broken.
 */
rule: string, 
/**
 * Both with the bytes around, in a few lines.
 */
rendered: string, 
/**
 * What could stand there, in words.
 */
expected: string, 
/**
 * The bytes that could stand there.
 */
expectedBytes: Array<number>, 
/**
 * Where reading goes on.
 */
resync: number, 
/**
 * Changes that get past the error, the likeliest first.
 */
fixes: Array<FixInfo>, };

export type FixInfo = { 
/**
 * The first byte that goes.
 */
at: number, 
/**
 * How many go.
 */
len: number, 
/**
 * What comes in their place.
 */
with: Array<number>, 
/**
 * What was meant, as the end of a sentence that begins with "perhaps".
 */
why: string, };

export type Verdict = { 
/**
 * The preset, by number.
 */
limits: number, 
/**
 * The preset, by name.
 */
label: string, 
/**
 * The error it answers; none if the frame is read without one.
 */
reply: string | null, 
/**
 * Whether it then closes the connection.
 */
closes: boolean, };

export type Comparison = { 
/**
 * One form for each.
 */
wires: Array<Form>, };

export type Form = { 
/**
 * The protocol, by number.
 */
wire: number, 
/**
 * The protocol, by name.
 */
label: string, 
/**
 * The bytes, at most 64 KiB of them.
 */
bytes: Array<number>, 
/**
 * How many there are.
 */
total: number, 
/**
 * What they are spent on.
 */
cost: Cost, 
/**
 * What cannot be said in this protocol.
 */
lost: Array<Loss>, };

export type Cost = { 
/**
 * What was to be said: the bytes of strings, the digits of numbers.
 */
payload: number, 
/**
 * Type bytes, formats, quotes, blanks, marks of streams.
 */
framing: number, 
/**
 * Lengths and counts.
 */
digits: number, 
/**
 * Line ends.
 */
crlf: number, };

export type Loss = { 
/**
 * The value, as [`Document::path`] names it within its frame.
 */
path: string, 
/**
 * What becomes of it.
 */
what: string, };

export type MsgPack = { 
/**
 * Whether the bytes are MessagePack from the first to the last.
 */
ok: boolean, 
/**
 * What is wrong.
 */
error: string | null, 
/**
 * Where reading ended.
 */
at: number, 
/**
 * The values, in the order of their first bytes.
 */
tokens: Array<MsgPackToken>, 
/**
 * Whether there are more of them.
 */
cut: boolean, };

export type MsgPackToken = { 
/**
 * `nil`, `bool`, `int`, `float`, `str`, `bin`, `array`, `map` or `ext`.
 */
kind: string, 
/**
 * Its first byte.
 */
start: number, 
/**
 * Behind its type and length.
 */
head: number, 
/**
 * Behind all it holds.
 */
end: number, 
/**
 * Values around it.
 */
depth: number, 
/**
 * The number of the one around it, or -1.
 */
parent: number, 
/**
 * Its value, or its size.
 */
text: string, };

export type Words = { 
/**
 * The bytes of each word.
 */
words: Array<Array<number>>, 
/**
 * What is wrong with the line.
 */
error: string | null, 
/**
 * Where, in bytes of UTF-8.
 */
at: number, };

export type Guess = { 
/**
 * Its name for [`decode_as`]; `pcap` and `pcapng` are for [`crate::Capture`].
 */
format: string, 
/**
 * Its name for people.
 */
label: string, 
/**
 * How likely it is meant, up to 100.
 */
score: number, 
/**
 * What the decoded bytes seem to be, by number.
 */
mode: number, 
/**
 * How many there are.
 */
bytes: number, 
/**
 * The first 64.
 */
preview: Array<number>, 
/**
 * Why this is likely.
 */
why: string, };

export type CaptureSummary = { 
/**
 * All its packets.
 */
packets: number, 
/**
 * Those that are no part of a TCP stream.
 */
skipped: number, 
/**
 * Why, each reason once.
 */
why: Array<string>, 
/**
 * The link types it has.
 */
linkTypes: Array<string>, 
/**
 * When the first packet came, in milliseconds since 1970.
 */
startMs: number, 
/**
 * Its streams, in the order of their first packets.
 */
streams: Array<StreamSummary>, };

export type StreamSummary = { 
/**
 * The client's address.
 */
client: string, 
/**
 * The server's address.
 */
server: string, 
/**
 * Segments with content.
 */
packets: [number, number], 
/**
 * Bytes.
 */
bytes: [number, number], 
/**
 * Places where bytes were not captured.
 */
gaps: [number, number], 
/**
 * Whether the connection was open before the capture began: what came before is not known.
 */
isMidway: boolean, 
/**
 * When it began, in milliseconds since the capture's first packet.
 */
startMs: number, 
/**
 * When it was last heard of.
 */
endMs: number, };

export type Progress = { 
/**
 * Why the connection that was fed is closed, if it is.
 */
closed: string | null, 
/**
 * The connections whose output waits to be taken, in ascending order.
 */
ready: Array<number>, };

export type CommandInfo = { 
/**
 * Its name, upper case; a subcommand's behind its container's: `CLIENT LIST`.
 */
name: string, 
/**
 * The family it belongs to.
 */
group: string, 
/**
 * What it does.
 */
summary: string, 
/**
 * How it is written: `SET key value [NX | XX]`.
 */
syntax: string, 
/**
 * How many words it takes, the name included; negative: at least so many.
 */
arity: number, 
/**
 * The version it came with.
 */
since: string, 
/**
 * What it costs.
 */
complexity: string, 
/**
 * How it behaves, in Redis's words.
 */
flags: Array<string>, 
/**
 * The first key's place, the last one's, and the step between; 0 for none.
 */
keys: [number, number, number], 
/**
 * A line to try.
 */
example: string | null, 
/**
 * The grammar of its arguments.
 */
args: Array<ArgInfo>, };

export type ArgInfo = { 
/**
 * Its name.
 */
name: string, 
/**
 * Its type: `key`, `string`, `integer`, `pure-token`, `oneof`, `block` and the like.
 */
kind: string, 
/**
 * The word in front of it, or that it consists of.
 */
token: string | null, 
/**
 * Whether it may be left out.
 */
optional: boolean, 
/**
 * Whether it may be repeated.
 */
multiple: boolean, 
/**
 * The choices of a `oneof`, the parts of a `block`.
 */
parts: Array<ArgInfo>, };
