import { sleep } from "./call.js";
import { ServiceError } from "./errors.js";
import type { Change, FollowOptions, Ref } from "./types.js";

/** None of the blocks that were handled is of the chain any more: what came from them cannot be told from what is still so. */
export class ForkTooDeepError extends Error {
  override readonly name = "ForkTooDeepError";

  constructor() {
    super("none of the known blocks is of the chain any more");
  }
}

/** How often in a row a cursor may be refused: more is no fork. */
const maxVain = 20;

/** How many blocks are kept for telling where a fork began. */
const remembered = 256;

/** What is asked of the chain itself. */
export interface Heads {
  head: Ref | undefined;
  indexed: number | null;
  finalized: number | null;
}

/** How a list and the chain are asked. */
export interface Source<T> {
  heads(): Promise<Heads>;
  /** The block of a number; undefined when there is none now. */
  block(number: number): Promise<Ref | undefined>;
  /** The items of a stretch, the oldest first. */
  read(from: number, to: number): Promise<T[]>;
}

const same = (a: Ref | undefined, b: Ref | undefined): boolean => a !== undefined && b !== undefined && a.number === b.number && a.hash === b.hash;

/**
 * Goes along with a list. A stretch is read between two looks at its ends: when one is another block afterwards, what was read is
 * not told. An idle look is one call, a new block costs five and the pages of its items.
 */
export async function* follow<T>(source: Source<T>, options: FollowOptions): AsyncGenerator<Change<T>, void, undefined> {
  const stride = Math.max(options.stride ?? 1000, 1);
  const known: Ref[] = [...(options.known ?? [])];
  let whole = known.length === 0; // known goes back to the first block that was told
  let first = options.from;
  const last = (): Ref => known[known.length - 1] ?? { number: (first ?? 0) - 1, hash: "" };

  for (let vain = 0; ; ) {
    options.signal?.throwIfAborted();
    const heads = await source.heads();
    let to: Ref | undefined;
    if (known.length === 0 || !same(last(), heads.head)) {
      let undone = false;
      while (known.length > 0 && !same(await source.block(last().number), last())) {
        known.pop();
        undone = true;
      }
      if (undone && known.length === 0 && !whole) throw new ForkTooDeepError();
      const newest = options.finalized ? heads.finalized : heads.indexed;
      if (newest !== null) {
        if (known.length === 0) first ??= newest + 1;
        const next = last().number + 1;
        if (next <= newest) to = await source.block(Math.min(newest, next + stride - 1));
      }
      if (undone) yield { undone, upto: last(), items: [] };
    }
    if (to === undefined) {
      await sleep(options.intervalMs ?? 2000, options.signal);
      continue;
    }
    let items: T[];
    try {
      items = await source.read(last().number + 1, to.number);
    } catch (e) {
      if (!(e instanceof ServiceError) || e.code !== "invalid_cursor" || vain++ >= maxVain) throw e;
      continue; // a fork took the page that the cursor led to
    }
    // The lower end comes first: a fork that took it took the upper one, too.
    const lower = known.length === 0 || same(await source.block(last().number), last());
    if (!lower || !same(await source.block(to.number), to)) {
      vain++;
      continue;
    }
    vain = 0;
    known.push(to);
    if (known.length > remembered) {
      known.shift();
      whole = false;
    }
    yield { undone: false, upto: to, items };
  }
}
