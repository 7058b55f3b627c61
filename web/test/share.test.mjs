// Tests links that hold a document, exports, and the masking of passwords in both.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { cursorComesTo, open, paste, sample, settled, shownBytes, suite } from "./page.mjs";

const shared = suite();

/** Where `cargo test` finds the vectors of the samples; EXPLORER_WRITE writes them. */
const VECTORS = fileURLToPath(new URL("../../crates/respire-wasm/tests/vectors/", import.meta.url));

/** The link of the open document; the dialog stays open. */
async function link(page) {
  if (!(await page.locator("dialog[open]").isVisible())) await page.keyboard.press("x");
  const field = page.getByLabel("Link to this document");
  await page.waitForFunction(() => document.querySelector("dialog .field")?.value.includes("#"));
  return new URL(await field.inputValue());
}

/** The open document in an export format. */
async function exported(page, label) {
  if (!(await page.locator("dialog[open]").isVisible())) await page.keyboard.press("x");
  const downloading = page.waitForEvent("download");
  await page.locator(".exports li", { hasText: label }).locator("button", { hasText: "Download" }).click();
  const download = await downloading;
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
}

test("a link opens the document it was made from", async () => {
  const first = await open(shared);
  await sample(first.page, "Pipeline");
  await first.page.keyboard.press("PageDown");
  await first.page.keyboard.press("k");
  await first.page.keyboard.press(".");
  const at = await first.page.locator(".scrubber input").inputValue();
  const made = await link(first.page);
  assert.match(made.hash, /^#name=Pipeline&as=requests&at=\d+&cuts=\w+&z=[\w-]+$/);
  const second = await open(shared, { path: `index.html${made.hash}` });
  await cursorComesTo(second.page, Number(at));
  assert.equal(await shownBytes(second.page), await shownBytes(first.page));
  assert.equal(await second.page.locator(".doc-title").textContent(), "Pipeline");
  assert.match(await second.page.locator(".mode option:checked").textContent(), /^Requests/);
  assert.equal(await second.page.locator("#dock-tab-reads .count").textContent(), "2");
  await first.close();
  await second.close();
});

test("a link that the user changes is opened", async () => {
  const { page, close } = await open(shared);
  const packed = deflateRawSync("+by hand\r\n").toString("base64url");
  await page.evaluate((packed) => {
    location.hash = `name=Hand&as=replies&z=${packed}`;
  }, packed);
  await page.locator(".words-frame", { hasText: "by hand" }).waitFor();
  await close();
});

test("passwords are masked unless they are requested", async () => {
  const { page, close } = await open(shared);
  await paste(page, "*3\r\n$4\r\nAUTH\r\n$3\r\nbob\r\n$7\r\nhunter2\r\nHELLO 3 AUTH bob hunter2\r\nGET hunter2\r\n*2\r\n$4\r\nAUTH\r\n$9\r\nhunter2");
  await page.locator(".doc-title", { hasText: "Pasted" }).waitFor();
  await settled(page);
  const linked = async (hash) => {
    const other = await open(shared, { path: `index.html${hash}` });
    await other.page.keyboard.press("s");
    await settled(other.page);
    const shown = await shownBytes(other.page);
    await other.close();
    return shown;
  };
  const masked = await linked((await link(page)).hash);
  assert.equal(masked.split("hunter2").length - 1, 1, "the key of GET is none");
  assert.equal(masked.split("*******").length - 1, 3);
  for (const label of ["Annotated hexdump", "Markdown table", "Tokens as JSON", "Test vectors"]) {
    const { text } = await exported(page, label);
    assert.ok(!text.includes("68756e7465723200") && text.split("hunter2").length - 1 <= 1, label);
  }
  const before = (await link(page)).href;
  await page.locator("dialog .check input").check();
  await page.waitForFunction((before) => ![before, ""].includes(document.querySelector("dialog .field").value), before);
  const whole = await linked((await link(page)).hash);
  assert.equal(whole.split("hunter2").length - 1, 4);
  await close();
});

test("damaged links and those that unpack to too much are refused with a message", async () => {
  const { page, close } = await open(shared);
  const alert = page.locator(".failure");
  for (const [packed, words] of [
    ["AAAA!", "cannot be read"],
    [deflateRawSync(Buffer.alloc(1000, "ab")).toString("base64url").slice(0, 10), "cannot be read"],
    [deflateRawSync(Buffer.alloc(65 * 1024 * 1024)).toString("base64url"), "more than 64 MB"],
  ]) {
    await page.evaluate((packed) => {
      location.hash = `z=${packed}`;
    }, packed);
    await alert.filter({ hasText: words }).waitFor();
    await alert.locator("button").click();
  }
  await close();
});

test("long links give a warning, and are refused if browsers would refuse them", async () => {
  const { page, close } = await open(shared);
  const sets = Array.from({ length: 200 }, (_, at) => `*3\r\n$3\r\nSET\r\n$5\r\nk${String(at).padStart(4, "0")}\r\n$5\r\nvalue\r\n`).join("");
  await paste(page, sets);
  await page.locator(".doc-title", { hasText: "Pasted" }).waitFor();
  const short = await link(page);
  assert.ok(short.href.length < 1200, `${short.href.length} characters for ${sets.length} bytes`);
  await page.keyboard.press("Escape");
  await paste(page, `$16000\r\n${randomBytes(12_000).toString("base64")}\r\n`);
  await page.locator(".words-frame", { hasText: "bulk string" }).waitFor();
  await page.keyboard.press("x");
  await page.locator("dialog [role=status]", { hasText: "cut links this long short" }).waitFor();
  await page.keyboard.press("Escape");
  await page.evaluate(() => {
    const bytes = new Uint8Array(1_200_000);
    for (let at = 0; at < bytes.length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
    const data = new DataTransfer();
    data.items.add(new File(["$1200000\r\n", bytes, "\r\n"], "noise.bin"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  await page.locator(".doc-title", { hasText: "noise.bin" }).waitFor();
  await settled(page);
  await page.keyboard.press("x");
  await page.locator("dialog [role=status]", { hasText: "Export the document instead" }).waitFor();
  assert.ok(await page.locator("dialog .primary").isDisabled());
  await close();
});

test("exports match the page", async () => {
  const { page, close } = await open(shared);
  await sample(page, "Map");
  const dump = await exported(page, "Annotated hexdump");
  assert.equal(dump.name, "map.txt");
  assert.equal(
    dump.text.replaceAll(/ +/g, " "),
    [
      "000000 25 type %",
      "000001 31 length 1",
      "000002 0D 0A line end \\r\\n",
      "000004 2B type +",
      "000005 61 payload a",
      "000006 0D 0A line end \\r\\n",
      "000008 3A type :",
      "000009 31 digits 1",
      "00000A 0D 0A line end \\r\\n",
      "",
    ].join("\n"),
  );
  const table = await exported(page, "Markdown table");
  assert.equal(table.text.split("\n").length, 5 + 9);
  const tokens = JSON.parse((await exported(page, "Tokens as JSON")).text);
  assert.equal(tokens.frames[0].kind, "map");
  assert.equal(tokens.frames[0].tokens.map((token) => token.text).join(""), "%1\\r\\n+a\\r\\n:1\\r\\n");
  await close();
});

test("test vectors of the samples match those of cargo test", async () => {
  const { page, close } = await open(shared);
  const names = await page.locator(".sample-name").allTextContents();
  await mkdir(VECTORS, { recursive: true });
  for (const sampleName of names) {
    await sample(page, sampleName);
    const { name, text } = await exported(page, "Test vectors");
    await page.keyboard.press("Escape");
    if (process.env.EXPLORER_WRITE) await writeFile(`${VECTORS}${name}`, text);
    assert.equal(text, await readFile(`${VECTORS}${name}`, "utf8").catch(() => ""), `${name}: EXPLORER_WRITE=1 writes it anew`);
  }
  await close();
});
