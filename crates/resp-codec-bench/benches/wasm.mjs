// Runs the rounds of a wasm module: reads lines `index times`, and prints the nanoseconds of each.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const { run } = new WebAssembly.Instance(module).exports;

for await (const line of createInterface({ input: process.stdin })) {
  const [index, times] = line.split(" ").map(Number);
  const start = process.hrtime.bigint();
  run(index, times);
  console.log(String(process.hrtime.bigint() - start));
}
