// A rig whose agents give the answers that a test has made.
import fs from 'node:fs';
import path from 'node:path';
import { call } from '../clients/node/client.mjs';
import { Generator } from './generator.mjs';
import { explain, schemas } from './acp_schema.mjs';
import { object, Random, Raw, write } from './random.mjs';
import { Rig } from './rig.mjs';

// How many answers a test makes of those that need a worker each.
export const answers = Number(process.env.ACPD_SCHEMA_ANSWERS ?? 100);

// As many agents as acpd asks at a time without a session.
const laneCount = 4;
// A call that is not answered fails its test; acpd's own time-outs are longer.
const patience = 20;

// A call's answer or refusal. Any other end of it, its deadline above all, is a failure.
export const ended = (asked) => asked.then((answer) => ({ answer, reason: '', sentence: '' }), (refused) => {
  const [reason] = refused.metadata?.get('acpd-reason') ?? [];
  if (!reason) throw refused;
  return { reason, sentence: refused.details };
});

// One of the agents: its workers are started one after the other.
export class Lane {
  #script;

  constructor(name, folder) {
    this.name = name;
    this.#script = path.join(folder, `${name}.json`);
    this.tell({});
  }

  get env() {
    return { FAKE_AGENT_SCRIPT: this.#script };
  }

  // What its next worker does: by method the line that answers it, or a list of them for call after call. Else
  // it is a good agent, with the `settings` of a script (tests/fakes/script.h).
  tell(lines, settings = {}) {
    const answer = (line) => [{ raw: `${line}\n` }, 'silent'];
    const methods = Object.entries(lines).map(([method, of]) =>
      [method, Array.isArray(of) ? of.map(answer) : answer(of)]);
    fs.writeFileSync(this.#script,
      JSON.stringify({ on_cancel: 'ignore', ...settings, ...Object.fromEntries(methods) }));
  }
}

export class Lanes {
  // `more`: further agents by name, and what the config says of them.
  static async start(more = {}) {
    const folder = fs.mkdtempSync(path.join(process.env.TMPDIR ?? '/tmp', 'acpd-answers-'));
    const names = Array.from({ length: laneCount }, (_, i) => `lane${i}`);
    const configured = { ...Object.fromEntries(names.map((name) => [name, {}])), ...more };
    const lanes = Object.keys(configured).map((name) => new Lane(name, folder));
    const agents = Object.fromEntries(lanes.map((lane) => [lane.name, {
      env: lane.env, resume: ['session/resume', 'session/load', 'meta'], ...configured[lane.name],
    }]));
    // What fails to start is started again at once: here it fails for the next answer's sake.
    const rig = await Rig.start({ agents, limits: { start_backoff: '0s' } });
    return new Lanes(rig, lanes, folder);
  }

  constructor(rig, lanes, folder) {
    this.rig = rig;
    this.lanes = lanes.slice(0, laneCount);
    this.more = Object.fromEntries(lanes.slice(laneCount).map((lane) => [lane.name, lane]));
    this.#folder = folder;
  }

  #folder;

  async stop() {
    const report = await this.rig.stop();
    fs.rmSync(this.#folder, { recursive: true });
    return report;
  }

  ask(method, request) {
    return call(this.rig.client, method, request, patience);
  }

  admin(method, request) {
    return call(this.rig.admin, method, request, patience);
  }

  async agentOf(lane) {
    const { agents } = await this.ask('ListAgents', {});
    return agents.find(({ name }) => name === lane.name);
  }

  setUp(lane, setup = {}) {
    return this.ask('CreateSession', { setup: { project_id: 'schema', agent: lane.name, ...setup } });
  }

  chat(session_id, rest = {}) {
    const request = { project_id: 'schema', session_id, prompt: 'go on', wait_for: 'WAIT_FOR_FINISHED' };
    return this.ask('Chat', { ...request, ...rest });
  }

  remove({ session_id }) {
    return this.ask('DeleteSession', { session_id, force: true });
  }

  // A prompted session for each lane: there is something to copy.
  async startOriginals(settings) {
    const originals = new Map();
    for (const lane of this.lanes) {
      lane.tell({}, settings);
      originals.set(lane, await this.chat('', { agent: lane.name }));
    }
    return originals;
  }

  // Calls `perCall(session_id, item)` for each item in one session, whose agent answers `method` with their lines.
  // `settings`: of its script. Gives the session.
  async inSession(lane, items, method, settings, perCall) {
    lane.tell({ [method]: items.map(({ line }) => line) }, settings);
    const session = await this.setUp(lane);
    for (const item of items) {
      await perCall(session.session_id, item).catch((mistake) => {
        mistake.message += `\nof ${item.line.slice(0, 4000)}`;
        throw mistake;
      });
    }
    return session;
  }

  // Does `work(lane, item)` for each item, the lanes beside each other. What is wrong with one says what it was.
  async spread(items, work) {
    const left = [...items];
    let failure;
    await Promise.all(this.lanes.map(async (lane) => {
      while (left.length > 0 && !failure) {
        const item = left.shift();
        await work(lane, item).catch((mistake) => {
          const what = item?.what ?? item?.line ?? (Array.isArray(item) ? '' : JSON.stringify(item));
          if (what) mistake.message += `\nof ${what.slice(0, 4000)}`;
          failure ??= mistake;
        });
      }
    }));
    if (failure) throw failure;
  }

  // The same with a share of the items for each lane.
  async share(items, work) {
    const shares = this.lanes.map((_, i) => items.filter((_, n) => n % this.lanes.length === i));
    await this.spread(shares, work);
  }
}

// Answers, and lines that carry them.
export class AnswerMaker {
  #generators;

  constructor(seed) {
    this.random = new Random(seed);
    this.#generators = Object.fromEntries(Object.entries(schemas).map(([name, schema]) =>
      [name, new Generator(this.random, { extra: true, schema })]));
  }

  // One that fits the definition.
  make(definition, schema = 'stable') {
    const made = this.#generators[schema].make(definition);
    const fits = schemas[schema].lenient(definition);
    const text = write(this.random, made);
    if (!fits(JSON.parse(text))) throw new Error(`the generator made ${text}: ${explain(fits)}`);
    return made;
  }

  // Alternatives of the schemas that were come by and never made.
  missed() {
    return Object.values(this.#generators).flatMap((generator) => generator.missed());
  }

  line(member) {
    return write(this.random, { jsonrpc: '2.0', id: new Raw('${id}'), ...member });
  }

  // {result, line} of any answer, after `change`.
  answer(definition, change = (made) => made, schema = 'stable') {
    const result = change(this.make(definition, schema));
    return { result, line: this.line({ result }) };
  }

  // An answer to initialize. `offers`: the capabilities that are needed (true) or must not be there (false); the
  // others come as they come. `texts`: of its members, as they were written.
  initialize(offers = {}, { schema = this.random.pick(['stable', 'unstable']), change = (made) => made } = {}) {
    const result = change(this.make('InitializeResponse', schema));
    result.protocolVersion = 1;
    if (Object.keys(offers).length > 0) {
      result.agentCapabilities = this.#offering(result.agentCapabilities ?? {}, offers);
    }
    return this.written(result);
  }

  written(result) {
    const texts = {};
    for (const member of ['agentCapabilities', 'authMethods']) {
      if (member in result) texts[member] = write(this.random, result[member]);
    }
    const raw = Object.fromEntries(Object.entries(texts).map(([member, text]) => [member, new Raw(text)]));
    return { result, texts, line: this.line({ result: { ...result, ...raw } }) };
  }

  #offering(capabilities, { load, logout, ...ofSession }) {
    const marker = (on) => (on ? object(this.random) : null);
    const offering = { ...capabilities };
    if (load !== undefined) offering.loadSession = load;
    if (logout !== undefined) offering.auth = { ...capabilities.auth, logout: marker(logout) };
    const session = { ...capabilities.sessionCapabilities };
    for (const [name, on] of Object.entries(ofSession)) session[name] = marker(on);
    offering.sessionCapabilities = session;
    return offering;
  }
}
