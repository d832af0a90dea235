// What the client does without any service: its requests are answered here. CORPUS names a file with exchanges of the API's own
// tests, and CODES one that says of every code of a failure whether waiting helps.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ConnectionError, createServiceClient, ForkTooDeepError, operations, ServiceError } from "../dist/index.js";

const read = (name) => JSON.parse(readFileSync(process.env[name], "utf8"));
const json = (value, status = 200, headers = {}) => new Response(JSON.stringify(value), { status, headers });
const failure = (code, status, headers) => json({ code, message: "m", docSlug: "d", requestId: "r" }, status, headers);

// open makes a client whose requests are answered one after the other, and then with the last answer.
function open(answers, options = {}) {
  const asked = [];
  const fetch = async (url, init) => {
    asked.push({ url: new URL(url), ...init });
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    if (answer instanceof Error) throw answer;
    return typeof answer === "function" ? answer(init) : answer.clone();
  };
  return { asked, client: createServiceClient({ baseUrl: "http://service.test/base/", apiKey: "svc_test_k", chainId: "SN_MAIN", fetch, ...options }) };
}

test("every exchange of the API's corpus", async () => {
  const answered = new Set();
  const failed = new Set();
  for (const x of read("CORPUS")) {
    const { asked, client } = open([new Response(x.answer, { status: x.status, headers: x.headers })], { baseUrl: "http://service.test", attempts: 1 });
    let got, thrown;
    try {
      got = await client[x.operation](x.params);
    } catch (e) {
      thrown = e;
    }
    assert.equal(asked.length, 1, `${x.name}: ${thrown}`);
    const sorted = (query) => [...new URLSearchParams(query)].sort();
    const want = new URL(x.target, "http://service.test");
    assert.equal(`${asked[0].method} ${asked[0].url.pathname}`, `${x.method} ${want.pathname}`, x.name);
    assert.deepEqual(sorted(asked[0].url.search), sorted(want.search), x.name);
    if (x.params.body !== undefined) assert.deepEqual(JSON.parse(asked[0].body), x.params.body, x.name);
    if (x.status < 300) {
      assert.deepEqual(got, JSON.parse(x.answer), x.name);
      answered.add(x.operation);
      continue;
    }
    assert.ok(thrown instanceof ServiceError, `${x.name}: ${thrown}`);
    const told = JSON.parse(x.answer);
    assert.deepEqual([thrown.status, thrown.code, thrown.docSlug, thrown.operation], [x.status, told.code, told.docSlug, x.operation], x.name);
    assert.ok(thrown.message.includes(told.message) && thrown.requestId !== "", x.name);
    failed.add(told.code);
  }
  assert.ok(answered.size > 50 && failed.size > 9, `${answered.size} operations and ${failed.size} failures`);
});

test("every code, as the table of failures says", async () => {
  for (const [code, retryable] of Object.entries(read("CODES"))) {
    const { client } = open([failure(code, 503)], { attempts: 1 });
    await assert.rejects(client.getStatus(), (e) => e instanceof ServiceError && e.code === code && e.retryable === retryable, code);
  }
});

test("what is tried again", async () => {
  const fine = json({});
  const body = { body: {}, "Idempotency-Key": "0123456789abcdef" };
  const broken = new TypeError("fetch failed");
  const cases = [
    ["asked to wait", failure("rate_limited", 429, { "Retry-After": "0" }), (c) => c.getStatus(), 2],
    ["asked to wait for too long", failure("rate_limited", 429, { "Retry-After": "3600" }), (c) => c.getStatus(), 1],
    ["nothing to wait for", failure("not_found", 404), (c) => c.getStatus(), 1],
    ["a proxy", new Response("<html>", { status: 502 }), (c) => c.getStatus(), 2],
    ["a proxy, of what may happen twice", new Response("", { status: 502 }), (c) => c.cancelVerificationJob({ jobId: "vrf_1" }), 1],
    ["broken", broken, (c) => c.getStatus(), 2],
    ["broken, of what may happen twice", broken, (c) => c.cancelVerificationJob({ jobId: "vrf_1" }), 1],
    ["broken, with a key against that", broken, (c) => c.createVerificationJob(body), 2],
    ["broken, without one", broken, (c) => c.createWebhook({ body: {} }), 1],
    ["broken, of anything", broken, (c) => c.callRpc({ body: { jsonrpc: "2.0", id: 1, method: "starknet_chainId" } }), 1],
    ["no JSON", new Response("<html>"), (c) => c.getStatus(), 1],
  ];
  await Promise.all(
    cases.map(async ([name, first, call, times]) => {
      const { asked, client } = open([first, fine]);
      let thrown;
      await call(client).catch((e) => (thrown = e));
      assert.equal(asked.length, times, `${name}: ${thrown}`);
      assert.equal(thrown === undefined, times === 2, `${name}: ${thrown}`);
    }),
  );
  const { asked, client } = open([failure("service_unavailable", 503)], { attempts: 2 });
  await assert.rejects(client.listChains(), (e) => e.code === "service_unavailable");
  assert.equal(asked.length, 2);
});

test("an end by the caller, and by time", async () => {
  const hang = ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const { client } = open([hang], { timeoutMs: 20 });
  await assert.rejects(client.getStatus(), (e) => e instanceof ConnectionError && e.timedOut && e.operation === "getStatus");
  await assert.rejects(open([hang]).client.getStatus({}, { timeoutMs: 20 }), (e) => e instanceof ConnectionError && e.timedOut);
  const gone = AbortSignal.abort(new Error("enough"));
  await assert.rejects(client.getStatus({}, { signal: gone }), /^Error: enough$/);
  const during = new AbortController();
  const waiting = open([failure("service_unavailable", 503, { "Retry-After": "30" })]);
  const call = waiting.client.getStatus({}, { signal: during.signal });
  setTimeout(() => during.abort(new Error("enough")), 5);
  await assert.rejects(call, /^Error: enough$/);
  assert.equal(waiting.asked.length, 1);
});

test("keys stay home", async () => {
  const { asked, client } = open([new Response("", { status: 307, headers: { Location: "http://elsewhere.test/" } }), json({}), json({})], { session: "token" });
  await assert.rejects(client.getStatus(), (e) => e instanceof ServiceError && e.status === 307);
  assert.equal(asked[0].redirect, "manual");
  await client.listChains();
  await client.getMyUsage();
  const sent = asked.map(({ headers }) => [headers.get("X-Service-Api-Key"), headers.get("Authorization")]);
  assert.deepEqual(sent, [["svc_test_k", null], ["svc_test_k", null], [null, "Bearer token"]]);
  assert.equal(asked[0].url.href, "http://service.test/base/v1/SN_MAIN/status");
  for (const options of [{ baseUrl: "ftp://x" }, { baseUrl: "x" }, { baseUrl: "http://u:p@x" }, { baseUrl: "http://x?q=1" }, { baseUrl: "" }, { baseUrl: "http://x", apiKey: "a\nb" }]) {
    assert.throws(() => createServiceClient(options), (e) => e instanceof TypeError && !e.message.includes("a\nb"));
  }
});

test("mistakes are told before anybody is asked", async () => {
  const { asked, client } = open([json({})]);
  await assert.rejects(client.getBlock({}), /it needs number_or_hash/);
  await assert.rejects(client.getBlock({ number_or_hash: ".." }), /it needs number_or_hash/);
  await assert.rejects(client.getBlock({ number_or_hash: 1, txLimit: 2 }), /it has no parameter txLimit/);
  await assert.rejects(client.describeAddresses({}), /it needs body/);
  assert.equal(asked.length, 0);
  await client.getBlock({ number_or_hash: "a/../b?c" });
  assert.equal(asked[0].url.pathname, "/base/v1/SN_MAIN/block/a%2F..%2Fb%3Fc");
  await client.chain("SN_SEPOLIA").getStatus();
  await client.getStatus({ chain: "SN_OTHER" });
  assert.deepEqual(asked.slice(1).map(({ url }) => url.pathname), ["/base/v1/SN_SEPOLIA/status", "/base/v1/SN_OTHER/status"]);
});

test("bounds", async () => {
  await assert.rejects(open([json({ a: "x".repeat(2000) })], { maxAnswerBytes: 1024 }).client.getStatus(), /1024 bytes/);
  const { client } = open([json({ items: [1], nextCursor: "same" })]);
  const seen = [];
  await assert.rejects(async () => {
    for await (const item of client.all.listBlocks()) seen.push(item);
  }, /the next page is the same one/);
  assert.deepEqual(seen, [1]);
});

test("a list is walked and followed when it can be", () => {
  const { client } = open([json({})]);
  for (const [id, o] of Object.entries(operations)) {
    assert.equal(typeof client[id], "function");
    assert.equal(id in client.all, o.paged === true, id);
    assert.equal(id in client.follow, o.paged === true && o.query.includes("from_block") && o.query.includes("to_block"), id);
  }
});

test("a fork below all that is known", async () => {
  const status = json({ headBlockNumber: 9, headBlockHash: "0x9", latestIndexedBlockNumber: 9, finalizedBlockNumber: 1 });
  const { client } = open([status, json({ blockNumber: 5, blockHash: "0x5" })]);
  await assert.rejects(client.follow.blocks({ known: [{ number: 5, hash: "0xother" }] }).next(), ForkTooDeepError);
});
