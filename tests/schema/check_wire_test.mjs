// The checker of recorded conversations finds what it is there to find.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkWire } from './wire.mjs';

const line = (mark, message) => mark + (typeof message === 'string' ? message : JSON.stringify(message));
const acpd = (message) => line('<', message);
const agent = (message) => line('>', message);
const request = (id, method, params) => ({ jsonrpc: '2.0', id, method, params });
const result = (id, value) => ({ jsonrpc: '2.0', id, result: value });
const error = (id, value) => ({ jsonrpc: '2.0', id, error: value });

const setup = { cwd: '/p', mcpServers: [] };
const initialize = [
  acpd(request(1, 'initialize', {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: false }, terminal: false },
    clientInfo: { name: 'acpd', version: '1' },
  })),
  agent(result(1, {
    protocolVersion: 1,
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true },
      mcpCapabilities: { http: true },
      sessionCapabilities: { resume: {}, fork: {} },
    },
    authMethods: [{ id: 'key', name: 'Key' }, { id: 'shell', name: 'Shell', type: 'terminal' }],
  })),
];
const permission = agent(request(0, 'session/request_permission', {}));
const selected = { outcome: { outcome: 'selected', optionId: 'a' } };

function inFolder(files, use) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'acpd-wire-'));
  try {
    files.forEach((bytes, i) => fs.writeFileSync(path.join(folder, `${i}-1.wire`), bytes));
    return use(folder);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}
const check = (lines) => inFolder([lines.map((one) => `${one}\n`).join('')], checkWire);

test('a good conversation has no violation, and all that acpd said is counted', () => {
  const report = check([
    ...initialize,
    acpd(request('a', 'authenticate', { methodId: 'key' })),
    acpd(request(2, 'session/new', { cwd: '/p', mcpServers: [{ type: 'http', name: 'h', url: 'u', headers: [] }] })),
    agent(result(2, { sessionId: 's' })),
    acpd(request(3, 'session/prompt', {
      sessionId: 's', prompt: [{ type: 'text', text: 'ü' }, { type: 'image', data: '', mimeType: 'image/png' }],
    })),
    permission,
    acpd(result(0, selected)),
    agent(request('0', 'fs/read_text_file', {})),
    acpd(error('0', { code: -32602, message: 'path is missing', data: { any: 'thing' } })),
    agent({ jsonrpc: '2.0', method: 'session/update', params: {} }),
    agent('no JSON'),
    acpd(error(null, { code: -32700, message: 'Parse error' })),
    acpd({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 's' } }),
    acpd(request(4, 'session/load', { sessionId: 's', ...setup, _meta: { a: { b: 1 } } })),
    acpd(request(5, 'session/fork', { sessionId: 's', ...setup })),
    acpd(request(6, 'session/set_model', { sessionId: 's', modelId: 'm' })),
    agent(result(1, {})),  // of two answers the first one counts
    acpd(request(7, 'session/resume', { sessionId: 's', ...setup })),
    '#<', '#>',
  ]);
  assert.deepEqual(report.violations, []);
  assert.equal(report.messages, 12);
  assert.equal(report.skipped, 1);
  assert.equal(report.counts.get('result of session/request_permission'), 1);
  assert.equal(report.counts.get('error -32602 to fs/read_text_file'), 1);
});

const after = (...lines) => [...initialize, ...lines];
const setupWith = (rest) => after(acpd(request(2, 'session/new', { ...setup, ...rest })));
for (const [what, lines, mistake] of [
  ['no JSON', [acpd('{')], /no JSON/],
  ['no UTF-8', [Buffer.from([0x3c, 0x22, 0xff, 0x22])], /UTF-8/],
  ['an array', [acpd([])], /no object/],
  ['no version of JSON-RPC', [acpd({ id: 1, method: 'initialize', params: { protocolVersion: 1 } })], /jsonrpc/],
  ['nothing in it', after(acpd({ jsonrpc: '2.0', id: 7 })), /neither/],
  ['a member of its own', [acpd({ ...request(1, 'initialize', { protocolVersion: 1 }), trace: 1 })], /member trace/],
  ['a later protocol', [acpd(request(1, 'initialize', { protocolVersion: 2 }))], /protocolVersion/],
  ['a session before initialize was answered', [initialize[0], acpd(request(2, 'session/new', setup))], /before/],
  ['an id that comes again', after(acpd(request(1, 'session/new', setup))), /twice/],
  ['an id that is no whole number', after(acpd(request(1.5, 'session/new', setup))), /id of no good type/],
  ['an unknown method', after(acpd(request(2, 'session/old', {}))), /no such request/],
  ['a notification as a request', after(acpd(request(2, 'session/cancel', { sessionId: 's' }))), /no such request/],
  ['a request as a notification', after(acpd({ jsonrpc: '2.0', method: 'session/new', params: setup })), /no such not/],
  ['a member too many', setupWith({ systemPrompt: 'x' }), /systemPrompt/],
  ['a member too many deep inside', setupWith({ mcpServers: [{ name: 'a', command: '/a', args: [], env: [], x: 1 }] }),
    /must/],
  ['a member missing', after(acpd(request(2, 'session/new', { cwd: '/' }))), /mcpServers/],
  ['a relative folder', setupWith({ cwd: 'p' }), /absolute/],
  ['a method that the agent does not offer', after(acpd(request(2, 'session/list', {}))), /does not offer/],
  ['a login method that is not there', after(acpd(request(2, 'authenticate', { methodId: 'x' }))), /a login method/],
  ['a login method for terminals', after(acpd(request(2, 'authenticate', { methodId: 'shell' }))), /a login method/],
  ['content that the agent does not take', after(acpd(request(2, 'session/prompt', {
    sessionId: 's', prompt: [{ type: 'audio', data: '', mimeType: 'audio/wav' }],
  }))), /a kind of content/],
  ['an MCP server that the agent does not take',
    setupWith({ mcpServers: [{ type: 'sse', name: 'a', url: 'u', headers: [] }] }), /a kind of MCP/],
  ['an MCP server without a path', setupWith({ mcpServers: [{ name: 'a', command: 'a', args: [], env: [] }] }),
    /absolute/],
  ['further folders that the agent cannot have', setupWith({ additionalDirectories: ['/a'] }), /further folders/],
  ['a result of nothing', after(acpd(result(0, selected))), /nothing that was asked/],
  ['a second result', after(permission, acpd(result(0, selected)), acpd(result(0, selected))), /second/],
  ['an id of another type', after(permission, acpd(result('0', selected))), /nothing that was asked/],
  ['an error for nothing', after(acpd(error(9, { code: 1, message: 'm' }))), /nothing that was asked/],
  ['a result that does not fit', after(permission, acpd(result(0, { outcome: { outcome: 'chosen' } }))), /result of/],
  ['a result with too much', after(permission, acpd(result(0, { ...selected, by: 'me' }))), /unevaluated properties by/],
  ['an error without a message', after(permission, acpd(error(0, { code: 1 }))), /message/],
  ['a result and an error', after(permission, acpd({ ...result(0, selected), error: { code: 1, message: 'm' } })),
    /member result/],
  ['a result of an unknown method', after(agent(request(0, '_x', {})), acpd(result(0, {}))), /does not have/],
]) {
  test(`a violation: ${what}`, () => {
    const bytes = lines.map((one) => Buffer.concat([Buffer.from(one), Buffer.from('\n')]));
    const { violations } = inFolder([Buffer.concat(bytes)], checkWire);
    assert.equal(violations.length, 1, JSON.stringify(violations));
    assert.match(violations[0].mistake, mistake);
  });
}

test('the program says what it counted; a violation, and no message at all, are failures', () => {
  const program = path.join(path.dirname(fileURLToPath(import.meta.url)), 'check_wire.mjs');
  const run = (folder) => {
    try {
      return { text: execFileSync(process.execPath, [program, folder], { encoding: 'utf8' }), code: 0 };
    } catch (failure) {
      return { text: failure.stdout, code: failure.status };
    }
  };
  const good = initialize.join('\n');
  const bad = acpd(request(1, 'session/old', {}));
  const both = inFolder([good, bad], run);
  assert.equal(both.code, 1);
  assert.match(both.text, /VIOLATION no such request/);
  assert.match(both.text, /2 messages in 2 files, 0 too long to be checked, 1 violations/);
  assert.equal(inFolder([good], run).code, 0);
  assert.equal(inFolder([], run).code, 1);
});
