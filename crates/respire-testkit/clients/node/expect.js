// Helpers of both sessions: compare values, and fail with a clear message.
"use strict";
const { isDeepStrictEqual, inspect } = require("node:util");

function fail(message) {
  console.error(message);
  process.exit(1);
}

function expect(got, expected, what) {
  if (!isDeepStrictEqual(got, expected)) {
    fail(`${what}: expected ${inspect(expected)}, got ${inspect(got)}`);
  }
}

async function expectError(text, what, call) {
  let got;
  try {
    got = await call();
  } catch (error) {
    if (!String(error.message).includes(text)) fail(`${what}: expected an error with ${text}, got ${error}`);
    return;
  }
  fail(`${what}: expected an error with ${text}, got ${inspect(got)}`);
}

function run(session) {
  const timer = setTimeout(() => fail("the session did not end within a minute"), 60_000);
  session().then(
    () => clearTimeout(timer),
    (error) => fail(error.stack),
  );
}

module.exports = { expect, expectError, fail, run };
