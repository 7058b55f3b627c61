// A session of node-redis. Usage: node-redis.js PORT PROTOCOL
"use strict";
const { createClient, WatchError } = require("redis");
const { expect, expectError, fail, run } = require("./expect.js");

const [port, RESP] = process.argv.slice(2).map(Number);
const connect = () => {
  const client = createClient({ socket: { port, host: "127.0.0.1" }, RESP });
  client.on("error", () => {}); // A killed connection is part of the session.
  return client.connect();
};

async function strings(client) {
  expect(await client.set("s", "value"), "OK", "SET");
  expect(await client.get("s"), "value", "GET");
  expect(await client.get("missing"), null, "GET of nothing");
  expect(await client.set("s", "other", { NX: true }), null, "SET NX");
  expect(await client.mSet({ a: "1", b: "2" }), "OK", "MSET");
  expect(await client.mGet(["a", "missing", "b"]), ["1", null, "2"], "MGET");
  expect(await client.incrBy("a", 41), 42, "INCRBY");
  expect(await client.append("s", "r"), 6, "APPEND");
  expect(await client.getRange("s", 0, 2), "val", "GETRANGE");
  expect(await client.setBit("bits", 7, 1), 0, "SETBIT");
  expect(await client.bitCount("bits"), 1, "BITCOUNT");
  expect(await client.copy("s", "t"), 1, "COPY");
  const large = "x".repeat(200_000);
  await client.set("large", large);
  expect(await client.get("large"), large, "a large value");
}

async function expiry(client) {
  await client.set("t", "v", { EX: 100 });
  expect(await client.ttl("t"), 100, "TTL");
  await client.set("t", "v", { PX: 30 });
  const deadline = Date.now() + 5000;
  while (await client.exists("t")) {
    if (Date.now() > deadline) fail("a key did not expire");
  }
  expect(await client.ttl("t"), -2, "TTL of nothing");
}

async function pipelinesAndTransactions(client) {
  const sets = Array.from({ length: 1000 }, (_, i) => client.set(`p:${i}`, String(i)));
  expect(new Set(await Promise.all(sets)), new Set(["OK"]), "a pipeline");
  expect(await client.multi().set("x", "1").incr("x").get("x").exec(), ["OK", 2, "2"], "MULTI/EXEC");
  const other = await connect();
  await other.watch("x");
  await client.set("x", "10");
  try {
    await other.multi().set("x", "0").exec();
    fail("WATCH: the transaction ran although the key had changed");
  } catch (error) {
    if (!(error instanceof WatchError)) throw error;
  }
  expect(await client.get("x"), "10", "a refused transaction");
  other.destroy();
}

async function scanning(client) {
  const found = new Set();
  for await (const keys of client.scanIterator({ MATCH: "p:*", COUNT: 13 })) keys.forEach((key) => found.add(key));
  expect(found.size, 1000, "SCAN");
  expect(await client.del([...found]), 1000, "DEL of many");
}

async function errors(client) {
  await client.set("text", "abc");
  await expectError("not an integer", "INCR of text", () => client.incr("text"));
  await expectError("wrong number of arguments", "GET", () => client.sendCommand(["GET"]));
  await expectError("unknown command", "NOSUCH", () => client.sendCommand(["NOSUCH", "a"]));
}

async function maps(client) {
  const config = await client.configGet("maxmemory");
  expect({ ...config }, { maxmemory: "0" }, "CONFIG GET");
  const hello = await client.sendCommand(["HELLO", String(RESP)]);
  if (RESP === 2) expect(Array.isArray(hello) && hello.includes("proto"), true, "HELLO as a list");
  else expect(hello.proto ?? new Map(Object.entries(hello)).get("proto"), 3, "HELLO as a map");
  expect((await client.info("server")).includes("redis_version"), true, "INFO");
}

async function reconnect(client) {
  const other = await connect();
  const own = await other.clientId();
  expect(await client.clientKill({ filter: "ID", id: own }), 1, "CLIENT KILL");
  const deadline = Date.now() + 10_000;
  for (;;) {
    try {
      const now = await other.clientId();
      if (now !== own) break;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
  other.destroy();
}

run(async () => {
  const client = await connect();
  await client.flushAll();
  for (const part of [strings, expiry, pipelinesAndTransactions, scanning, errors, maps, reconnect]) await part(client);
  await client.close();
});
