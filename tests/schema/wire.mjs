// Checks what acpd sent in recorded conversations (tests/fakes/agent_wire.h) against the schema.
import fs from 'node:fs';
import path from 'node:path';
import { error, explain, notifications, requests, results } from './acp_schema.mjs';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

const items = (list) => (Array.isArray(list) ? list.filter(isObject) : []);

// What a client may do only when the agent's answer to initialize offers it: by what is missing, a function of
// its capabilities (or of the whole answer) and the params.
const has = (name) => (agent) => isObject(agent.sessionCapabilities?.[name]);
const gates = {
  'session/load': (agent) => agent.loadSession === true,
  'session/resume': has('resume'),
  'session/list': has('list'),
  'session/close': has('close'),
  'session/delete': has('delete'),
  'session/fork': has('fork'),
  logout: (agent) => isObject(agent.auth?.logout),
};
const blockNeeds = { image: 'image', audio: 'audio', resource: 'embeddedContext' };
const paramGates = {
  'a login method': (agent, { methodId }, answer) => methodId === undefined
    || items(answer.authMethods).some((method) => method.id === methodId && method.type !== 'terminal'),
  'a kind of content': (agent, { prompt }) => items(prompt).every(({ type }) =>
    !(type in blockNeeds) || agent.promptCapabilities?.[blockNeeds[type]] === true),
  'a kind of MCP server': (agent, { mcpServers }) => items(mcpServers).every(({ type }) =>
    type === undefined || agent.mcpCapabilities?.[type] === true),
  'further folders': (agent, { additionalDirectories }) =>
    !additionalDirectories?.length || has('additionalDirectories')(agent),
};

export class Report {
  counts = new Map();
  violations = [];
  skipped = 0;  // lines over 1 MiB that acpd sent
  files = 0;

  get messages() {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }

  count(what) {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  print(out = console.log) {
    for (const [what, count] of [...this.counts].sort()) out(`${String(count).padStart(8)}  ${what}`);
    for (const { file, line, mistake } of this.violations) {
      out(`VIOLATION ${mistake}\n    ${file}: ${line.slice(0, 500)}`);
    }
    out(`${this.messages} messages in ${this.files} files, ${this.skipped} too long to be checked, `
      + `${this.violations.length} violations`);
  }
}

// One agent process and what acpd said to it.
class Conversation {
  #report;
  #file;
  #line = '';
  #asked = new Map();  // by the agent's id as JSON: methods of its requests, oldest first
  #agentIds = new Set();  // of whatever it sent with an id
  #lostAgentLines = false;  // too long to be kept: their ids are not known
  #ownIds = new Map();  // acpd's: the method
  #agent;  // the agent's answer to initialize

  constructor(report, file) {
    this.#report = report;
    this.#file = file;
  }

  read(bytes) {
    for (let start = 0; start < bytes.length;) {
      let end = bytes.indexOf(10, start);
      if (end < 0) end = bytes.length;  // the process was killed in the middle of it
      const mark = String.fromCharCode(bytes[start]);
      const line = bytes.subarray(start + 1, end);
      if (mark === '<') this.#fromAcpd(line);
      if (mark === '>') this.#fromAgent(line.toString());
      if (mark === '#' && line.toString() === '<') this.#report.skipped += 1;
      if (mark === '#' && line.toString() === '>') this.#lostAgentLines = true;
      start = end + 1;
    }
  }

  #fromAgent(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    if (!isObject(message)) return;
    const id = JSON.stringify(message.id);
    if (id !== undefined) this.#agentIds.add(id);
    if (typeof message.method === 'string') {
      if (id !== undefined) this.#asked.set(id, [...(this.#asked.get(id) ?? []), message.method]);
    } else if (this.#ownIds.get(id) === 'initialize' && isObject(message.result)) {
      this.#agent ??= message.result;  // of two answers the first one counts
    }
  }

  #fromAcpd(bytes) {
    let message;
    try {
      this.#line = bytes.toString();
      message = JSON.parse(decoder.decode(bytes));
    } catch (mistake) {
      return this.#violation(`no JSON in UTF-8: ${mistake.message}`);
    }
    if (!isObject(message)) return this.#violation('no object');
    if (message.jsonrpc !== '2.0') this.#violation('jsonrpc is not "2.0"');
    if ('method' in message) return this.#call(message);
    if ('result' in message || 'error' in message) return this.#answer(message);
    this.#violation('neither a call nor an answer');
  }

  #call(message) {
    const { method, params, id } = message;
    this.#members(message, ['jsonrpc', 'id', 'method', 'params']);
    const isRequest = 'id' in message;
    const validator = (isRequest ? requests : notifications).get(method);
    this.#report.count(`${isRequest ? 'request' : 'notification'} ${method}`);
    if (!validator) return this.#violation(`no such ${isRequest ? 'request' : 'notification'}: ${method}`);
    this.#fits(validator(), params ?? {}, `params of ${method}`);
    this.#rules(method, params ?? {});
    if (!isRequest) return;
    if (!Number.isSafeInteger(id) && typeof id !== 'string') this.#violation('a request id of no good type');
    const key = JSON.stringify(id);
    if (this.#ownIds.has(key)) this.#violation('a request id used twice');
    this.#ownIds.set(key, method);
  }

  // What the text of the protocol asks of a client beside the schema.
  #rules(method, params) {
    if (method === 'initialize') {
      if (params.protocolVersion !== 1) this.#violation('protocolVersion is not 1');
      return;
    }
    if (!this.#agent && method !== '$/cancel_request') this.#violation(`${method} before initialize was answered`);
    const commands = items(params.mcpServers).map((server) => server.command);
    for (const place of [params.cwd, ...(params.additionalDirectories ?? []), ...commands]) {
      if (typeof place === 'string' && !place.startsWith('/')) this.#violation('a path that is not absolute');
    }
    if (!this.#agent) return;
    const { agentCapabilities } = this.#agent;
    const capabilities = isObject(agentCapabilities) ? agentCapabilities : {};
    if (gates[method] && !gates[method](capabilities)) {
      this.#violation(`${method}, which the agent does not offer`);
    }
    for (const [what, holds] of Object.entries(paramGates)) {
      if (!holds(capabilities, params, this.#agent)) this.#violation(`${what} that the agent does not offer`);
    }
  }

  #answer(message) {
    const key = JSON.stringify(message.id ?? null);
    const isError = 'error' in message;
    this.#members(message, ['jsonrpc', 'id', isError ? 'error' : 'result']);
    if (!('id' in message)) this.#violation('an answer without an id');
    const method = this.#asked.get(key)?.shift();
    if (isError) {
      this.#report.count(`error ${message.error?.code} to ${method ?? 'no known request'}`);
      this.#fits(error(), message.error, 'error');
      // A line that was no good request may have an id, or none that can be told.
      const known = method || key === 'null' || this.#agentIds.has(key) || this.#lostAgentLines;
      if (!known) this.#violation('an error for nothing that was asked');
      return;
    }
    this.#report.count(`result of ${method ?? 'no known request'}`);
    if (!method) {
      if (!this.#lostAgentLines) this.#violation('a result of nothing that was asked, or a second one');
      return;
    }
    const validator = results.get(method);
    if (!validator) return this.#violation(`a result of ${method}, which the schema does not have`);
    this.#fits(validator(), message.result, `result of ${method}`);
  }

  #members(message, allowed) {
    for (const key of Object.keys(message)) {
      if (!allowed.includes(key)) this.#violation(`the message has a member ${key}`);
    }
  }

  #fits(validate, value, what) {
    if (!validate(value)) this.#violation(`${what}: ${explain(validate)}`);
  }

  #violation(mistake) {
    this.#report.violations.push({ file: this.#file, line: this.#line, mistake });
  }
}

// All conversations of a folder.
export function checkWire(folder) {
  const report = new Report();
  for (const name of fs.readdirSync(folder).filter((file) => file.endsWith('.wire')).sort()) {
    report.files += 1;
    new Conversation(report, name).read(fs.readFileSync(path.join(folder, name)));
  }
  return report;
}
