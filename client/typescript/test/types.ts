// What the compiler must take, and what it must refuse; it is never run.
import { createServiceClient, type Answer, type Change, type Item, type ServiceError } from "./index.js";

const client = createServiceClient({ apiKey: "svc_test_k", chainId: "SN_MAIN", baseUrl: "http://service.test" });

export async function taken(): Promise<void> {
  const block: Answer<"getBlock"> = await client.getBlock({ number_or_hash: "latest", tx_limit: 3 }, { signal: AbortSignal.timeout(1) });
  const number: number = block.blockNumber;
  const head: number | null = (await client.getStatus()).headBlockNumber;
  for await (const event of client.all.searchEvents({ address: ["0x1"], limit: 10 })) {
    const row: Item<"searchEvents"> = event;
    const name: string | null = row.eventName;
    void name;
  }
  for await (const change of client.follow.listTransfers({}, { from: 1 })) {
    const step: Change<Item<"listTransfers">> = change;
    void step.upto.hash;
  }
  await client.uploadVerificationSource({ jobId: "vrf_1", "Content-Digest": "sha-256=:x:", body: new Uint8Array(1) } as never);
  void number;
  void head;
}

export async function refused(error: ServiceError): Promise<void> {
  // @ts-expect-error a block must be named
  await client.getBlock({});
  // @ts-expect-error there is no such parameter
  await client.getStatus({ fresh: true });
  // @ts-expect-error there is no such operation
  await client.sendMoney({});
  // @ts-expect-error a block has no pages
  client.all.getBlock({ number_or_hash: 1 });
  // @ts-expect-error tokens are of no range of blocks
  client.follow.listTokens({});
  // @ts-expect-error what may be null is not a number
  const head: number = (await client.getStatus()).headBlockNumber;
  // @ts-expect-error there is no such code
  if (error.code === "not_fuond") void head;
}
