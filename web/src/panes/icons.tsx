// The icons: one path each, on a grid of 16.

const PATHS: Record<string, string> = {
  first: "M3.5 3v10M12.5 3.5 6 8l6.5 4.5z",
  last: "M12.5 3v10M3.5 3.5 10 8l-6.5 4.5z",
  "frame-back": "M8 3.5 2.5 8 8 12.5zM13.5 3.5 8 8l5.5 4.5z",
  "frame-on": "M8 3.5 13.5 8 8 12.5zM2.5 3.5 8 8l-5.5 4.5z",
  "token-back": "M11 3.5 4.5 8l6.5 4.5z",
  "token-on": "M5 3.5 11.5 8 5 12.5z",
  "byte-back": "M10 3.5 5.5 8l4.5 4.5",
  "byte-on": "M6 3.5 10.5 8 6 12.5",
  play: "M4.5 2.8 13 8l-8.5 5.2z",
  pause: "M5 3v10M11 3v10",
  knife: "M4.2 12.8a1.7 1.7 0 1 1 .9-3.1L13 2.5M4.2 3.2a1.7 1.7 0 1 0 .9 3.1L13 13.5",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
  keys: "M2 4.5h12v7H2zM4.5 7h.01M7 7h.01M9.5 7h.01M12 7h.01M5 9.5h6",
  grid: "M2.8 2.8h4v4h-4zM9.2 2.8h4v4h-4zM2.8 9.2h4v4h-4zM9.2 9.2h4v4h-4z",
  open: "M8 10V2.5M5 5.2 8 2.2l3 3M2.8 9.5v4h10.4v-4",
  undo: "M6 3 3 6l3 3M3.2 6h6.3a3.5 3.5 0 0 1 0 7H6",
  redo: "M10 3l3 3-3 3M12.8 6H6.5a3.5 3.5 0 0 0 0 7H10",
  close: "M4 4l8 8M12 4l-8 8",
  stop: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11",
  feed: "M8 2.5v8M4.8 7.5 8 10.7l3.2-3.2M2.8 13.5h10.4",
  edit: "M3 13l.6-2.8L11 2.8l2.2 2.2-7.4 7.4zM9.6 4.2l2.2 2.2",
  eye: "M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6",
  warn: "M8 2.5 14 13H2zM8 6.5V9.5M8 11.2v.1",
  check: "M3 8.5 6.5 12 13 4.5",
  share: "M11.5 5.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4M4.5 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4M11.5 14.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4M6.3 7 9.7 4.5M6.3 9l3.4 2.5",
  find: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M10.4 10.4l3.6 3.6",
  lock: "M4 7.5h8v6H4zM5.5 7.5v-2a2.5 2.5 0 0 1 5 0v2",
};

/** Icons that are filled shapes. */
const SOLID = new Set(["first", "last", "frame-back", "frame-on", "token-back", "token-on", "play"]);

export function Icon({ name }: { name: string }) {
  return (
    <svg class={`icon ${SOLID.has(name) ? "solid" : ""}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
