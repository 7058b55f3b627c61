// Starts the Worker from within the page, where that is a single file. Takes the place of `spawn.ts`.

// Its script is a part of the file; what asks for its address has it built.
import address from "./worker?worker&url";

export function spawn(): Worker {
  return startEngine(address);
}
