#!/usr/bin/env node
// A small server of tools (Model Context Protocol over stdio), for agents in tests to call.
//
//   node mcp_notes.mjs FILE
//
// It has one tool, append_line {text}: adds the text to FILE, as a line.
import fs from 'node:fs';
import readline from 'node:readline';

const [file] = process.argv.slice(2);
const tool = {
  name: 'append_line',
  description: 'Adds a line to the notes.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};

function call({ name, arguments: args }) {
  if (name !== tool.name) return { content: [{ type: 'text', text: `no tool ${name}` }], isError: true };
  fs.appendFileSync(file, `${args.text}\n`);
  return { content: [{ type: 'text', text: 'noted' }] };
}

const methods = {
  initialize: params => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'notes', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': call,
};

readline.createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = methods[method]
    ? { result: methods[method](params ?? {}) }
    : { error: { code: -32601, message: `no method ${method}` } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\n');
});
