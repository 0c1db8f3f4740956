// A client of the official TypeScript SDK: `node typescript_client.mjs CALLS COMMAND ARGS...`.
//
// CALLS is JSON: [{"name", "arguments", "timeout"?, "abort_after"?, "with_progress"?}, ...], where
// times are in milliseconds, or a list of such calls, which are made at once. Prints a line of JSON
// for each: {"result"} or {"thrown"}. ANSWER is what the person says to each question: yes, no or
// cancel; without it the client cannot ask.
const sdk = `${process.env.SDK}/dist/esm`;
const { Client } = await import(`${sdk}/client/index.js`);
const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
const { ElicitRequestSchema } = await import(`${sdk}/types.js`);

const [calls, command, ...args] = process.argv.slice(2);
const answer = process.env.ANSWER;
const transport = new StdioClientTransport({ command, args, env: { ...process.env } });
const capabilities = answer ? { elicitation: {} } : {};
const client = new Client({ name: "typescript", version: "1" }, { capabilities });
const asked = [];

if (answer) {
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    asked.push(params.message);
    if (answer === "yes") return { action: "accept", content: { approve: true } };
    return { action: answer === "no" ? "decline" : "cancel" };
  });
}

async function call({ name, arguments: given, timeout, abort_after, with_progress }) {
  const options = { timeout: timeout ?? 60000 };
  let steps = 0;
  if (with_progress) options.onprogress = () => (steps += 1);
  if (abort_after) {
    const abort = new AbortController();
    setTimeout(() => abort.abort("the user"), abort_after);
    options.signal = abort.signal;
  }
  try {
    const result = await client.callTool({ name, arguments: given }, undefined, options);
    return { result, steps };
  } catch (error) {
    return { thrown: String(error.message) };
  }
}

await client.connect(transport);
const { tools } = await client.listTools(); // the SDK keeps output schemas, and checks results by them
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name) }));
for (const one of JSON.parse(calls)) {
  const batch = Array.isArray(one) ? one : [one];
  for (const done of await Promise.all(batch.map(call))) console.log(JSON.stringify(done));
}
console.log(JSON.stringify({ asked }));
await client.close();
