// Calls the client for a program that cannot: one request a line of standard input, one answer a line of standard output.
//   {"call": "getBlock", "params": {...}}   what the operation answers
//   {"all": "listBlocks", "params": {...}}  the items of all pages
//   {"follow": "searchEvents", "params": {...}, "options": {...}}  begins to follow; then {} is the next change
import { createInterface } from "node:readline";
import { createServiceClient, ServiceError } from "../dist/index.js";

const client = createServiceClient();
let following;
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let out;
  try {
    if (asked.call) out = { answer: await client[asked.call](asked.params) };
    else if (asked.all) {
      out = { answer: [] };
      for await (const item of client.all[asked.all](asked.params)) out.answer.push(item);
    } else {
      if (asked.follow) following = client.follow[asked.follow](asked.params, asked.options);
      out = { answer: (await following.next()).value };
    }
  } catch (e) {
    out = e instanceof ServiceError ? { status: e.status, code: e.code, requestId: e.requestId } : { code: "other", message: String(e) };
  }
  console.log(JSON.stringify(out));
}
