// Calls the API with the types that were generated from its document.
import type { paths } from "./explorer.js";

declare const process: { env: Record<string, string | undefined> };

type Operation<P extends keyof paths> = NonNullable<paths[P]["get"]>;
type Body<R, S extends number> = R extends { responses: { [K in S]: { content: { "application/json": infer B } } } } ? B : never;
type Answer<P extends keyof paths> = Body<Operation<P>, 200>;
type Failure<P extends keyof paths> = Body<Operation<P>, 404>;
type In<P extends keyof paths, W extends "path" | "query"> = Operation<P> extends { parameters: { [K in W]?: infer V } } ? V : never;

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

async function send<P extends keyof paths>(path: P, names: In<P, "path">, query?: In<P, "query">): Promise<Response> {
  let target: string = path;
  for (const [name, value] of Object.entries(names as Record<string, string>)) target = target.replace(`{${name}}`, encodeURIComponent(value));
  const url = new URL(target, setting("SERVICE_BASE_URL"));
  for (const [name, value] of Object.entries((query ?? {}) as Record<string, unknown>)) {
    for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one));
  }
  return fetch(url, { headers: { "X-Service-Api-Key": setting("SERVICE_API_KEY") } });
}

async function get<P extends keyof paths>(path: P, names: In<P, "path">, query?: In<P, "query">): Promise<Answer<P>> {
  const response = await send(path, names, query);
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer<P>;
}

const chain = setting("SERVICE_CHAIN") as In<"/v1/{chain}/status", "path">["chain"];
const token = setting("TOKEN");

const status = await get("/v1/{chain}/status", { chain });
const head = status.latestIndexedBlockNumber;
if (head === null) throw new Error("nothing is indexed");
const block = await get("/v1/{chain}/block/{number_or_hash}", { chain, number_or_hash: String(head) }, { tx_limit: 2 });
const hashes: string[] = block.transactions.map((tx) => tx.txHash);
const tx = await get("/v1/{chain}/tx/{tx_hash}", { chain, tx_hash: hashes[0] });
const first = tx.logs[0];
if (first.topic0 === null) throw new Error("the event has no keys");

const events: [string, number, string | null][] = [];
let cursor: string | null = null;
for (let i = 0; i < 2; i++) {
  const page: Answer<"/v1/{chain}/events"> = await get(
    "/v1/{chain}/events",
    { chain },
    { address: [token, first.address], topic0: [first.topic0], limit: 2, ...(cursor === null ? {} : { cursor }) },
  );
  for (const event of page.items) events.push([event.txHash, event.logIndex, event.eventName]);
  cursor = page.nextCursor;
}
const summary = await get("/v1/{chain}/token/{token}", { chain, token });

const none = await send("/v1/{chain}/tx/{tx_hash}", { chain, tx_hash: "0x1" });
if (none.status !== 404) throw new Error(`an unknown transaction: ${none.status}`);
const failure = (await none.json()) as Failure<"/v1/{chain}/tx/{tx_hash}">;

console.log(
  JSON.stringify({
    chain: status.chainId,
    head,
    lastFork: status.lastFork,
    blockHash: block.blockHash,
    time: Date.parse(block.timestampIso) / 1000,
    transactions: hashes,
    fee: tx.receipt?.actualFeeAmount,
    type: tx.txType,
    logs: tx.logCount,
    events,
    token: summary.tokenAddress,
    newest: summary.latestTransferBlock,
    transfers: summary.transferCount,
    unknown: failure.code,
  }),
);
