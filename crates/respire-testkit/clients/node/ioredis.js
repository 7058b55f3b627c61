// A session of ioredis. Usage: ioredis.js PORT PROTOCOL
"use strict";
const Redis = require("ioredis");
const { expect, expectError, fail, run } = require("./expect.js");

const port = Number(process.argv[2]);

run(async () => {
  const client = new Redis(port, "127.0.0.1");
  await client.flushall();
  expect(await client.set("s", "value", "EX", 100), "OK", "SET");
  expect(await client.get("s"), "value", "GET");
  expect(await client.ttl("s"), 100, "TTL");
  expect(await client.get("missing"), null, "GET of nothing");
  expect(await client.getBuffer("s"), Buffer.from("value"), "GET of bytes");

  const pipeline = client.pipeline();
  for (let i = 0; i < 1000; i++) pipeline.set(`p:${i}`, i);
  expect((await pipeline.exec()).every(([error, reply]) => !error && reply === "OK"), true, "a pipeline");

  expect(await client.multi().set("x", 1).incr("x").get("x").exec(), [[null, "OK"], [null, 2], [null, "2"]], "MULTI/EXEC");
  const other = client.duplicate();
  await other.watch("x");
  await client.set("x", 10);
  expect(await other.multi().set("x", 0).exec(), null, "a transaction on a changed key");

  const found = new Set();
  const stream = client.scanStream({ match: "p:*", count: 13 });
  stream.on("data", (keys) => keys.forEach((key) => found.add(key)));
  await new Promise((resolve, reject) => stream.on("end", resolve).on("error", reject));
  expect(found.size, 1000, "SCAN");

  await expectError("not an integer", "INCR of text", () => client.incr("s"));
  await expectError("unknown command", "NOSUCH", () => client.call("NOSUCH"));

  // What limiters of requests do: a window that begins with its first request.
  const window = "local n = redis.call('INCR', KEYS[1]) if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end return n";
  client.defineCommand("hit", { numberOfKeys: 1, lua: window });
  expect(await client.hit("window", 60000), 1, "a script");
  await client.script("FLUSH");
  expect(await client.pipeline().hit("window", 60000).hit("window", 60000).exec(), [[null, 2], [null, 3]], "scripts in a pipeline");
  expect((await client.pttl("window")) > 0, true, "the time of a window");
  await expectError("boom", "a script that fails", () => client.eval("error('boom')", 0));

  const own = await other.client("ID");
  expect(await client.client("KILL", "ID", own), 1, "CLIENT KILL");
  const deadline = Date.now() + 10_000;
  while ((await other.client("ID").catch(() => own)) === own) {
    if (Date.now() > deadline) fail("no new connection after CLIENT KILL");
  }
  other.disconnect();
  await client.quit();
});
