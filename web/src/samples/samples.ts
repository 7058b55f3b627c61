// Twenty sample documents: every type of RESP3, requests, the binary protocol, and three with
// errors.

import { MODES } from "../engine/tables";

export interface Sample {
  id: string;
  name: string;
  /** Its type, in a word. */
  tag: "request" | "reply" | "RESP3" | "binary" | "broken";
  mode: number;
  /** Bytes as text with `\r`, `\n`, `\\` and `\xHH`. */
  text: string;
  /** One line of explanation for newcomers. */
  note: string;
}

const { requests, replies, binaryRequests, binaryReplies } = MODES;

export const SAMPLES: readonly Sample[] = [
  { id: "map", name: "Map", tag: "RESP3", mode: replies, text: "%1\\r\\n+a\\r\\n:1\\r\\n", note: "One pair: a key and its value" },
  { id: "set", name: "SET request", tag: "request", mode: requests, text: "*3\\r\\n$3\\r\\nSET\\r\\n$8\\r\\ngreeting\\r\\n$11\\r\\nhello world\\r\\n", note: "What a client sends to store a value" },
  { id: "pipeline", name: "Pipeline", tag: "request", mode: requests, text: "*2\\r\\n$4\\r\\nINCR\\r\\n$6\\r\\nvisits\\r\\n*2\\r\\n$3\\r\\nGET\\r\\n$6\\r\\nvisits\\r\\n*3\\r\\n$6\\r\\nEXPIRE\\r\\n$6\\r\\nvisits\\r\\n$2\\r\\n60\\r\\n", note: "Three requests sent without waiting" },
  { id: "inline", name: "Typed by hand", tag: "request", mode: requests, text: "SET note \"two words\\\\n\" EX 60\\r\\nGET note\\r\\n", note: "Inline requests, as from telnet" },
  { id: "lines", name: "Simple, error, integer", tag: "reply", mode: replies, text: "+OK\\r\\n-ERR unknown command 'FOO'\\r\\n:1000\\r\\n", note: "The three replies that are one line" },
  { id: "bulk", name: "Bulk string", tag: "reply", mode: replies, text: "$12\\r\\nhello\\r\\nworld\\r\\n", note: "Counted bytes: a line end within is content" },
  { id: "nulls", name: "Three nulls", tag: "reply", mode: replies, text: "$-1\\r\\n*-1\\r\\n_\\r\\n$0\\r\\n\\r\\n", note: "Nothing, nothing, nothing, and an empty string" },
  { id: "array", name: "Nested array", tag: "reply", mode: replies, text: "*3\\r\\n:1\\r\\n*2\\r\\n$3\\r\\ntwo\\r\\n*1\\r\\n+deep\\r\\n:3\\r\\n", note: "Values within values" },
  { id: "numbers", name: "Booleans, numbers", tag: "RESP3", mode: replies, text: "#t\\r\\n#f\\r\\n,3.14\\r\\n,-inf\\r\\n(3492890328409238509324850943850943825024385\\r\\n", note: "What RESP2 sends as text or as 1 and 0" },
  { id: "bloberror", name: "Blob error", tag: "RESP3", mode: replies, text: "!22\\r\\nSYNTAX invalid\\r\\nsyntax\\r\\n", note: "An error that may hold line ends" },
  { id: "verbatim", name: "Verbatim string", tag: "RESP3", mode: replies, text: "=15\\r\\ntxt:Some string\\r\\n", note: "Text that says what format it has" },
  { id: "members", name: "Set", tag: "RESP3", mode: replies, text: "~4\\r\\n+red\\r\\n+green\\r\\n+blue\\r\\n:7\\r\\n", note: "Members in no order" },
  { id: "push", name: "Push", tag: "RESP3", mode: replies, text: ">3\\r\\n$7\\r\\nmessage\\r\\n$4\\r\\nnews\\r\\n$5\\r\\nhello\\r\\n+PONG\\r\\n", note: "Sent unasked, in front of the reply" },
  { id: "attributes", name: "Attributes", tag: "RESP3", mode: replies, text: "|1\\r\\n+ttl\\r\\n:3600\\r\\n*2\\r\\n$1\\r\\na\\r\\n$1\\r\\nb\\r\\n", note: "Pairs about the value after them" },
  { id: "streamed", name: "Streamed", tag: "RESP3", mode: replies, text: "$?\\r\\n;4\\r\\nHell\\r\\n;1\\r\\no\\r\\n;0\\r\\n*?\\r\\n:1\\r\\n:2\\r\\n.\\r\\n", note: "Sizes that are not known in advance" },
  { id: "binary", name: "Binary requests", tag: "binary", mode: binaryRequests, text: "\\x03\\x05\\x00\\x00\\x00hello\\x05\\x00\\x00\\x00world\\x01\\x05\\x00\\x00\\x00hello\\x10\\x02\\x00\\x00\\x00\\x04\\x00\\x00\\x00INCR\\x01\\x00\\x00\\x00n", note: "SET, GET and a CALL without any text" },
  { id: "tagged", name: "Binary replies", tag: "binary", mode: binaryReplies, text: "%\\x01\\x00\\x00\\x00+\\x01\\x00\\x00\\x00a:\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00#\\x01,\\x1f\\x85\\xebQ\\xb8\\x1e\\t@_", note: "A map, true, 3.14 and null, tagged" },
  { id: "torn", name: "Torn frame", tag: "broken", mode: replies, text: "*3\\r\\n$5\\r\\nfirst\\r\\n$6\\r\\nsecond\\r\\n$5\\r\\nth", note: "The connection broke off: what is missing?" },
  { id: "length", name: "Wrong length", tag: "broken", mode: requests, text: "*3\\r\\n$3\\r\\nSET\\r\\n$4\\r\\nname\\r\\n$4\\r\\nZoë\\x21\\r\\n*1\\r\\n$4\\r\\nPING\\r\\n", note: "Characters were counted, not bytes" },
  { id: "attack", name: "Attack", tag: "broken", mode: requests, text: "*2\\r\\n$3\\r\\nGET\\r\\n$99999999999\\r\\n*1000000000\\r\\n$1\\r\\nA\\r\\n*1\\r\\n$4\\r\\nPING\\r\\n", note: "Announces more than any server keeps" },
];

const encoder = new TextEncoder();

/** The bytes of a text with escapes. */
export function unescape(text: string): Uint8Array {
  const out: number[] = [];
  for (const part of text.split(/(\\x[0-9a-f]{2}|\\.)/i)) {
    if (part === "\\r") out.push(0x0d);
    else if (part === "\\n") out.push(0x0a);
    else if (part === "\\t") out.push(0x09);
    else if (/^\\x/.test(part)) out.push(Number.parseInt(part.slice(2), 16));
    else if (part.startsWith("\\")) out.push(...encoder.encode(part.slice(1)));
    else out.push(...encoder.encode(part));
  }
  return Uint8Array.from(out);
}
