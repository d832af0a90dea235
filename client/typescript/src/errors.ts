import type { components } from "./schema.js";

/** What the API calls its failures. Empty when somebody else answered, such as a proxy. */
export type ErrorCode = components["schemas"]["Envelope"]["code"] | "";

/** Codes that waiting helps against: they come with Retry-After. */
const waiting: ReadonlySet<string> = new Set([
  "rate_limited",
  "service_unavailable",
  "event_key_index_coverage_unavailable",
  "prover_daily_budget_exhausted", // until the next day, which is longer than most wait
  "prover_queue_full",
  "prover_unavailable",
  "verifier_dispatch_failed",
]);

/** What the service answers instead of a result. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  /** What was called. */
  readonly operation: string;
  /** HTTP's status. */
  readonly status: number;
  /** Names the failure: branch on it. */
  readonly code: ErrorCode;
  /** What the code stands for here, where there is more to tell. */
  readonly reason: string;
  /** The page below /docs/ that explains cause and cure. */
  readonly docSlug: string;
  /** What the operator's log says of this call: quote it. */
  readonly requestId: string;
  /** How many seconds the service asks to wait; 0 when it asks nothing. */
  readonly retryAfter: number;
  /** Of event_key_index_coverage_unavailable: the same search up to this block is answered. */
  readonly maxServableToBlock: number | undefined;

  constructor(operation: string, status: number, headers: Headers, body: string) {
    const told = envelope(body);
    const text = (name: string): string => (typeof told[name] === "string" ? told[name] : "");
    const requestId = text("requestId") || headers.get("X-Request-Id") || "";
    const what = [text("code"), text("message")].filter((part) => part !== "").join(": ");
    super(`${operation}: ${status}${what === "" ? "" : ` ${what}`}${requestId === "" ? "" : ` (request ${requestId})`}`);
    this.operation = operation;
    this.status = status;
    this.code = text("code") as ErrorCode;
    this.reason = text("reason");
    this.docSlug = text("docSlug");
    this.requestId = requestId;
    const seconds = headers.get("Retry-After") ?? "";
    this.retryAfter = /^\d{1,9}$/.test(seconds) ? Number(seconds) : 0;
    this.maxServableToBlock = typeof told.maxServableToBlock === "number" ? told.maxServableToBlock : undefined;
  }

  /** Whether the same call can succeed after retryAfter, with nothing changed but the time. */
  get retryable(): boolean {
    return waiting.has(this.code);
  }
}

/** There was no whole answer: the connection broke, or took too long. Its cause says more. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly operation: string;

  constructor(operation: string, cause: unknown) {
    super(`${operation}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.operation = operation;
  }

  /** Whether it was a matter of time. */
  get timedOut(): boolean {
    return (this.cause as { name?: unknown } | null)?.name === "TimeoutError";
  }
}

function envelope(body: string): Record<string, unknown> {
  try {
    const told: unknown = JSON.parse(body);
    return typeof told === "object" && told !== null ? (told as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
