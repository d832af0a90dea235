import type { operations } from "./operations.js";
import type { operations as Documented } from "./schema.js";

/** Operations are called by the names of the API's document. */
export type OperationId = keyof typeof operations & keyof Documented;

type Table<I extends OperationId> = (typeof operations)[I];
type Flat<T> = { [K in keyof T]: T[K] } & {};
type Given<T> = [NonNullable<T>] extends [never] ? unknown : NonNullable<T>;
type Of<I extends OperationId, W extends "path" | "query" | "header"> = Given<Documented[I]["parameters"][W]>;
type WithoutChain<P> = P extends { chain: string } ? Omit<P, "chain"> & { /** Another chain than the client's. */ chain?: string } : P;
type Content<C> = C extends { "application/json": infer B } ? B : Blob | ArrayBuffer | Uint8Array<ArrayBuffer>;
type Body<I extends OperationId> = Documented[I] extends { requestBody: { content: infer C } } ? { body: Content<C> } : unknown;

/** What an operation takes: all parameters by their names, and the body. */
export type Params<I extends OperationId> = Flat<WithoutChain<Of<I, "path">> & Of<I, "query"> & Of<I, "header"> & Body<I>>;

type Success<R> = R[keyof R & (200 | 201 | 202)];
type Json<R> = R extends { content: { "application/json": infer A } } ? A : never;

/** What an operation answers; undefined when it answers with nothing. */
export type Answer<I extends OperationId> = [Success<Documented[I]["responses"]>] extends [never] ? undefined : Json<Success<Documented[I]["responses"]>>;

/** Operations whose answer is a page of items. */
export type PagedId = { [I in OperationId]: Table<I> extends { paged: true } ? I : never }[OperationId];

/** What the pages of an operation are made of. */
export type Item<I extends PagedId> = Answer<I> extends { items: readonly (infer T)[] } ? T : never;

/** Lists of a range of blocks, which can be followed. */
export type FollowableId = { [I in PagedId]: Table<I> extends { query: readonly (infer Q)[] } ? ("from_block" | "to_block" extends Q ? I : never) : never }[PagedId];

/** What one call may be given besides its parameters. */
export interface CallOptions {
  /** Ends the call, and the wait for another attempt. */
  signal?: AbortSignal;
  /** The longest an attempt may take; the client's unless set. */
  timeoutMs?: number;
}

type Call<P, R> = {} extends P ? (params?: P, options?: CallOptions) => R : (params: P, options?: CallOptions) => R;

/** A method for every operation. */
export type Methods = { readonly [I in OperationId]: Call<Params<I>, Promise<Answer<I>>> };

/** For every list, what goes over the items of all pages, from the cursor of the parameters on. */
export type AllPages = { readonly [I in PagedId]: Call<Params<I>, AsyncGenerator<Item<I>, void, undefined>> };

/** A block: its number, and which one of that number. */
export interface Ref {
  number: number;
  hash: string;
}

/** A step of a list that is followed. */
export interface Change<T> {
  /** A fork took back everything after block upto: forget what came from later blocks. There are no items then. */
  undone: boolean;
  /**
   * The block that the list has been followed to. Its hash is empty when nothing that was followed is left: then it is the one
   * before the first.
   */
  upto: Ref;
  /** The new ones, the oldest first. */
  items: T[];
}

/** From where on a list is followed. */
export interface FollowOptions {
  /** The first block. Without it, and without known, what is new is followed. */
  from?: number;
  /** Blocks that were handled before, the newest last, as upto told them. Keep the last two dozen. */
  known?: readonly Ref[];
  /** Follow blocks only when they are final: nothing is undone then, and all comes later. */
  finalized?: boolean;
  /** How long to wait for a new block; 2 seconds unless set. */
  intervalMs?: number;
  /** How many blocks are asked for at once at most; 1,000 unless set. */
  stride?: number;
  /** Ends it. */
  signal?: AbortSignal;
}

type FollowParams<I extends FollowableId> = Omit<Params<I>, "from_block" | "to_block" | "order" | "cursor">;

/** For every list of a range of blocks, what goes along with the chain; and blocks themselves. */
export type Followers = {
  readonly [I in FollowableId]: {} extends FollowParams<I>
    ? (params?: FollowParams<I>, options?: FollowOptions) => AsyncGenerator<Change<Item<I>>, void, undefined>
    : (params: FollowParams<I>, options?: FollowOptions) => AsyncGenerator<Change<Item<I>>, void, undefined>;
} & {
  readonly blocks: (options?: FollowOptions) => AsyncGenerator<Change<Answer<"getBlock">>, void, undefined>;
};
