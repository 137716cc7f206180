// A real acpd with fake agents (tests/fakes) that say what a test wants, byte for byte, and what came of it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { call, connect, deadlineIn, readAll } from '../clients/node/client.mjs';
import { binDir, Daemon } from '../clients/node/daemon.mjs';
import { checkWire } from './wire.mjs';

// Each schema test takes its seed from here, and says it when it fails.
export const seed = Number(process.env.ACPD_SCHEMA_SEED ?? 1);
export const updates = Number(process.env.ACPD_SCHEMA_UPDATES ?? 3000);

export const agentProgram = path.join(binDir, 'fake_agent');

// What a script of the fake agent puts the session's id in for (verb `raw`).
export const sessionId = '"${sessionId}"';

export class Rig {
  // `agents`: by name, what the config says of each beside its command. `config`: other members.
  static async start({ agents = { fake: {} }, ...config } = {}) {
    const wire = fs.mkdtempSync(path.join(process.env.TMPDIR ?? '/tmp', 'acpd-wire-'));
    const servers = Object.entries(agents).map(([name, { env, ...rest }]) =>
      [name, { command: agentProgram, env: { ACPD_TEST_WIRE: wire, ...env }, ...rest }]);
    const daemon = await Daemon.start({ agent_servers: Object.fromEntries(servers), ...config });
    return new Rig(daemon, wire);
  }

  constructor(daemon, wire) {
    this.wire = wire;
    this.cwd = path.join(daemon.dir, 'state/projects/schema');  // of the sessions
    this.client = connect(daemon.address);
    this.admin = connect(daemon.address, 'AdminService');
    this.#daemon = daemon;
  }

  #daemon;

  // Ends acpd and gives the report on all that it sent.
  async stop() {
    this.client.close();
    this.admin.close();
    await this.#daemon.stop();
    const report = checkWire(this.wire);
    fs.rmSync(this.wire, { recursive: true });
    return report;
  }

  // A turn in which the agent writes `lines` (JSON without newline), waits for the answers to `ids` and
  // ends the turn. `session`: an earlier turn's, to go on there. Gives {session_id, turn_id, result}.
  async turn(lines, { ids = [], session, mode = 'PERMISSION_MODE_ALLOW', onStart } = {}) {
    const steps = [
      { raw: lines.map((line) => `${line}\n`).join('') },
      ...ids.map((id) => ({ expect_answer: { id } })),
      { reply: { stopReason: 'end_turn' } },
    ];
    const request = {
      project_id: 'schema', session_id: session ?? '', prompt: `!${JSON.stringify(steps)}`,
      permission_mode: mode,
    };
    if (onStart) {
      const started = await call(this.client, 'Chat', { ...request, wait_for: 'WAIT_FOR_STARTED' }, 120);
      await onStart(started);
      return started;
    }
    const turn = await call(this.client, 'Chat', { ...request, wait_for: 'WAIT_FOR_FINISHED' }, 120);
    assert.equal(turn.state, 'TURN_STATE_ENDED', 'not all was answered: the turn goes on');
    assert.equal(turn.result.outcome, 'OUTCOME_COMPLETED');
    return turn;
  }

  // The stored events of a turn.
  async events({ session_id, turn_id, after_position }) {
    const all = await readAll(this.client.SubscribeProgress(
      { session_id, turn_id, after_position, replay_only: true }, deadlineIn(60)));
    return all.filter((event) => event.seq !== '0');
  }

  // What acpd answered: from the agent's id, as JSON, to the messages.
  answers() {
    const found = new Map();
    for (const message of this.#sent()) {
      if ('method' in message) continue;
      const id = JSON.stringify(message.id);
      found.set(id, [...(found.get(id) ?? []), message]);
    }
    return found;
  }

  // The params of each call of a method that acpd sent.
  calls(method) {
    return [...this.#sent()].filter((message) => message.method === method).map(({ params }) => params);
  }

  // The messages of acpd, agent by agent.
  *#sent() {
    for (const name of fs.readdirSync(this.wire)) {
      for (const line of fs.readFileSync(path.join(this.wire, name), 'utf8').split('\n')) {
        if (line[0] === '<') yield JSON.parse(line.slice(1));
      }
    }
  }
}
