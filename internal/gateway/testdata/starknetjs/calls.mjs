// What wallets and programs do with starknet.js, through the gateway. Every answer is held
// against the one that the node itself gives to the same call. A line "block" on standard
// output asks for a block, which is there when a line comes back; the last line says what was done.
import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { Account, CallData, RpcError, RpcProvider, Signer, TransactionType, WebSocketChannel, cairo, hash, json, num } from "starknet";

const { GATEWAY, KEY, READ_KEY, CHAIN, VERSION, NODE, TOKEN, SENDER, RECEIVER } = process.env;
const address = `${GATEWAY}/rpc/${VERSION}/${CHAIN}`;

const truth = new RpcProvider({ nodeUrl: NODE });
const byHeader = new RpcProvider({ nodeUrl: address, headers: { "X-Service-Api-Key": KEY } });
const byAddress = new RpcProvider({ nodeUrl: `${address}/${KEY}` });
const batched = new RpcProvider({ nodeUrl: `${address}/${KEY}`, batch: 1 });

const replies = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function block() {
  console.log("block");
  assert.equal((await replies.next()).value, "done");
}

let compared = 0;
const plain = (value) => json.parse(json.stringify(value));
async function same(name, call, providers = [byHeader, byAddress]) {
  const want = plain(await call(truth));
  for (const p of providers) assert.deepEqual(plain(await call(p)), want, name);
  compared++;
  return want;
}

async function refused(name, call, type) {
  for (const p of [truth, byHeader, byAddress]) {
    await assert.rejects(call(p), (e) => e instanceof RpcError && e.isType(type), name);
  }
  compared++;
}

// Ordinary calls.
await same("chain", (p) => p.getChainId());
await same("version", (p) => p.getSpecVersion());
const head = await same("head", (p) => p.getBlockNumber());
await same("head with hash", (p) => p.getBlockLatestAccepted());
const last = await same("newest block", (p) => p.getBlock("latest"));
assert.equal(last.block_number, head);
await same("block by hash", (p) => p.getBlock(last.block_hash));
await same("block with transactions", (p) => p.getBlockWithTxs(head - 1));
await same("block with receipts", (p) => p.getBlockWithReceipts(head - 2));
await same("oldest block with receipts", (p) => p.getBlockWithReceipts(0));
await same("number of transactions", (p) => p.getBlockTransactionCount(head));
await same("state update", (p) => p.getStateUpdate(head - 1));
for (const tx of last.transactions) {
  await same("transaction", (p) => p.getTransactionByHash(tx));
  const receipt = await same("receipt", (p) => p.getTransactionReceipt(tx));
  assert.equal(receipt.value.transaction_hash, tx);
  await same("status", (p) => p.getTransactionStatus(tx));
}
await same("transaction by place", (p) => p.getTransactionByBlockIdAndIndex(head, 0));
const nonce = await same("nonce", (p) => p.getNonceForAddress(SENDER, "latest"));
const classHash = await same("class hash", (p) => p.getClassHashAt(SENDER, "latest"));
await same("class at", (p) => p.getClassAt(SENDER, "latest"));
await same("class", (p) => p.getClass(classHash));
await same("storage", (p) => p.getStorageAt(TOKEN, hash.starknetKeccak("ERC20_total_supply"), head));
const balanceOf = (holder, at) => (p) =>
  p.callContract({ contractAddress: TOKEN, entrypoint: "balance_of", calldata: CallData.compile([holder]) }, at);
const before = await same("balance", balanceOf(RECEIVER, "latest"));
await refused("unknown transaction", (p) => p.getTransactionByHash("0x123"), "TXN_HASH_NOT_FOUND");
await refused("unknown block", (p) => p.getBlock(head + 1000), "BLOCK_NOT_FOUND");
await refused("unknown contract", (p) => p.getClassHashAt("0x123"), "CONTRACT_NOT_FOUND");
await refused("unknown class", (p) => p.getClass("0x123"), "CLASS_HASH_NOT_FOUND");

// Events over several pages, each with the token of the page before.
async function events(p, size) {
  const filter = {
    address: TOKEN, from_block: { block_number: 0 }, to_block: { block_number: head },
    keys: [[hash.getSelectorFromName("Transfer")]], chunk_size: size,
  };
  const all = [];
  let pages = 0;
  for (let token; pages === 0 || token; pages++) {
    const page = await p.getEvents(token ? { ...filter, continuation_token: token } : filter);
    all.push(...page.events);
    token = page.continuation_token;
  }
  return { all, pages };
}
const transfers = await same("events", async (p) => (await events(p, 7)).all);
assert.ok((await events(byAddress, 7)).pages > 3 && transfers.length > 21, "events must take several pages");

// Calls that are made at once and travel together.
await same("batch", (p) => Promise.all([p.getBlockNumber(), p.getClassHashAt(SENDER, "latest"), p.getBlock(1), balanceOf(RECEIVER, head)(p)]), [batched]);
assert.equal((await Promise.allSettled([batched.getBlockNumber(), batched.getBlock(head + 1000)])).map((r) => r.status).join(), "fulfilled,rejected");

// A connection with several subscriptions.
const channel = new WebSocketChannel({ nodeUrl: `${address.replace(/^http/, "ws")}/${KEY}`, autoReconnect: false });
await channel.waitForConnection();
assert.equal(await channel.sendReceive("starknet_blockNumber"), head);
const queue = (subscription) => {
  const items = [], waiting = [];
  subscription.on((item) => (waiting.length ? waiting.shift()(item) : items.push(item)));
  return { items, next: () => (items.length ? Promise.resolve(items.shift()) : new Promise((resolve) => waiting.push(resolve))) };
};
const headers = await channel.subscribeNewHeads({ blockIdentifier: head - 1 });
const heads = queue(headers);
const emitted = queue(await channel.subscribeEvents({ fromAddress: TOKEN, keys: [[hash.getSelectorFromName("Transfer")]] }));
async function nextHead(number) {
  const got = await heads.next();
  assert.equal(got.block_number, number);
  const want = await truth.getBlockWithTxHashes(number);
  for (const [field, value] of Object.entries(plain(got))) assert.deepEqual(value, plain(want[field]), `${field} of a head`);
  compared++;
}
async function nextEvents(number) {
  const at = { block_number: number };
  const { events: want } = await truth.getEvents({ address: TOKEN, from_block: at, to_block: at, keys: [[hash.getSelectorFromName("Transfer")]], chunk_size: 1000 });
  for (const event of want) {
    const { finality_status, ...got } = plain(await emitted.next());
    assert.deepEqual(got, plain(event), "an event");
    assert.equal(finality_status, "ACCEPTED_ON_L2");
  }
  compared++;
  return want;
}
await nextHead(head - 1);
await nextHead(head);
await nextEvents(head);

// A transfer. The signer sees the hash that starknet.js computes.
class Watched extends Signer {
  signed = [];
  async signRaw(digest) {
    this.signed.push(num.toHex(digest));
    return super.signRaw(digest);
  }
}
const transfer = { contractAddress: TOKEN, entrypoint: "transfer", calldata: CallData.compile([RECEIVER, cairo.uint256(12345)]) };
const accountOf = (provider, signer) => new Account({ provider, address: SENDER, signer });
const details = { tip: 0, nonce };
await same("fees", (p) => accountOf(p, "0x1").estimateInvokeFee([transfer], details));
await same("simulation", (p) => accountOf(p, "0x1").simulateTransaction([{ type: TransactionType.INVOKE, ...transfer }], details));
await assert.rejects(
  accountOf(new RpcProvider({ nodeUrl: `${address}/${READ_KEY}` }), "0x1").execute([transfer], details),
  (e) => e instanceof RpcError && e.baseError.data.code === "write_scope_required",
);
const signer = new Watched("0x1234567");
const sent = await accountOf(byAddress, signer).execute([transfer]);
assert.equal(num.toHex(sent.transaction_hash), signer.signed.at(-1), "the hash of the transfer");
await same("status of what waits", (p) => p.getTransactionStatus(sent.transaction_hash));
await assert.rejects(accountOf(byAddress, signer).execute([transfer], { nonce }), (e) => e instanceof RpcError, "a nonce that is used");
const statuses = queue(await channel.subscribeTransactionStatus({ transactionHash: sent.transaction_hash }));
assert.equal((await statuses.next()).status.finality_status, "RECEIVED");
const mined = byAddress.waitForTransaction(sent.transaction_hash, { retryInterval: 20 });
await block();
const receipt = await mined;
assert.ok(receipt.isSuccess() && receipt.value.block_number === head + 1, "the transfer is in the next block");
await same("receipt of the transfer", (p) => p.getTransactionReceipt(sent.transaction_hash));
await same("transfer", (p) => p.getTransactionByHash(sent.transaction_hash));
const after = await same("balance after it", balanceOf(RECEIVER, "latest"));
assert.equal((await statuses.next()).status.finality_status, "ACCEPTED_ON_L2");
await nextHead(head + 1);
assert.ok((await nextEvents(head + 1)).some((e) => e.transaction_hash === sent.transaction_hash), "the transfer's event is told");

// Transactions and receipts of a new block.
const transactions = queue(await channel.subscribeNewTransactions());
const receipts = queue(await channel.subscribeNewTransactionReceipts());

// No heads after the end of their subscription; the others go on.
assert.equal(await headers.unsubscribe(), true);
await block();
await nextEvents(head + 2);
for (const want of (await truth.getBlockWithReceipts(head + 2)).transactions) {
  const { finality_status, transaction_hash, ...transaction } = plain(await transactions.next());
  assert.equal(finality_status, "ACCEPTED_ON_L2");
  assert.equal(transaction_hash, want.receipt.transaction_hash);
  assert.deepEqual(transaction, plain(want.transaction), "a new transaction");
  const { block_hash, block_number, ...got } = plain(await receipts.next());
  assert.equal(block_number, head + 2);
  assert.deepEqual(got, plain(want.receipt), "a new receipt");
  compared++;
}
await channel.sendReceive("starknet_blockNumber");
assert.equal(heads.items.length, 0);
await assert.rejects(channel.sendReceive("starknet_unsubscribe", { subscription_id: headers.id }));
channel.disconnect();
await channel.waitForDisconnection();

console.log(JSON.stringify({ compared, hash: num.toHex(sent.transaction_hash), before, after }));
replies.return();
process.stdin.destroy();
