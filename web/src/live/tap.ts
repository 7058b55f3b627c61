// The tap of the server that served the page: what it reads and writes, as events.
//
// The server offers it by an element in the page's head. Without that there is no live view, and
// nothing here is ever called.

import type { Direction } from "../capture/state";

/** The protocol a connection speaks. */
export type Protocol = "resp" | "binary";

export interface Hello {
  server: string;
  flavour: string;
  since_us: number;
}

/** What the tap tells of connections, in the server's words; times are microseconds since 1970. */
export type News =
  | { kind: "open"; id: number; peer: string; at: number }
  | { kind: "bytes"; id: number; direction: Direction; protocol: Protocol; at: number; bytes: Uint8Array; cuts: readonly number[] }
  | { kind: "lost"; id: number; direction: Direction; bytes: number; why: string }
  | { kind: "close"; id: number; at: number; why: string };

export interface Listener {
  /** A stream of news begins. */
  hello(hello: Hello): void;
  news(news: News): void;
  /** It ended, or never began. */
  gone(): void;
}

/** Where the tap is; none if the server offers none. */
export const tapAddress = document.querySelector<HTMLMetaElement>('meta[name="respire-tap"]')?.content;

function direction(from: unknown): Direction {
  return from === "server" ? 1 : 0;
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

/** An event as it came: of the server that served this page. */
type Wire = Record<string, any>;

/** Events by name, and what they say. */
const EVENTS: Record<News["kind"], (wire: Wire) => News> = {
  open: ({ id, peer, at_us }) => ({ kind: "open", id, peer, at: at_us }),
  bytes: ({ id, from, protocol, at_us, base64, cuts }) => ({ kind: "bytes", id, direction: direction(from), protocol, at: at_us, bytes: bytesOf(base64), cuts }),
  lost: ({ id, from, bytes, why }) => ({ kind: "lost", id, direction: direction(from), bytes, why }),
  close: ({ id, at_us, why }) => ({ kind: "close", id, at: at_us, why }),
};

/** Opens the tap; what it gives back closes it. */
export function openTap(address: string, listener: Listener): () => void {
  const source = new EventSource(address);
  source.addEventListener("hello", ({ data }: MessageEvent<string>) => listener.hello(JSON.parse(data) as Hello));
  for (const [name, read] of Object.entries(EVENTS)) {
    source.addEventListener(name, (event: Event) => {
      // The browser has an event of its own that is called `open`, and says nothing.
      if (event instanceof MessageEvent) listener.news(read(JSON.parse(event.data as string) as Wire));
    });
  }
  source.onerror = () => {
    // Browsers differ in when they try again by themselves; the page does it, and says so.
    source.close();
    listener.gone();
  };
  return () => source.close();
}
