// Tests encoding: commands to bytes, literals that languages read back, and the size of values in
// every protocol.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { open, sample, settled, suite } from "./page.mjs";

const shared = suite();

async function encode(page, line) {
  await page.locator(".encode .wide-field").fill(line);
  await settled(page);
}

test("a typed command is encoded, and decodes to the same words", async () => {
  const { page, close } = await open(shared);
  await page.keyboard.press("w");
  const encoded = page.locator("[aria-label='Bytes of the request']");
  for (const [protocol, bytes] of [
    ["RESP", '*5\\r\\n$3\\r\\nSET\\r\\n$1\\r\\nk\\r\\n$3\\r\\na\\x00b\\r\\n$2\\r\\nEX\\r\\n$2\\r\\n60\\r\\n'],
    ["Inline", 'SET k "a\\\\x00b" EX 60\\r\\n'],
    ["Binary", "\\x10\\x05\\x00\\x00\\x00\\x03\\x00\\x00\\x00SET\\x01\\x00\\x00\\x00k\\x03\\x00\\x00\\x00a\\x00b\\x02\\x00\\x00\\x00EX\\x02\\x00\\x00\\x0060"],
  ]) {
    await page.locator(".encode .choice", { hasText: protocol }).click();
    await encode(page, 'SET k "a\\x00b" EX 60');
    assert.equal(await encoded.textContent(), bytes, protocol);
    await page.locator(".encode .row .primary", { hasText: "Open" }).click();
    await page.locator(".words-frame", { hasText: /run SET with 4 arguments: .*k.*a\\x00b.*EX.*60/ }).waitFor();
  }
  await encode(page, 'SET k "open');
  await page.locator(".encode .wrong", { hasText: /quote/i }).waitFor();
  await close();
});

test("the example shows the size of a SET in each protocol", async () => {
  const { page, close } = await open(shared);
  await page.keyboard.press("w");
  await page.locator(".encode .link", { hasText: "SET greeting hello" }).click();
  await page.locator(".encode .cost-summary", { hasText: "38 bytes as RESP2 and RESP3, 33 bytes as binary, 20 bytes as inline, 22 bytes as binary operation." }).waitFor();
  for (const head of await page.locator(".encode .wire-head").all()) assert.ok((await head.boundingBox()).height <= 36, "a protocol and its button are one line");
  await close();
});

test("names are completed, with their summaries", async () => {
  const { page, close } = await open(shared);
  await page.keyboard.press("w");
  const field = page.locator(".encode .wide-field");
  await field.pressSequentially("expirea");
  await page.keyboard.press("Tab");
  assert.equal(await field.inputValue(), "EXPIREAT ");
  await page.locator(".encode p", { hasText: "expiration" }).waitFor();
  await page.locator(".encode .command-help", { hasText: "EXPIREAT key unix-time-seconds [NX | XX | GT | LT]" }).waitFor();
  await field.fill("hello");
  assert.equal(await page.locator(".encode .offer").count(), 0, "a whole name offers nothing");
  await field.fill("ge");
  assert.match(await page.locator(".encode .offer").first().textContent(), /^GET(Tab)?$/, "the shortest name comes first");
  await page.locator(".encode .offer", { hasText: /^GETDEL/ }).click();
  assert.equal(await field.inputValue(), "GETDEL ");
  await close();
});

test("a command is inserted into the document", async () => {
  const { page, close } = await open(shared);
  await sample(page, "Pipeline");
  await page.keyboard.press("w");
  await encode(page, "DEL visits");
  await page.locator(".encode .btn", { hasText: "Insert here" }).click();
  await page.locator(".tree-row, [role=treeitem]", { hasText: "DEL visits" }).first().waitFor();
  await page.locator(".words .dim, .words-head", { hasText: "of 4" }).first().waitFor();
  await close();
});

/** How a literal is turned back into bytes; skipped if the language is not installed. */
const READERS = {
  printf: (text) => execFileSync("sh", ["-c", text]),
  Python: (text) => execFileSync("python3", ["-c", `import sys; sys.stdout.buffer.write(${text})`]),
  Rust: (text, folder) => {
    writeFileSync(join(folder, "main.rs"), `fn main() { use std::io::Write; std::io::stdout().write_all(${text}).unwrap(); }`);
    execFileSync("rustc", ["--edition", "2021", "-o", join(folder, "main"), join(folder, "main.rs")]);
    return execFileSync(join(folder, "main"));
  },
  Go: (text, folder) => {
    writeFileSync(join(folder, "main.go"), `package main\nimport "os"\nfunc main() { os.Stdout.Write(${text}) }\n`);
    return execFileSync("go", ["run", join(folder, "main.go")], { env: { ...process.env, GOCACHE: join(folder, "cache") } });
  },
};
const VERSIONS = { printf: ["sh", "-c", ":"], Python: ["python3", "-V"], Rust: ["rustc", "-V"], Go: ["go", "version"] };

test("literals are the same bytes in their languages", async (t) => {
  const { page, close } = await open(shared);
  const folder = mkdtempSync(join(tmpdir(), "respire-literals-"));
  await page.keyboard.press("w");
  // Every quote and sign with a meaning in one of them, invalid UTF-8, and digits after escapes.
  await encode(page, 'SET "100% \\"quoted\\" \'and\' $HOME `x` \\\\n" "\\x00\\x001\\xff\\x80\\x7f\\t%d\\xc3\\xbf"');
  for (const [language, read] of Object.entries(READERS)) {
    await t.test(language, async (t) => {
      const [program, ...args] = VERSIONS[language];
      try {
        execFileSync(program, args, { stdio: "ignore" });
      } catch {
        t.skip(`${program} is not installed`);
        return;
      }
      await page.locator(".literal select").selectOption({ label: language });
      const bytes = read(await page.locator("[aria-label=Literal]").textContent(), folder);
      const payload = Buffer.from("100% \"quoted\" 'and' $HOME `x` \\n");
      const value = Buffer.from("\x00\x001\xff\x80\x7f\t%d\xc3\xbf", "latin1");
      const wanted = Buffer.concat([
        Buffer.from(`*3\r\n$3\r\nSET\r\n$${payload.length}\r\n`),
        payload,
        Buffer.from(`\r\n$${value.length}\r\n`),
        value,
        Buffer.from("\r\n"),
      ]);
      assert.deepEqual(bytes, wanted);
    });
  }
  rmSync(folder, { recursive: true });
  await close();
});

/** The numbers of each protocol: the total and its parts. */
async function costs(page, card) {
  return page.locator(`${card} .wire`).evaluateAll((wires) =>
    wires.map((wire) => ({
      label: wire.querySelector("b").textContent,
      total: Number(/[\d,]+/.exec(wire.querySelector(".wire-head span").textContent)[0].replaceAll(",", "")),
      parts: [...wire.querySelectorAll(".cost dd")].map((part) => Number.parseInt(part.textContent, 10)),
    })),
  );
}

test("costs add up, and losses are listed", async () => {
  const { page, close } = await open(shared);
  const card = "[aria-label='The frame at the cursor in every protocol']";
  for (const [name, own, total] of [
    ["Map", "RESP3", 12],
    ["SET request", "RESP2", 45],
    ["Nested array", "RESP3", 36],
    ["Binary replies", "binary", 20],
  ]) {
    await sample(page, name);
    await page.keyboard.press("w");
    await page.locator(`${card} .wire`).first().waitFor();
    await settled(page);
    const wires = await costs(page, card);
    assert.ok(wires.length >= 2, name);
    for (const { label, total, parts } of wires) assert.equal(parts.reduce((sum, part) => sum + part, 0), total, `${name} in ${label}`);
    assert.equal(wires.find(({ label }) => label.includes(own)).total, total, name);
  }
  await sample(page, "SET request");
  await page.locator(`${card} .cost-summary`, { hasText: "45 bytes as RESP2 and RESP3, 39 bytes as binary, 28 bytes as inline, 28 bytes as binary operation." }).waitFor();
  await sample(page, "Map");
  await page.keyboard.press("w");
  await page.locator(`${card} .badge`, { hasText: "a map becomes a flat array" }).waitFor();
  await page.locator(`${card} .wire`, { hasText: "binary" }).locator(".btn", { hasText: "Open" }).click();
  await page.locator(".words-frame", { hasText: "A map with 1 pair" }).waitFor();
  assert.match(await page.locator(".mode option:checked").textContent(), /Binary replies/);
  await sample(page, "Torn frame");
  await page.locator(card, { hasText: "A whole frame can be compared" }).waitFor();
  await close();
});
