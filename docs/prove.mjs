// Asks a prover relay for a proof, and follows every rule of relay.md. Needs Node.js 20.
//
//   SERVICE_API_KEY=svc_live_... node prove.mjs https://api.example request.json state/
//
// request.json is the body: {"block_id": {"block_number": N}, "transaction": {...}}. It holds a
// private key: keep it as you keep that. In state/ are the idempotency key and the job, so
// that a program that was interrupted goes on where it was, and in the end result.json.
//
// Exit status: 0 there is a result; 1 the request is refused; 2 delivery is unknown, and
// nothing must be sent again by itself; 3 the result was handed over before, or expired;
// 4 the result is there and its attestation is too old; 5 it did not work out for now.
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [base, requestFile, dir] = process.argv.slice(2);
const apiKey = process.env.SERVICE_API_KEY;
if (!base || !requestFile || !dir || !apiKey) {
  console.error('usage: SERVICE_API_KEY=... node prove.mjs URL REQUEST.json STATE_DIRECTORY');
  process.exit(64);
}
const patience = Number(process.env.PROVE_PATIENCE_SECONDS ?? 900) * 1000;
const margin = Number(process.env.PROVE_MARGIN_SECONDS ?? 60); // of an attestation, to be sent and included
const ends = Date.now() + patience;
const url = `${base.replace(/\/$/, '')}/v1/SN_MAIN/prove`;
mkdirSync(dir, { recursive: true, mode: 0o700 });

// keep writes a file so that it is there whole, or not at all, whatever happens.
function keep(name, text) {
  const path = join(dir, name), fd = openSync(`${path}.new`, 'w', 0o600);
  writeSync(fd, text);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(`${path}.new`, path);
}
const kept = (name) => (existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'utf8').trim() : '');

function finish(status, words) {
  console.error(words);
  process.exit(status);
}

async function pause(seconds) {
  const ms = Math.min(Math.max(seconds, 1), 60) * 1000;
  if (Date.now() + ms > ends) finish(5, 'no patience is left; start again with the same state directory');
  await sleep(ms);
}

// call sends a request until there is an answer that is one. An answer that got lost, a 429 and
// a 503 leave everything as it was: the same request may be sent again, with the same key.
async function call(address, options) {
  for (let wait = 1; ; wait = Math.min(wait * 2, 30)) {
    let res, text;
    try {
      res = await fetch(address, { ...options, redirect: 'error', headers: { 'X-Service-Api-Key': apiKey, ...options.headers } });
      text = await res.text();
    } catch {
      await pause(wait);
      continue;
    }
    if (res.status === 429 || res.status >= 500) {
      const after = Number(res.headers.get('Retry-After') ?? wait);
      if (after > 3600) finish(5, `refused until ${new Date(Date.now() + after * 1000).toISOString()}: ${text}`);
      await pause(after);
      continue;
    }
    return { status: res.status, text };
  }
}

// The key is kept before anything is sent, and belongs to this request for good.
if (!kept('idempotency-key')) keep('idempotency-key', randomUUID());
const body = readFileSync(requestFile);

async function submit() {
  const { status, text } = await call(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json', 'Idempotency-Key': kept('idempotency-key') } });
  if (status !== 202 && status !== 200) finish(1, `refused with ${status}: ${text}`);
  const job = JSON.parse(text);
  keep('job', job.jobId);
  return job;
}

if (existsSync(join(dir, 'result.json'))) finish(0, 'the result is there already');
let job = await submit();
for (;;) {
  if (!job.terminal) {
    await pause(job.pollAfterSeconds ?? 10);
  }
  const { status, text } = await call(`${url}/${kept('job')}`, { method: 'GET' });
  // The result comes once: it is kept as it came before anything is made of it.
  if (status === 200 && text.includes('"result"')) keep('answer.json', text);
  if (status !== 200) finish(1, `the job cannot be looked at, ${status}: ${text}`);
  job = JSON.parse(text);
  switch (job.status) {
    case 'queued':
    case 'dispatched':
      continue;
    case 'unavailable': // nothing was proven: the same key tries again
      await pause(5);
      job = await submit();
      continue;
    case 'unknown_delivery':
      finish(2, 'the prover may have the request; it is not sent again');
      break;
    case 'failed':
      finish(1, `the prover refuses: ${JSON.stringify(job.error)}`);
      break;
    case 'succeeded':
      break;
    default:
      finish(1, `a status that this program does not know: ${job.status}`);
  }
  if (!job.result) finish(3, `there is no result: ${job.resultUnavailableReason}`);
  keep('result.json', JSON.stringify(job.result));
  const attestation = job.result.additional_data?.signature;
  if (attestation && attestation.issued_at + 300 - Date.now() / 1000 < margin) {
    finish(4, 'the attestation is too old to be sent: prove again, with a new state directory');
  }
  finish(0, `proven: ${join(dir, 'result.json')}`);
}
