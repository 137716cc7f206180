// What agents write that is no good message, or nothing for acpd: it is passed over or refused, and what
// comes behind it arrives.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Generator } from './generator.mjs';
import { Random, write } from './random.mjs';
import { Rig, seed, sessionId } from './rig.mjs';

let rig;
before(async () => {
  rig = await Rig.start();
});
after(async () => {
  const report = await rig.stop();
  assert.ok(report.messages > 0);
  assert.deepEqual(report.violations, []);
});

const update = (text) => `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"${text}"}}`;
const call = (method, params) => `{"jsonrpc":"2.0","method":"${method}","params":${params}}`;
const last = call('session/update', `{"sessionId":${sessionId},"update":${update('last')}}`);

// Sends the lines and one good update behind them; the turn's session updates and notices.
async function send(lines, ids = []) {
  const turn = await rig.turn([...lines, last], { ids });
  const events = await rig.events(turn);
  const updates = events.filter((event) => event.event === 'session_update');
  assert.equal(updates.at(-1).session_update.text, 'last');
  return {
    updates: updates.slice(0, -1).map((event) => event.session_update.json),
    notices: events.filter((event) => event.event === 'notice').map((event) => event.notice),
  };
}

const known = `"sessionId":${sessionId}`;
for (const [params, arrives = ''] of [
  ['null'], ['[]'], ['7'], ['"text"'], ['{}'], [`{${known}}`], [`{${known},"update":null}`],
  [`{${known},"update":7}`], [`{${known},"update":"text"}`], [`{${known},"update":[]}`],
  [`{"update":${update('a')}}`], [`{"sessionId":null,"update":${update('a')}}`],
  [`{"sessionId":7,"update":${update('a')}}`], [`{"sessionId":{},"update":${update('a')}}`],
  [`{"sessionId":"another","update":${update('a')}}`],
  // Odd, but objects: they are the reader's.
  [`{${known},"update":{}}`, '{}'],
  [`{${known},"update":{"sessionUpdate":null}}`, '{"sessionUpdate":null}'],
  [`{${known},"update":{"sessionUpdate":7,"content":[]}}`, '{"sessionUpdate":7,"content":[]}'],
  [`{${known},"update":{"sessionUpdate":"agent_message_chunk"}}`, '{"sessionUpdate":"agent_message_chunk"}'],
  [`{${known},"update":{"sessionUpdate":"tool_call","toolCallId":7,"status":[]}}`,
    '{"sessionUpdate":"tool_call","toolCallId":7,"status":[]}'],
  [`{${known},"update":{"sessionUpdate":"usage_update","used":-1,"size":"big","cost":{"amount":"1"}}}`,
    '{"sessionUpdate":"usage_update","used":-1,"size":"big","cost":{"amount":"1"}}'],
  [`{${known},"update":{"sessionUpdate":"config_option_update","configOptions":[7,{}]}}`,
    '{"sessionUpdate":"config_option_update","configOptions":[7,{}]}'],
  [`{${known},"update":{"sessionUpdate":"current_mode_update","currentModeId":{}}}`,
    '{"sessionUpdate":"current_mode_update","currentModeId":{}}'],
  [`{${known},"update":{"sessionUpdate":"session_info_update","title":7}}`,
    '{"sessionUpdate":"session_info_update","title":7}'],
]) {
  test(`session/update with ${params}`, async () => {
    const { updates } = await send([call('session/update', params)]);
    assert.deepEqual(updates, arrives ? [arrives] : []);
  });
}

test('lines that are no JSON-RPC are skipped, counted and told of', async () => {
  const lines = [
    'hello', '', '{', '{"jsonrpc":"2.0","method":', '\u0000', '7', '"text"', 'null', '[]', '{}', '{"jsonrpc":"2.0"}',
    `[${call('session/update', '{}')}]`, '{"id":1}', '{"method":7}', '{"jsonrpc":"2.0","method":null,"params":{}}',
    '{"jsonrpc":"2.0","id":{},"method":"x"}', '{"jsonrpc":"2.0","id":[1],"method":"x"}',
  ];
  const { updates, notices } = await send(lines);
  assert.deepEqual(updates, []);
  assert.deepEqual(notices.map((notice) => notice.code), ['STDOUT_NOISE']);
  assert.match(notices[0].message, new RegExp(`Skipped ${lines.filter(Boolean).length} line`));
});

test('answers to nothing are passed over', async () => {
  const lines = ['99999', '"x"', 'null', '-1'].flatMap((id) => [
    `{"jsonrpc":"2.0","id":${id},"result":{}}`, `{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"m"}}`,
  ]);
  lines.push('{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}');
  lines.push('{"id":99998,"result":null,"error":null}');
  assert.deepEqual((await send(lines)).updates, []);
});

test('notifications that nobody waits for are passed over', async () => {
  const random = new Random(seed);
  const generator = new Generator(random, { extra: true });
  const lines = ['_vendor/thing', 'foo', '', '$/progress', 'session/cancel', 'session/prompt', 'session/Update']
    .map((method) => call(method, '{"sessionId":"a"}'));
  for (const [method, definition] of [
    ['elicitation/complete', 'CompleteElicitationNotification'], ['$/cancel_request', 'CancelRequestNotification'],
  ]) {
    for (let n = 0; n < 50; ++n) lines.push(call(method, write(random, generator.make(definition))));
    lines.push(call(method, 'null'), call(method, '{}'), call(method, '[]'));
  }
  assert.deepEqual(await send(lines), { updates: [], notices: [] });
});

test('unknown requests are refused, whatever their id, which comes back as it was', async () => {
  const ids = ['1', '0', '-7', '9007199254740993', '1e2', '1.5', '""', '"a\\u0062"', '"ü"', 'null'];
  const methods = ['_vendor/do', 'foo/bar', '', 'session/prompt', 'session/update', 'initialize', 'fs/Read_text_file'];
  const asked = ids.map((id, i) => ({ id, method: methods[i % methods.length] }));
  const lines = asked.map(({ id, method }) => `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":[1]}`);
  // A last one, to wait for: answers come in order.
  lines.push('{"jsonrpc":"2.0","id":"the-last","method":"_vendor/do"}');
  await send(lines, ['the-last']);
  const files = fs.readdirSync(rig.wire).map((name) => fs.readFileSync(path.join(rig.wire, name), 'utf8'));
  const conversation = files.find((text) => text.includes('the-last')).split('\n');
  const answers = conversation.filter((line) => line.startsWith('<') && !line.includes('"method"'));
  assert.deepEqual(
    answers.map((line) => /^<\{"jsonrpc":"2.0","id":(.*),"error":\{"code":(-?\d+)/.exec(line)?.slice(1)),
    [...ids, '"the-last"'].map((id) => [id, '-32601']));
});
