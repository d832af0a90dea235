import { ConnectionError, ServiceError } from "./errors.js";
import { operations } from "./operations.js";
import type { CallOptions, OperationId } from "./types.js";

/** Where the service is and who asks, with nothing left open. */
export interface Settings {
  base: string;
  chainId: string;
  apiKey: string;
  session: string;
  fetch: typeof globalThis.fetch;
  attempts: number;
  maxWaitMs: number;
  timeoutMs: number;
  maxAnswerBytes: number;
}

/** An operation as the table knows it. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly query?: readonly string[];
  readonly header?: readonly string[];
  readonly body?: string;
  readonly paged?: boolean;
  readonly again?: boolean;
  readonly session?: boolean;
}

/** Finds an operation. */
export function operationOf(id: string): Operation {
  if (!Object.hasOwn(operations, id)) throw new TypeError(`there is no operation ${id}`);
  return operations[id as OperationId];
}

/** Calls an operation until there is an answer, or an error that another attempt would not change. */
export async function call(s: Settings, id: string, params: Record<string, unknown>, options: CallOptions): Promise<unknown> {
  const o = operationOf(id);
  const request = requestOf(s, id, o, params);
  const again = o.again === true && (o.header ?? []).every((name) => params[name] !== undefined); // without its key it may happen twice
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(s, id, request, options);
    } catch (e) {
      const wait = waitFor(o, e, attempt, again);
      if (wait === undefined || attempt >= s.attempts || wait > s.maxWaitMs) throw e;
      await sleep(wait, options.signal);
    }
  }
}

/** How many milliseconds to wait for another attempt; undefined when none is worth it. */
function waitFor(o: Operation, e: unknown, attempt: number, again: boolean): number | undefined {
  const pause = Math.min(1000 * 2 ** (attempt - 1), 16_000);
  if (e instanceof ConnectionError) return again && !e.timedOut ? pause : undefined;
  if (!(e instanceof ServiceError)) return undefined;
  const asked = e.retryAfter * 1000;
  if (e.retryable) return o.body === undefined || o.body === "application/json" ? Math.max(asked, pause / 4) : undefined;
  // Of something in between, which may have passed the call on.
  if (e.code === "" && [502, 503, 504].includes(e.status) && again) return Math.max(asked, pause);
  return undefined;
}

function requestOf(s: Settings, id: string, o: Operation, params: Record<string, unknown>): { url: string; init: RequestInit } {
  const left = new Map(Object.entries(params).filter(([, value]) => value !== undefined && value !== null));
  const take = (name: string): unknown => {
    const value = left.get(name);
    left.delete(name);
    return value;
  };
  const path = o.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = take(name) ?? (name === "chain" ? s.chainId : undefined);
    const text = String(value ?? "");
    if (text === "" || text === "." || text === "..") throw new TypeError(`${id}: it needs ${name}`); // dots would lead elsewhere
    return encodeURIComponent(text);
  });
  const query = new URLSearchParams();
  for (const name of o.query ?? []) {
    const value = take(name);
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) query.append(name, String(one));
  }
  const headers = new Headers({ Accept: "application/json" });
  for (const name of o.header ?? []) {
    const value = take(name);
    if (value !== undefined) headers.set(name, String(value));
  }
  if (o.session && s.session !== "") headers.set("Authorization", `Bearer ${s.session}`);
  if (!o.session && s.apiKey !== "") headers.set("X-Service-Api-Key", s.apiKey);
  // The key would go along with a redirect to another host.
  const init: RequestInit = { method: o.method, headers, redirect: "manual" };
  if (o.body !== undefined) {
    const body = take("body");
    if (body === undefined) throw new TypeError(`${id}: it needs body`);
    headers.set("Content-Type", o.body);
    init.body = o.body === "application/json" ? JSON.stringify(body) : (body as BodyInit);
  }
  const [unknown] = left.keys();
  if (unknown !== undefined) throw new TypeError(`${id}: it has no parameter ${unknown}`);
  const text = query.toString();
  return { url: s.base + path + (text === "" ? "" : `?${text}`), init };
}

/** Makes one attempt. */
async function once(s: Settings, id: string, request: { url: string; init: RequestInit }, options: CallOptions): Promise<unknown> {
  options.signal?.throwIfAborted();
  // A timer of its own: that of AbortSignal.timeout lets a program end, and may be collected while it is joined with another.
  const control = new AbortController();
  const end = (): void => control.abort(options.signal?.reason);
  const timer = setTimeout(() => control.abort(new DOMException("it took too long", "TimeoutError")), options.timeoutMs ?? s.timeoutMs);
  options.signal?.addEventListener("abort", end, { once: true });
  let response: Response;
  let text: string;
  try {
    response = await s.fetch(request.url, { ...request.init, signal: control.signal });
    text = await read(response, s.maxAnswerBytes);
  } catch (e) {
    options.signal?.throwIfAborted();
    if (e instanceof RangeError) throw new RangeError(`${id}: ${e.message}`);
    throw new ConnectionError(id, e);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", end);
  }
  if (!response.ok) throw new ServiceError(id, response.status, response.headers, text);
  if (response.status === 204 || text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (e) {
    throw new SyntaxError(`${id}: the answer cannot be read`, { cause: e });
  }
}

/** Reads an answer up to a bound. */
async function read(response: Response, max: number): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let out = "";
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return out + decoder.decode();
    size += value.byteLength;
    if (size > max) {
      reader.cancel().catch(() => {}); // nobody waits for what is thrown away
      throw new RangeError(`the answer has more than ${max} bytes`);
    }
    out += decoder.decode(value, { stream: true });
  }
}

/** Waits, unless it is ended. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}
