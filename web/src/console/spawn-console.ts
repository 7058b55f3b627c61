// Starts the server's Worker from its file.

export function spawn(): Worker {
  return new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
}
