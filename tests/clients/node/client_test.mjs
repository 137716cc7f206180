// A Node client drives acpd with the API loaded from the repository's proto file.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import grpc from '@grpc/grpc-js';
import { call, connect, deadlineIn, readAll } from './client.mjs';
import { Daemon } from './daemon.mjs';

let daemon;
let client;
before(async () => {
  daemon = await Daemon.start();
  client = connect(daemon.address);
});
after(async () => {
  client?.close();
  await daemon?.stop();
});

const chat = (request) =>
  call(client, 'Chat', { project_id: 'node', wait_for: 'WAIT_FOR_FINISHED', ...request });

test('Chat goes on in its session, also after its worker has gone', async () => {
  const first = await chat({ prompt: 'remember the number 42' });
  assert.equal(first.origin.kind, 'KIND_NEW');
  assert.equal(first.state, 'TURN_STATE_ENDED');
  assert.equal(first.result.outcome, 'OUTCOME_COMPLETED');
  const { session_id } = first;

  const live = await chat({ session_id, prompt: 'what number did I say?' });
  assert.equal(live.origin.kind, 'KIND_LIVE');
  assert.match(live.result.text, /42/);

  const closed = await call(client, 'CloseSession', { session_id });
  assert.equal(closed.state, 'STATE_DORMANT');
  const resumed = await chat({ session_id, prompt: 'what number did I say?' });
  assert.equal(resumed.origin.kind, 'KIND_RESUMED');
  assert.equal(resumed.session_id, session_id);
  assert.match(resumed.result.text, /42/);
});

test('Subscribe with a cursor gives the rest of the log, without hole or double', async () => {
  const turn = await chat({ prompt: 'SLOW 5 10' });
  const subscribe = (cursor) => readAll(client.SubscribeProgress(
    { session_id: turn.session_id, replay_only: true, ...cursor }, deadlineIn(30)));

  const all = await subscribe({ after_seq: '0' });
  assert.equal(all[0].event, 'subscription_started');
  assert.equal(all.at(-1).event, 'caught_up');
  const stored = all.filter((event) => event.seq !== '0');
  assert.deepEqual(stored.map((event) => Number(event.seq)), stored.map((_, i) => i + 1));
  assert.equal(stored.at(-1).event, 'turn_ended');
  const text = stored.filter((event) => event.session_update?.kind === 'agent_message_chunk')
    .map((event) => event.session_update.text).join('');
  assert.equal(text, turn.result.text);

  const middle = stored[Math.floor(stored.length / 2)];
  const { epoch } = all[0].subscription_started;
  const rest = await subscribe({ after_position: middle.position, epoch });
  assert.deepEqual(
    rest.filter((event) => event.seq !== '0').map((event) => event.position),
    stored.filter((event) => Number(event.seq) > Number(middle.seq)).map((event) => event.position));

  await assert.rejects(subscribe({ after_position: '999999999' }), (error) => {
    assert.equal(error.code, grpc.status.OUT_OF_RANGE);
    assert.deepEqual(error.metadata.get('acpd-reason'), ['CURSOR_AHEAD']);
    return true;
  });
});

test('Cancel stops a slow turn and the session goes on', async () => {
  const turn = await chat({ prompt: 'SLOW 10000 10', wait_for: 'WAIT_FOR_STARTED' });
  assert.equal(turn.state, 'TURN_STATE_RUNNING');
  const { session_id, after_position, turn_id } = turn;
  const stream = client.SubscribeProgress(
    { session_id, after_position, until_turn_id: turn_id }, deadlineIn(30));
  const events = [];
  let cancelled;
  for await (const event of stream) {
    events.push(event);
    // Once the agent has said something, so that a running turn is cancelled.
    if (event.event === 'session_update' && event.session_update.text && !cancelled) {
      cancelled = call(client, 'Cancel', { session_id, reason: 'enough' });
    }
  }
  const answer = await cancelled;
  assert.equal(answer.outcome, 'OUTCOME_CANCELLED');
  assert.deepEqual(answer.turns.map((t) => t.turn_id), [turn_id]);

  const ends = events.filter((event) => event.event === 'turn_ended');
  assert.equal(ends.length, 1);
  assert.equal(ends[0].turn_ended.result.outcome, 'OUTCOME_CANCELLED');
  assert.equal(ends[0].turn_ended.result.cancel_reason, 'enough');

  const next = await chat({ session_id, prompt: 'still there' });
  assert.equal(next.result.outcome, 'OUTCOME_COMPLETED');
  assert.equal(next.session_id, session_id);
});

test('a bad request is refused with a reason and changes nothing', async () => {
  const sessions = async () =>
    (await call(client, 'ListSessions', {})).sessions.map((session) => session.session_id);
  const before = await sessions();
  const refused = (request, reason) => assert.rejects(chat(request), (error) => {
    assert.equal(error.code, grpc.status.INVALID_ARGUMENT);
    assert.deepEqual(error.metadata.get('acpd-reason'), [reason]);
    return true;
  });
  await refused({ project_id: '../x', prompt: 'hi' }, 'INVALID_PROJECT_ID');
  await refused({ prompt: '' }, 'EMPTY_PROMPT');
  assert.deepEqual(await sessions(), before);
});

test('the example of the README runs', async () => {
  const example = path.join(path.dirname(fileURLToPath(import.meta.url)), 'example.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [example], {
    env: { ...process.env, ACPD_ADDRESS: daemon.address }, timeout: 30_000,
  });
  assert.equal(stdout.match(/\[OUTCOME_COMPLETED\]/g)?.length, 2, stdout);
  assert.match(stdout.split('[OUTCOME_COMPLETED]')[1], /42/);
});
