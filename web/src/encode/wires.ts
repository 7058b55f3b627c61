// The protocols for encoding, and the modes in which their bytes are decoded.

import { MODES } from "../engine/tables";

/** By the number of a wire: the modes of its requests and its replies. */
export const WIRE_MODES = [
  { label: "RESP2", request: MODES.requests, reply: MODES.replies },
  { label: "RESP3", request: MODES.requests, reply: MODES.replies },
  { label: "binary", request: MODES.binaryRequests, reply: MODES.binaryReplies },
  { label: "inline", request: MODES.requests, reply: MODES.replies },
  { label: "binary operation", request: MODES.binaryRequests, reply: MODES.binaryReplies },
] as const;

/** The wires for a typed command; requests of RESP2 and RESP3 are the same. */
export const REQUEST_WIRES = [
  { wire: 1, label: "RESP" },
  { wire: 2, label: "Binary" },
  { wire: 4, label: "Operation" },
  { wire: 3, label: "Inline" },
] as const;
