// Talks to servers of the Model Context Protocol with the SDK that the inspector is made of: lists the tools of each, and calls
// what the plan says. The plan comes in by standard input, and what was answered goes out, both as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

let plan = "";
for await (const part of process.stdin) plan += part;
const { servers, calls } = JSON.parse(plan);

const out = [];
for (const server of servers) {
  const transport = server.url
    ? new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers } })
    : new StdioClientTransport({ command: server.command, args: server.args, env: { ...process.env, ...server.env } });
  const client = new Client({ name: "agent", version: "1" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const results = [];
  for (const call of calls) results.push(await client.callTool(call));
  await client.close();
  out.push({ name: client.getServerVersion().name, tools, results });
}
console.log(JSON.stringify(out));
