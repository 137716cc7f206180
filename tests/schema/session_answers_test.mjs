// What agents answer about a session, made from the schema: what sets one up and ends it, what it is asked again and
// again, and errors. acpd takes each answer, whatever else stands in it, and what it says arrives where the API
// shows it.
//   ACPD_SCHEMA_SEED (1), ACPD_SCHEMA_ANSWERS (100): which, and how many of those that need a worker each
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AnswerMaker, answers, Lanes } from './answer_lanes.mjs';
import { object, Raw, string, write } from './random.mjs';
import { seed } from './rig.mjs';
import { failureFields, optionsOf, selected, sessionFields, turnFields, word } from './shown.mjs';

const perSession = 3 * answers;  // of what a session is asked again and again

let lanes;
before(async () => {
  lanes = await Lanes.start();
});
after(async () => {
  const report = await lanes.stop();
  assert.deepEqual(report.violations, []);
  for (const [method, least] of Object.entries({
    'session/new': answers, 'session/load': answers / 2, 'session/resume': answers / 2, 'session/fork': answers / 2,
    'session/close': answers, 'session/delete': answers, 'session/set_mode': perSession,
    'session/set_config_option': perSession, 'session/prompt': 2 * perSession,
  })) {
    const count = report.counts.get(`request ${method}`) ?? 0;
    assert.ok(count >= least, `${method} was called ${count} times`);
  }
});

const times = (n, make) => Array.from({ length: n }, (_, i) => make(i));

// Neither noise nor anything that was refused.
async function expectNoNotices(session_id) {
  const { events } = await lanes.ask('ListEvents', { session_id, event_kinds: ['EVENT_KIND_NOTICE'] });
  assert.deepEqual(events, []);
}

// Often an option is the mode or the model, of which there are few in the schema's turns.
function withCategories(random, made) {
  if (!made.configOptions || random.chance(0.5)) return made;
  const configOptions = made.configOptions.map((option) =>
    (random.chance(0.7) ? { ...option, category: random.pick(['mode', 'model']) } : option));
  return { ...made, configOptions };
}

// What a set-up's answer says, and what the session then shows.
const shownOf = ({ agent_session_id, mode_id, model, available_modes, config_options }) =>
  ({ agent_session_id, mode_id, model, available_modes, config_options });

// The ways to a session: what makes it, what it answers, and what the agent has to offer.
const setups = {
  'session/new': { definition: 'NewSessionResponse', origin: { kind: 'KIND_NEW' }, names: true },
  'session/new+resume': {
    definition: 'NewSessionResponse', offers: { resume: false, load: false }, n: answers / 4,
    origin: { kind: 'KIND_RESUMED', method: 'METHOD_META' },
  },
  'session/resume': {
    definition: 'ResumeSessionResponse', offers: { resume: true }, n: answers / 2,
    origin: { kind: 'KIND_RESUMED', method: 'METHOD_SESSION_RESUME' },
  },
  'session/load': {
    definition: 'LoadSessionResponse', offers: { resume: false, load: true }, n: answers / 2,
    origin: { kind: 'KIND_RESUMED', method: 'METHOD_SESSION_LOAD' },
  },
  'session/fork': {
    definition: 'ForkSessionResponse', schema: 'unstable', offers: { fork: true }, n: answers / 2, names: true,
    origin: { kind: 'KIND_FORKED' },
  },
};

for (const [method, { definition, schema, offers, n = answers, names, origin }] of Object.entries(setups)) {
  test(`generated answers: ${method}, session/close, session/delete (seed ${seed})`, async () => {
    const maker = new AnswerMaker(seed + 3);
    const items = times(n, (i) => {
      // An agent's id may be any text but the empty one; what a caller names has its own limits.
      const id = names ? `${string(maker.random)}${i}` : `${method.replace(/\W/g, '-')}-${i}`;
      const withId = (made) => ({
        ...withCategories(maker.random, made),
        ...(definition === 'NewSessionResponse' || names ? { sessionId: id } : {}),
      });
      return {
        id,
        initialize: maker.initialize({ ...offers, close: i % 4 !== 0, delete: i % 3 !== 0 }).line,
        close: maker.answer('CloseSessionResponse').line,
        remove: maker.answer('DeleteSessionResponse').line,
        ...maker.answer(definition, withId, schema),
      };
    });
    const isFork = method === 'session/fork';
    const able = { capabilities: { sessionCapabilities: { fork: {} } } };
    const originals = isFork ? await lanes.startOriginals(able) : new Map();
    await lanes.spread(items, async (lane, { id, initialize, close, remove, result, line }) => {
      lane.tell({ initialize, 'session/close': close, 'session/delete': remove, [method]: line });
      const session = isFork
        ? await lanes.ask('ForkSession', { session_id: originals.get(lane).session_id })
        : await lanes.setUp(lane, names ? {} : { session_id: id });
      const { session_id } = session;
      const shown = { agent_session_id: word(id), ...sessionFields(result) };
      assert.deepEqual(shownOf(session), shown);
      assert.deepEqual(shownOf(await lanes.ask('GetSession', { session_id })), shown);
      for (const [name, value] of Object.entries(origin)) assert.equal(session.origin[name], value);
      assert.equal(session.last_error, null);
      await expectNoNotices(session_id);
      await lanes.remove(session);
    });
    for (const session of originals.values()) await lanes.remove(session);
    // The id that the agent gave is the one that it is asked with.
    const closed = new Set(lanes.rig.calls('session/close').map(({ sessionId }) => sessionId));
    items.forEach(({ id }, i) => assert.equal(closed.has(id), i % 4 !== 0, id));
  });
}

// Calls `perCall(session_id, item)` for each item, in a session for each lane.
async function inSessions(items, method, setup, perCall) {
  await lanes.share(items, async (lane, share) => {
    const session = await lanes.inSession(lane, share, method, { setup }, perCall);
    await expectNoNotices(session.session_id);
    await lanes.remove(session);
  });
}

test(`generated answers: session/set_mode (seed ${seed})`, async () => {
  const maker = new AnswerMaker(seed + 4);
  const items = times(perSession, () =>
    ({ ...maker.answer('SetSessionModeResponse'), mode_id: maker.random.pick(['a', 'b']) }));
  const modes = { currentModeId: 'a', availableModes: [{ id: 'a', name: 'A' }, { id: 'b', name: 'B' }] };
  await inSessions(items, 'session/set_mode', { modes }, async (session_id, { mode_id }) => {
    assert.equal((await lanes.ask('SetSessionOption', { session_id, mode_id })).mode_id, mode_id);
  });
});

test(`generated answers: session/set_config_option (seed ${seed})`, async () => {
  const maker = new AnswerMaker(seed + 5);
  // There is something to set each time; what the agent says of it counts.
  const own = (currentValue) => ({ id: 'own', name: 'Own', type: 'boolean', currentValue });
  const withOwn = (made) => {
    const { configOptions, ...rest } = withCategories(maker.random, made);
    return { ...rest, configOptions: maker.random.shuffle([...configOptions, own(maker.random.chance(0.5))]) };
  };
  const items = times(perSession, () => maker.answer('SetSessionConfigOptionResponse', withOwn));
  assert.deepEqual(maker.missed(), []);
  const before = new Map();
  await inSessions(items, 'session/set_config_option', { configOptions: [own(false)] },
    async (session_id, { result }) => {
      const config = { config_id: 'own', boolean: maker.random.chance(0.5) };
      const session = await lanes.ask('SetSessionOption', { session_id, config });
      const config_options = optionsOf(result.configOptions);
      // Where the list has none, the mode and the model stay what they were.
      const { mode_id = '', model = '' } = before.get(session_id) ?? {};
      const shown = {
        config_options,
        mode_id: selected(config_options, 'mode') ?? mode_id,
        model: selected(config_options, 'model') ?? model,
      };
      before.set(session_id, shown);
      const { agent_session_id: _, available_modes, ...got } = shownOf(session);
      assert.deepEqual(got, shown);
      assert.deepEqual(available_modes, []);
    });
});

test(`generated answers: session/prompt (seed ${seed})`, async () => {
  const maker = new AnswerMaker(seed + 6);
  const items = times(perSession, (i) => maker.answer('PromptResponse',
    // A word of a later version, or any other, is an end too.
    (made) => (i % 4 === 0 ? { ...made, stopReason: string(maker.random) } : made), 'unstable'));
  assert.deepEqual(maker.missed(), []);
  await inSessions(items, 'session/prompt', {}, async (session_id, { result }) => {
    const turn = await lanes.chat(session_id);
    const stored = await lanes.ask('GetTurn', { turn_id: turn.turn_id });
    for (const { error, outcome, stop_reason, usage } of [turn.result, stored.result]) {
      assert.equal(error, null);
      assert.deepEqual({ outcome, stop_reason, usage: countsOf(usage) }, turnFields(result));
    }
  });
});

// Usage without what the prompt's answer does not speak of.
const countsOf = (usage) => Object.fromEntries(
  Object.entries(usage ?? {}).filter(([name]) => name.endsWith('_tokens') && !name.startsWith('_')));

test(`generated errors that answer session/prompt (seed ${seed})`, async () => {
  const maker = new AnswerMaker(seed + 7);
  const items = times(perSession, () => {
    const made = maker.make('Error');
    const data = 'data' in made ? write(maker.random, made.data) : '';
    const error = data ? { ...made, data: new Raw(data) } : made;
    return { error: { ...made, code: Number(made.code) }, data, line: maker.line({ error }) };
  });
  assert.deepEqual(maker.missed(), []);
  await inSessions(items, 'session/prompt', {}, async (session_id, { error, data }) => {
    const { result } = await lanes.chat(session_id);
    assert.equal(result.outcome, 'OUTCOME_FAILED');
    const { message, ...fields } = failureFields(error, data);
    const wantsLogin = error.code === -32000;
    assert.equal(result.error.reason, wantsLogin ? 'AGENT_AUTH_REQUIRED' : 'AGENT_ERROR');
    if (!wantsLogin) assert.equal(result.error.message, message);
    for (const [name, value] of Object.entries(fields)) assert.equal(result.error[name], value, name);
  });
});

test('what else stands in the line of an answer does no harm', async () => {
  const maker = new AnswerMaker(seed + 8);
  const result = { stopReason: 'end_turn' };
  const id = new Raw('${id}');
  const items = [
    { id, result }, { id, result, error: null }, { id, result, params: {}, extra: object(maker.random) },
    { jsonrpc: '1.0', id, result }, { jsonrpc: null, id, result, method: null },
    { result, id, _meta: {} },
  ].map((message) => ({ line: write(maker.random, message) }));
  await inSessions(items, 'session/prompt', {}, async (session_id) => {
    assert.equal((await lanes.chat(session_id)).result.outcome, 'OUTCOME_COMPLETED');
  });
});
