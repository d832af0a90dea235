import { call, operationOf, type Settings } from "./call.js";
import { ServiceError } from "./errors.js";
import { follow, type Source } from "./follow.js";
import { operations } from "./operations.js";
import type { AllPages, Answer, CallOptions, Followers, FollowOptions, Methods, Ref } from "./types.js";

/** Where the service is and who asks. */
export interface ServiceOptions {
  /** Sent with every call but those of an account; SERVICE_API_KEY unless set. */
  apiKey?: string;
  /** The chain of calls that name none; SERVICE_CHAIN unless set, and else SN_MAIN. */
  chainId?: string;
  /** Where the service is, such as https://explorer.example; SERVICE_BASE_URL unless set. */
  baseUrl?: string;
  /** The token of a person who signed in, for operations of an account. */
  session?: string;
  /** Makes the requests. */
  fetch?: typeof globalThis.fetch;
  /** How often a call is tried, the first time included; 4 unless set, and 1 for no retries. */
  attempts?: number;
  /** The longest that is waited for another attempt; a minute unless set. When the service asks for more, its error is thrown. */
  maxWaitMs?: number;
  /** The longest that an attempt may take; a minute unless set. */
  timeoutMs?: number;
  /** The largest answer that is read; 64 MiB unless set. */
  maxAnswerBytes?: number;
}

/** Calls a service. */
export interface ServiceClient extends Methods {
  /** The chain of calls that name none. */
  readonly chainId: string;
  /** The items of all pages of a list. */
  readonly all: AllPages;
  /** Lists that go along with the chain, and tell when a fork took something back. */
  readonly follow: Followers;
  /** The same service, for another chain. */
  chain(chainId: string): ServiceClient;
}

type Loose = Record<string, unknown>;

/** Makes a client. It asks nothing yet. */
export function createServiceClient(options: ServiceOptions = {}): ServiceClient {
  const fetch = options.fetch ?? globalThis.fetch;
  const settings: Settings = {
    base: baseOf(options.baseUrl ?? environment("SERVICE_BASE_URL") ?? ""),
    chainId: options.chainId ?? environment("SERVICE_CHAIN") ?? "SN_MAIN",
    apiKey: secret(options.apiKey ?? environment("SERVICE_API_KEY") ?? ""),
    session: secret(options.session ?? ""),
    fetch: (...args) => fetch(...args), // a browser's wants to be called by itself
    attempts: options.attempts ?? 4,
    maxWaitMs: options.maxWaitMs ?? 60_000,
    timeoutMs: options.timeoutMs ?? 60_000,
    maxAnswerBytes: options.maxAnswerBytes ?? 64 << 20,
  };
  return clientOf(settings);
}

function clientOf(settings: Settings): ServiceClient {
  const all: Loose = {};
  const followers: Loose = {};
  const client: Loose = { chainId: settings.chainId, all, follow: followers, chain: (chainId: string) => clientOf({ ...settings, chainId }) };
  for (const id of Object.keys(operations)) {
    const o = operationOf(id);
    client[id] = (params: Loose = {}, options: CallOptions = {}) => call(settings, id, params, options);
    if (!o.paged) continue;
    all[id] = (params: Loose = {}, options: CallOptions = {}) => pages(settings, id, params, options);
    if (!o.query?.includes("from_block") || !o.query.includes("to_block")) continue;
    followers[id] = (params: Loose = {}, options: FollowOptions = {}) => follow(listOf(settings, id, params, options), options);
  }
  followers.blocks = (options: FollowOptions = {}) =>
    follow(blocksOf(settings, options), { ...options, stride: Math.min(options.stride ?? 100, 100) }); // each is a call
  return client as unknown as ServiceClient;
}

/** Goes over the items of all pages. A cursor that leads to itself would never end. */
async function* pages(settings: Settings, id: string, params: Loose, options: CallOptions): AsyncGenerator<unknown, void, undefined> {
  for (let cursor = params.cursor; ; ) {
    const page = (await call(settings, id, { ...params, cursor }, options)) as { items: unknown[]; nextCursor: string | null };
    if (page.nextCursor !== null && (page.nextCursor === cursor || page.nextCursor === "")) throw new Error(`${id}: the next page is the same one`);
    yield* page.items;
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
  }
}

/** How the chain itself is asked, for what follows it. */
function chainOf(settings: Settings, params: Loose, options: FollowOptions): Pick<Source<never>, "heads" | "block"> & { get(number: number): Promise<Answer<"getBlock">> } {
  const given: CallOptions = options.signal === undefined ? {} : { signal: options.signal };
  const of = { chain: params.chain };
  const get = async (number: number): Promise<Answer<"getBlock">> =>
    (await call(settings, "getBlock", { ...of, number_or_hash: number, tx_limit: 1 }, given)) as Answer<"getBlock">;
  return {
    get,
    async heads() {
      const status = (await call(settings, "getStatus", of, given)) as Answer<"getStatus">;
      const head = status.headBlockNumber === null || status.headBlockHash === null ? undefined : { number: status.headBlockNumber, hash: status.headBlockHash };
      return { head, indexed: status.latestIndexedBlockNumber, finalized: status.finalizedBlockNumber };
    },
    async block(number): Promise<Ref | undefined> {
      try {
        const block = await get(number);
        if (block.blockNumber !== number) throw new Error(`getBlock: asked for block ${number}, and ${block.blockNumber} was answered`);
        return { number, hash: block.blockHash };
      } catch (e) {
        if (e instanceof ServiceError && e.code === "not_found") return undefined;
        throw e;
      }
    },
  };
}

function listOf(settings: Settings, id: string, params: Loose, options: FollowOptions): Source<unknown> {
  const ordered = operationOf(id).query?.includes("order");
  const given: CallOptions = options.signal === undefined ? {} : { signal: options.signal };
  return {
    ...chainOf(settings, params, options),
    async read(from, to) {
      const bounds: Loose = { limit: 100, ...params, from_block: from, to_block: to, cursor: undefined };
      if (ordered) bounds.order = "asc";
      const items: unknown[] = [];
      for await (const item of pages(settings, id, bounds, given)) items.push(item);
      return ordered ? items : items.reverse();
    },
  };
}

function blocksOf(settings: Settings, options: FollowOptions): Source<Answer<"getBlock">> {
  const chain = chainOf(settings, {}, options);
  return {
    ...chain,
    async read(from, to) {
      const items = [];
      for (let n = from; n <= to; n++) items.push(await chain.get(n));
      return items;
    },
  };
}

function environment(name: string): string | undefined {
  const process = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process;
  return process?.env?.[name] || undefined;
}

function baseOf(text: string): string {
  if (text === "") throw new TypeError("baseUrl: say where the service is, here or in SERVICE_BASE_URL");
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new TypeError("baseUrl: it must be http or https and a host, and perhaps a path");
  }
  return url.href.replace(/\/+$/, "");
}

function secret(text: string): string {
  if (!/^[\x21-\x7e]*$/.test(text) || /["']/.test(text)) throw new TypeError("apiKey: it has characters that no key has"); // which are not shown
  return text;
}
