// Thousands of messages that fit the schema, made from a seed, go through a real acpd: none is refused, none
// is lost, none loses a byte.
//   ACPD_SCHEMA_SEED (1), ACPD_SCHEMA_UPDATES (3000): which, and how many
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { explain, lenient, stable } from './acp_schema.mjs';
import { Generator } from './generator.mjs';
import { anything, Random, Raw, write } from './random.mjs';
import { Rig, seed, sessionId, updates } from './rig.mjs';
import { updateFields } from './shown.mjs';

let rig;
before(async () => {
  rig = await Rig.start();
});
after(async () => {
  const report = await rig.stop();
  assert.ok(report.messages > 0);
  assert.deepEqual(report.violations, []);
});

const chunked = (list, size) =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));

const notification = (random, text, rest = {}) => write(random, {
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId: new Raw(sessionId), update: new Raw(text), ...rest },
});

// Sends `texts` (update objects) in turns of one session; the SessionUpdates that came of each, parts joined.
async function send(texts, random) {
  let session;
  const received = [];
  for (const batch of chunked(texts, 100)) {
    const turn = await rig.turn(batch.map((text) =>
      notification(random, text, random.chance(0.2) ? { _meta: { a: anything(random) } } : {})), { session });
    session = turn.session_id;
    const events = await rig.events(turn);
    assert.deepEqual(events.filter((event) => event.event === 'notice'), []);
    const ours = [];
    for (const { session_update: update } of events.filter((event) => event.event === 'session_update')) {
      if (update.part > 1) ours.at(-1).json += update.json;
      else ours.push(update);
    }
    assert.equal(ours.length, batch.length);
    received.push(...ours);
  }
  return received;
}

test(`each of ${updates} generated updates arrives whole and in order (seed ${seed})`, async () => {
  const random = new Random(seed);
  const generator = new Generator(random, { extra: true });
  const fits = lenient('SessionUpdate');
  const texts = Array.from({ length: updates }, () => write(random, generator.make('SessionUpdate')));
  for (const text of texts) {
    if (!fits(JSON.parse(text))) assert.fail(`the generator made ${text}: ${explain(fits)}`);
  }
  assert.deepEqual(generator.missed(), [], 'alternatives of the schema that were never made');
  const kinds = stable.$defs.SessionUpdate.oneOf.map((one) => one.properties.sessionUpdate.const);
  assert.deepEqual(new Set(texts.map((text) => JSON.parse(text).sessionUpdate)), new Set(kinds));

  const received = await send(texts, random);
  texts.forEach((text, i) => {
    assert.equal(received[i].json, text, `update ${i}`);
    const fields = updateFields(JSON.parse(text));
    for (const [name, value] of Object.entries(fields)) assert.equal(received[i][name], value, `${name} of ${text}`);
    assert.deepEqual([received[i].part, received[i].replayed], [0, false]);
  });
});

test('kinds that the schema does not know arrive whole', async () => {
  const random = new Random(seed + 1);
  const texts = Array.from({ length: 200 }, (_, i) => write(random, {
    sessionUpdate: random.pick(['_vendor/thing', 'later_update', 'Plan', 'état', 'plan_removed', 'state_update']),
    number: i,
    anything: anything(random),
    content: anything(random),
    status: anything(random),
    title: anything(random),
    toolCallId: anything(random),
  }));
  const received = await send(texts, random);
  assert.deepEqual(received.map((update) => update.json), texts);
  assert.deepEqual(received.map((update) => update.kind), texts.map((text) => JSON.parse(text).sessionUpdate));
});

test('large and deep updates arrive whole', async () => {
  const deep = (levels) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const texts = [
    `{"sessionUpdate":"tool_call_update","toolCallId":"a","rawOutput":"${'ü'.repeat(2_000_000)}"}`,
    `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"${'x'.repeat(3_000_000)}"}}`,
    `{"sessionUpdate":"tool_call_update","toolCallId":"a","rawInput":${deep(120)}}`,
  ];
  const received = await send(texts, new Random(seed));
  texts.forEach((text, i) => assert.ok(received[i].json === text, `update ${i}`));
  assert.deepEqual(received.map((update) => update.parts > 1), [true, true, false]);
});

test('what is no good text is repaired, and nothing else changes', async () => {
  const update = (text) => `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"${text}"}}`;
  const sent = ['\\ud83d', 'a\\udc00b', '\\ud83d\\ud83d\\ude00', '\\uD83D\\uDE00'];
  const read = ['\\ufffd', 'a\\ufffdb', '\\ufffd\\ud83d\\ude00', '\\uD83D\\uDE00'];
  const received = await send(sent.map(update), new Random(seed));
  assert.deepEqual(received.map((one) => one.json), read.map(update));
});

test('only tool calls have a tool_status', async () => {
  const update = '{"sessionUpdate":"compaction_update","compactionId":"c","status":"completed"}';
  assert.equal((await send([update], new Random(seed)))[0].tool_status, '');
});

test('names of members may be escaped', async () => {
  const update = '{"session\\u0055pdate":"plan","entries":[]}';
  assert.equal((await send([update], new Random(seed)))[0].kind, 'plan');
});
