// Generated from crates/respire-wasm; not to be edited.

export type State = { 
/**
 * The number of bytes it has been given.
 */
offset: number, 
/**
 * The number of the current frame.
 */
frame: number, 
/**
 * The current part of the value, or the next one: `between`, `type`, `length`, `lf`, `crlf`,
 * `payload`, `digits`, `line`, `word`, `field` or `error`.
 */
state: string, 
/**
 * The state in words.
 */
text: string, 
/**
 * The path of the current value.
 */
path: string, 
/**
 * The open values around it, outermost first.
 */
open: Array<OpenValue>, 
/**
 * The number of bytes that the frame misses at least, as the decoder reports it; 0 between
 * frames and after an error.
 */
need: number, 
/**
 * The part of the current length or number that has been read.
 */
number: string | null, 
/**
 * The number of missing bytes of the current payload.
 */
payloadLeft: number | null, 
/**
 * The bytes that may come next, in words.
 */
expected: string, 
/**
 * The bytes that may come next; none after an error.
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
 * Offset of its first byte.
 */
start: number, 
/**
 * The number of complete values within.
 */
done: number, 
/**
 * The announced number of values within; none if it is streamed.
 */
of: number | null, 
/**
 * The number of missing values within.
 */
left: number | null, 
/**
 * Its path.
 */
path: string, };

export type DocError = { 
/**
 * The number of the frame.
 */
frame: number, 
/**
 * Offset of the wrong byte.
 */
offset: number, 
/**
 * The kind of error, by number.
 */
kind: number, 
/**
 * What is wrong, in words.
 */
text: string, 
/**
 * The line that a server sends before it closes the connection.
 */
reply: string, 
/**
 * The violated rule.
 */
rule: string, 
/**
 * The error and the rule with the bytes around, in a few lines.
 */
rendered: string, 
/**
 * The bytes that are valid there, in words.
 */
expected: string, 
/**
 * The bytes that are valid there.
 */
expectedBytes: Array<number>, 
/**
 * Offset at which decoding continues.
 */
resync: number, 
/**
 * Changes that get past the error, the likeliest first.
 */
fixes: Array<FixInfo>, };

export type FixInfo = { 
/**
 * Offset of the first byte to remove.
 */
at: number, 
/**
 * The number of bytes to remove.
 */
len: number, 
/**
 * The bytes to insert in their place.
 */
with: Array<number>, 
/**
 * What the sender probably meant, as the end of a sentence that begins with "perhaps".
 */
why: string, };

export type Verdict = { 
/**
 * The number of the preset.
 */
limits: number, 
/**
 * The name of the preset.
 */
label: string, 
/**
 * The error it replies with; none if the frame has no error.
 */
reply: string | null, 
/**
 * Whether it then closes the connection.
 */
closes: boolean, };

export type Comparison = { 
/**
 * One form per protocol.
 */
wires: Array<Form>, };

export type Form = { 
/**
 * The number of the protocol.
 */
wire: number, 
/**
 * The name of the protocol.
 */
label: string, 
/**
 * The bytes, at most 64 KiB.
 */
bytes: Array<number>, 
/**
 * The number of bytes without that limit.
 */
total: number, 
/**
 * What the bytes are used for.
 */
cost: Cost, 
/**
 * The values that this protocol cannot express.
 */
lost: Array<Loss>, };

export type Cost = { 
/**
 * The content: the bytes of strings, the digits of numbers.
 */
payload: number, 
/**
 * Type bytes, formats, quotes, blanks, and the marks of streams.
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
 * The path of the value within its frame, as [`Document::path`] gives it.
 */
path: string, 
/**
 * What it is written as instead.
 */
what: string, };

export type MsgPack = { 
/**
 * Whether the bytes are MessagePack from the first to the last.
 */
ok: boolean, 
/**
 * The error, if the bytes are not MessagePack.
 */
error: string | null, 
/**
 * Offset where decoding ended.
 */
at: number, 
/**
 * The values, in the order of their first bytes.
 */
tokens: Array<MsgPackToken>, 
/**
 * Whether further values were omitted.
 */
cut: boolean, };

export type MsgPackToken = { 
/**
 * `nil`, `bool`, `int`, `float`, `str`, `bin`, `array`, `map` or `ext`.
 */
kind: string, 
/**
 * Offset of its first byte.
 */
start: number, 
/**
 * Offset after its type and length.
 */
head: number, 
/**
 * Offset after all its content.
 */
end: number, 
/**
 * The number of values around it.
 */
depth: number, 
/**
 * The number of the value around it, or -1.
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
 * The error in the line.
 */
error: string | null, 
/**
 * The offset of the error, in bytes of UTF-8.
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
 * How likely it is, up to 100.
 */
score: number, 
/**
 * The mode that the decoded bytes seem to have, by number.
 */
mode: number, 
/**
 * The number of decoded bytes.
 */
bytes: number, 
/**
 * The first 64 decoded bytes.
 */
preview: Array<number>, 
/**
 * The reason why it is likely.
 */
why: string, };

export type CaptureSummary = { 
/**
 * The number of packets.
 */
packets: number, 
/**
 * The number of packets that are not part of a TCP stream.
 */
skipped: number, 
/**
 * The reasons for skipping packets, each once.
 */
why: Array<string>, 
/**
 * The names of its link types.
 */
linkTypes: Array<string>, 
/**
 * The time of the first packet, in milliseconds since 1970.
 */
startMs: number, 
/**
 * Its TCP streams, in the order of their first packets.
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
 * The number of segments with content.
 */
packets: [number, number], 
/**
 * The number of bytes.
 */
bytes: [number, number], 
/**
 * The number of gaps, where bytes were not captured.
 */
gaps: [number, number], 
/**
 * Whether the connection was opened before the capture began, so that earlier bytes are not
 * known.
 */
isMidway: boolean, 
/**
 * The time of its first packet, in milliseconds since the capture's first packet.
 */
startMs: number, 
/**
 * The time of its last packet.
 */
endMs: number, };

export type Progress = { 
/**
 * The reason why the connection that sent the input is closed, if it is.
 */
closed: string | null, 
/**
 * The connections with output to take, in ascending order.
 */
ready: Array<number>, };

export type CommandInfo = { 
/**
 * Its name in upper case; a subcommand's name follows its container's: `CLIENT LIST`.
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
 * Its syntax: `SET key value [NX | XX]`.
 */
syntax: string, 
/**
 * The number of words, including the name; if negative, at least that many.
 */
arity: number, 
/**
 * The Redis version that introduced it.
 */
since: string, 
/**
 * Its complexity.
 */
complexity: string, 
/**
 * Its flags, as Redis names them.
 */
flags: Array<string>, 
/**
 * The position of the first key, of the last key, and the step between keys; 0 without keys.
 */
keys: [number, number, number], 
/**
 * An example line.
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
 * The word before it, or the word that it consists of.
 */
token: string | null, 
/**
 * Whether it is optional.
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
