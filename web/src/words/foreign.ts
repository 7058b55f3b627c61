// Recognises other protocols sent to the port of a server: their name helps more than the position
// of an error.

import { hex } from "./chars";

/** The most bytes examined. */
const BYTES_MAX = 256;

/** The other protocol. */
export interface Foreign {
  name: string;
  why: string;
}

const TLS_RECORDS: Record<number, string> = { 0x14: "change of cipher", 0x15: "alert", 0x16: "handshake", 0x17: "data" };

/** First lines that identify a protocol. */
const LINES: readonly (readonly [RegExp, string, string])[] = [
  [
    /^(?:GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE) \S+ HTTP\/\d/,
    "HTTP",
    "A server takes each line of it for a command of its own. Redis hangs up at POST and at Host:, as a browser may have been talked into sending them.",
  ],
  [/^HTTP\/\d/, "HTTP", "It is the answer of a web server: the client is connected to another port than it believes."],
  [/^SSH-\d/, "SSH", "It is how SSH introduces itself: one side is connected to another port than it believes."],
  [/^PROXY (?:TCP[46]|UNKNOWN)/, "the PROXY protocol", "A load balancer tells in front of the requests who the client is. Redis does not know of that: switch it off there."],
];

/** The protocol of the bytes, if it is one that is often sent to the wrong port. */
export function foreignTo(bytes: Uint8Array): Foreign | undefined {
  const [type = 0, major, minor = 0xff] = bytes;
  const record = TLS_RECORDS[type];
  if (record !== undefined && major === 3 && minor <= 4) {
    return { name: "TLS", why: `${hex(type)} 03 begins a TLS record (${record}). One side speaks TLS and the other does not, or the capture was taken outside of the encryption.` };
  }
  const head = String.fromCharCode(...bytes.subarray(0, BYTES_MAX));
  const line = LINES.find(([begins]) => begins.test(head));
  return line && { name: line[1], why: line[2] };
}
