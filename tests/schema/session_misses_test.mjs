// Answers of agents that nearly fit, in a session that goes on after each of them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AnswerMaker, ended, Lanes } from './answer_lanes.mjs';
import { configOptions, modes } from './answer_samples.mjs';
import { missesOf, noObjects } from './near_misses.mjs';
import { seed } from './rig.mjs';
import { optionsOf, usageFields } from './shown.mjs';

let lanes;
before(async () => {
  lanes = await Lanes.start({ hasty: { session_setup_timeout: '3s' } });
});
after(async () => {
  assert.deepEqual((await lanes.stop()).violations, []);
});

// In one session, whose agent answers `method` with these, call after call.
async function inOneSession(items, method, settings, perCall, lane = lanes.lanes[0]) {
  await lanes.remove(await lanes.inSession(lane, items, method, settings, perCall));
}

const withLines = (misses) => {
  const maker = new AnswerMaker(seed);
  return misses.map((miss) => ({ ...miss, line: maker.line({ result: miss.result }) }));
};

test('near misses: session/prompt', async () => {
  const usage = {
    totalTokens: 6, inputTokens: 1, outputTokens: 2, thoughtTokens: 3, cachedReadTokens: 4, cachedWriteTokens: 5,
  };
  const items = withLines(missesOf('PromptResponse', { stopReason: 'end_turn', usage, _meta: {} }, 'unstable'));
  await inOneSession(items, 'session/prompt', {}, async (session_id, { result: sent, member }) => {
    const { result } = await lanes.chat(session_id);
    // A word that ACP does not have ends a turn as well.
    if (typeof sent?.stopReason === 'string') {
      assert.deepEqual([result.outcome, result.stop_reason], ['OUTCOME_COMPLETED', sent.stopReason]);
      const counts = usageFields(sent.usage);
      assert.equal(result.usage !== null, Object.keys(counts).length > 0);
      for (const [name, value] of Object.entries(counts)) assert.equal(result.usage[name], value, name);
      return;
    }
    assert.equal(result.outcome, 'OUTCOME_FAILED');
    assert.deepEqual([result.error.reason, result.error.agent_code], ['AGENT_ERROR', -32600]);
    assert.match(result.error.message, new RegExp(`session/prompt.*${member}`));
  });
});

// A success is all that is asked for.
test('near misses: session/set_mode: any result is a success', async () => {
  const results = [...noObjects, { _meta: 7 }, { modes: 7 }];
  const items = withLines(results.map((result, i) => ({ result, mode_id: i % 2 === 0 ? 'b' : 'a' })));
  await inOneSession(items, 'session/set_mode', { setup: { modes } }, async (session_id, { mode_id }) => {
    assert.equal((await lanes.ask('SetSessionOption', { session_id, mode_id })).mode_id, mode_id);
  });
});

// Not all agents send the list that they owe: then the value that was asked for counts.
test('near misses: session/set_config_option', async () => {
  const own = { id: 'asked', name: 'Asked', type: 'boolean', currentValue: true };
  const good = { configOptions: [...configOptions, own], _meta: {} };
  const isAsked = (option) => option.config_id === 'asked';
  // Those after which there is something to ask for.
  const goesOn = ({ result }) => {
    const read = optionsOf(result?.configOptions);
    return read.length === 0 || read.some(isAsked);
  };
  const misses = missesOf('SetSessionConfigOptionResponse', good).filter(goesOn);
  misses.push({ result: { configOptions: [] } });
  let options = optionsOf([own]);
  let boolean = true;
  const settings = { setup: { configOptions: [own] } };
  await inOneSession(withLines(misses), 'session/set_config_option', settings, async (session_id, { result }) => {
    boolean = !boolean;
    const session = await lanes.ask('SetSessionOption', { session_id, config: { config_id: 'asked', boolean } });
    const read = optionsOf(result?.configOptions);
    options = read.length > 0 ? read
      : options.map((option) => (isAsked(option) ? { ...option, boolean } : option));
    assert.deepEqual(session.config_options, options);
  });
});

test('near misses: errors are errors, whatever they look like', async () => {
  const maker = new AnswerMaker(seed);
  const good = { code: -32603, message: 'it broke', data: { a: 1 } };
  const errors = [good, {}, { code: 429, message: { a: 1 } }, ...missesOf('Error', good).map(({ result }) => result)];
  const items = errors.map((error) => ({ error, line: maker.line({ error }) }));
  await inOneSession(items, 'session/prompt', {}, async (session_id, { error }) => {
    const { result } = await lanes.chat(session_id);
    assert.deepEqual([result.outcome, result.error.reason], ['OUTCOME_FAILED', 'AGENT_ERROR']);
    assert.equal(result.error.agent_code, Number.isInteger(error?.code) ? error.code : 0);
    const words = typeof error?.message === 'string' ? error.message : 'with an error';
    assert.ok(result.error.message.includes(words), result.error.message);
  });
});

// Neither a result nor an error, or for another request: the call goes on to its own end.
test('what is no answer leaves its call to the time-out', async () => {
  const lane = lanes.more.hasty;
  const none = ['"id":${id}', '"id":"${id}","result":{}', '"result":{}']
    .map((members) => ({ line: `{"jsonrpc":"2.0",${members}}` }));
  lane.tell({ 'session/new': none[0].line });
  assert.equal((await ended(lanes.setUp(lane))).reason, 'START_TIMEOUT');
  await inOneSession(none, 'session/set_mode', { setup: { modes } }, async (session_id) => {
    assert.equal((await ended(lanes.ask('SetSessionOption', { session_id, mode_id: 'b' }))).reason, 'START_TIMEOUT');
  }, lane);
  await inOneSession(none.slice(0, 1), 'session/prompt', { on_cancel: 'cancelled' }, async (session_id) => {
    const { result } = await lanes.chat(session_id, { turn_timeout: { seconds: 1 } });
    assert.deepEqual([result.outcome, result.error.reason], ['OUTCOME_FAILED', 'TURN_TIMEOUT']);
  }, lane);
});
