// The client of the tap, the event stream of the server that served the page.
//
// The server offers it in a meta element of the page's head. Without that element there is no live
// view, and nothing here is called.

import type { Direction } from "../capture/state";

/** The protocol a connection speaks. */
export type Protocol = "resp" | "binary";

export interface Hello {
  server: string;
  flavour: string;
  since_us: number;
}

/** The events of the tap; times are microseconds since 1970. */
export type TapEvent =
  | { kind: "open"; id: number; peer: string; at: number }
  | { kind: "bytes"; id: number; direction: Direction; protocol: Protocol; at: number; bytes: Uint8Array; cuts: readonly number[] }
  | { kind: "lost"; id: number; direction: Direction; bytes: number; why: string }
  | { kind: "close"; id: number; at: number; why: string };

export interface Listener {
  /** The event stream has begun. */
  hello(hello: Hello): void;
  event(event: TapEvent): void;
  /** The event stream has ended, or could not be opened. */
  gone(): void;
}

/** The address of the tap; undefined if the server offers none. */
export const tapAddress = document.querySelector<HTMLMetaElement>('meta[name="respire-tap"]')?.content;

function direction(from: unknown): Direction {
  return from === "server" ? 1 : 0;
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

/** An event as received from the server. */
type Wire = Record<string, any>;

/** The events by name, and how their fields are read. */
const EVENTS: Record<TapEvent["kind"], (wire: Wire) => TapEvent> = {
  open: ({ id, peer, at_us }) => ({ kind: "open", id, peer, at: at_us }),
  bytes: ({ id, from, protocol, at_us, base64, cuts }) => ({ kind: "bytes", id, direction: direction(from), protocol, at: at_us, bytes: bytesOf(base64), cuts }),
  lost: ({ id, from, bytes, why }) => ({ kind: "lost", id, direction: direction(from), bytes, why }),
  close: ({ id, at_us, why }) => ({ kind: "close", id, at: at_us, why }),
};

/** Opens the tap; returns a function that closes it. */
export function openTap(address: string, listener: Listener): () => void {
  const source = new EventSource(address);
  source.addEventListener("hello", ({ data }: MessageEvent<string>) => listener.hello(JSON.parse(data) as Hello));
  for (const [name, read] of Object.entries(EVENTS)) {
    source.addEventListener(name, (event: Event) => {
      // The browser has its own event named `open`, without data.
      if (event instanceof MessageEvent) listener.event(read(JSON.parse(event.data as string) as Wire));
    });
  }
  source.onerror = () => {
    // Browsers differ in when they retry by themselves; the page retries instead, and shows it.
    source.close();
    listener.gone();
  };
  return () => source.close();
}
