// Answers of agents that nearly fit, where the agent is asked without a session or sets one up: what acpd needs and
// cannot read is refused with the reason of its call and a sentence that names the member; all else is borne.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AnswerMaker, ended, Lanes } from './answer_lanes.mjs';
import { configOptions, modes } from './answer_samples.mjs';
import { missesOf, noObjects } from './near_misses.mjs';
import { seed } from './rig.mjs';
import { agentFields, agentSessions, loginMethods, sessionFields } from './shown.mjs';

const perMethod = 40;  // of the borne ones; all of the refused ones

let lanes;
before(async () => {
  lanes = await Lanes.start();
});
after(async () => {
  assert.deepEqual((await lanes.stop()).violations, []);
});

const login = (lane, method_id = '') => lanes.admin('LoginAgent', { agent: lane.name, method_id });

// The refused ones and some of the others.
function some(random, misses, n) {
  const borne = random.shuffle(misses.filter((miss) => !miss.refused));
  return [...misses.filter((miss) => miss.refused), ...borne.slice(0, n)];
}

const setup = { modes, configOptions, _meta: {} };

const initialized = {
  protocolVersion: 1,
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, audio: true, embeddedContext: true, _meta: {} },
    mcpCapabilities: { http: true, sse: true },
    sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, additionalDirectories: { _meta: {} } },
    auth: { logout: {} },
  },
  authMethods: [
    { id: 'own', name: 'Own', description: 'd', _meta: {} },
    { id: 'term', name: 'Term', type: 'terminal', args: ['--login'], env: { A: 'b' } },
  ],
  agentInfo: { name: 'agent', title: 'Agent', version: '1' },
  _meta: {},
};

test('near misses: initialize', async () => {
  const maker = new AnswerMaker(seed);
  const misses = some(maker.random, missesOf('InitializeResponse', initialized), 2 * perMethod);
  // No near miss, but as little to be used.
  misses.push(...[0, 2, 65535].map((protocolVersion) =>
    ({ result: { ...initialized, protocolVersion }, what: `version ${protocolVersion}`, refused: true })));
  await lanes.spread(misses, async (lane, { result, refused }) => {
    const { line, texts } = refused ? { line: maker.line({ result }) } : maker.written(result);
    lane.tell({ initialize: line });
    const { answer, reason, sentence } = await ended(login(lane));
    assert.equal(reason, refused ? 'PROTOCOL_MISMATCH' : '');
    if (refused) return assert.match(sentence, /initialize|ACP version/);
    assert.deepEqual(answer.methods, loginMethods(result));
    const agent = await lanes.agentOf(lane);
    for (const [name, value] of Object.entries(agentFields(result, texts))) assert.equal(agent[name], value, name);
  });
});

test('near misses: capabilities that are no good offer are none', async () => {
  const maker = new AnswerMaker(seed);
  const offers = [null, 7, true, 'text', [], undefined];
  const withOffer = (place, offer) => {
    const agentCapabilities = { auth: {}, sessionCapabilities: {} };
    agentCapabilities[place[0]][place[1]] = offer;
    return maker.line({ result: JSON.parse(JSON.stringify({ ...initialized, agentCapabilities })) });
  };
  await lanes.spread(offers, async (lane, offer) => {
    lane.tell({ initialize: withOffer(['auth', 'logout'], offer) });
    const logout = await ended(lanes.admin('LogoutAgent', { agent: lane.name }));
    lane.tell({ initialize: withOffer(['sessionCapabilities', 'list'], offer) });
    const list = await ended(lanes.ask('ListAgentSessions', { agent: lane.name }));
    assert.deepEqual([logout.reason, list.reason], ['NOT_SUPPORTED_BY_AGENT', 'NOT_SUPPORTED_BY_AGENT']);
  });
});

// What only says "done" is not read at all: agents answer null, {} or whatever their language has for it.
test('near misses: authenticate, logout, session/close, session/delete: any result is a success', async () => {
  const maker = new AnswerMaker(seed);
  await lanes.spread([...noObjects, { _meta: 7 }, { sessionId: 7 }], async (lane, result) => {
    const line = maker.line({ result });
    lane.tell({ initialize: maker.line({ result: initialized }), authenticate: line, logout: line });
    assert.equal((await login(lane, 'own')).logged_in, true);
    await lanes.admin('LogoutAgent', { agent: lane.name });
    lane.tell({ 'session/close': line, 'session/delete': line },
      { capabilities: { sessionCapabilities: { delete: {} } } });
    const session = await lanes.setUp(lane);
    assert.equal((await lanes.ask('CloseSession', { session_id: session.session_id })).state, 'STATE_DORMANT');
    await lanes.remove(session);
    await lanes.remove(await lanes.setUp(lane));
  });
});

test('near misses: session/list', async () => {
  const maker = new AnswerMaker(seed);
  const good = {
    sessions: [
      {
        sessionId: 'a', cwd: '/a', additionalDirectories: ['/b'], title: 'A', updatedAt: '2026-01-02T03:04:05Z',
        _meta: {},
      },
      { sessionId: 'b', cwd: '/b' },
    ],
    nextCursor: 'more', _meta: {},
  };
  const misses = some(maker.random, missesOf('ListSessionsResponse', good), perMethod);
  await lanes.spread(misses, async (lane, { result, member, refused }) => {
    lane.tell({ 'session/list': maker.line({ result }) }, { capabilities: { sessionCapabilities: { list: {} } } });
    const { answer, reason, sentence } = await ended(lanes.ask('ListAgentSessions', { agent: lane.name }));
    assert.equal(reason, refused ? 'PROTOCOL_MISMATCH' : '');
    if (refused) return assert.match(sentence, new RegExp(`session/list.*${member}`));
    assert.deepEqual(answer.sessions, agentSessions(result));
    assert.equal(answer.next_page_token !== '', typeof result.nextCursor === 'string');
  });
});

const shownOf = ({ mode_id, model, available_modes, config_options }) =>
  ({ mode_id, model, available_modes, config_options });

// What makes a session has to name it. (The schema takes an empty name; nothing can be asked with that.)
for (const [method, definition, schema] of [
  ['session/new', 'NewSessionResponse', 'stable'], ['session/fork', 'ForkSessionResponse', 'unstable'],
]) {
  test(`near misses: ${method}`, async () => {
    const maker = new AnswerMaker(seed);
    const good = { sessionId: 'given', ...setup };
    const misses = some(maker.random, missesOf(definition, good, schema), perMethod);
    misses.push({ result: { ...good, sessionId: '' }, what: 'sessionId empty', member: 'sessionId', refused: true });
    const settings = { capabilities: { sessionCapabilities: { fork: {} } } };
    const originals = method === 'session/fork' ? await lanes.startOriginals(settings) : new Map();
    await lanes.spread(misses, async (lane, { result, member, refused }) => {
      lane.tell({ [method]: maker.line({ result }) }, settings);
      const original = originals.get(lane);
      const { answer, reason, sentence } = await ended(
        original ? lanes.ask('ForkSession', { session_id: original.session_id }) : lanes.setUp(lane));
      assert.equal(reason, refused ? 'PROTOCOL_MISMATCH' : '');
      if (refused) return assert.match(sentence, new RegExp(`${method}.*${member}`));
      assert.deepEqual(shownOf(answer), sessionFields(result));
      await lanes.remove(answer);
    });
    for (const original of originals.values()) await lanes.remove(original);
  });
}

// What takes a session up need say nothing: null will do, as the protocol's own examples have it.
for (const [method, definition, capabilities] of [
  ['session/resume', 'ResumeSessionResponse', { sessionCapabilities: { resume: {} } }],
  ['session/load', 'LoadSessionResponse', { sessionCapabilities: { resume: null } }],
]) {
  test(`near misses: ${method}`, async () => {
    const maker = new AnswerMaker(seed);
    const misses = some(maker.random, missesOf(definition, setup), perMethod / 2);
    let sessions = 0;
    await lanes.spread(misses, async (lane, { result, refused }) => {
      lane.tell({ [method]: maker.line({ result }) }, { capabilities });
      const resume_policy = { mode: 'MODE_REQUIRE', max_retries: 0 };
      const session_id = `${method.slice(-4)}-${(sessions += 1)}`;
      const { answer, reason, sentence } = await ended(lanes.setUp(lane, { session_id, resume_policy }));
      assert.equal(reason, refused && result !== null ? 'RESUME_FAILED' : '');
      if (reason) return assert.match(sentence, /is not an object/);
      assert.equal(answer.origin.kind, 'KIND_RESUMED');
      assert.deepEqual(shownOf(answer), sessionFields(result ?? {}));
      await lanes.remove(answer);
    });
  });
}

test('an answer to a resume that cannot be read makes way for a new session', async () => {
  const [lane] = lanes.lanes;
  lane.tell({ 'session/resume': new AnswerMaker(seed).line({ result: 7 }) });
  const session = await lanes.setUp(lane, { session_id: 'unreadable', resume_policy: { max_retries: 0 } });
  assert.deepEqual([session.origin.kind, session.origin.reason], ['KIND_FALLBACK', 'RESUME_FAILED']);
  await lanes.remove(session);
});

test('each call of an agent that refuses it has the reason of its kind', async () => {
  const [lane] = lanes.lanes;
  const line = new AnswerMaker(seed).line({ error: { code: 'none', message: 'no way' } });
  const able = {
    capabilities: { auth: { logout: {} }, sessionCapabilities: { list: {} } },
    auth_methods: [{ id: 'own', name: 'Own' }],
  };
  const required = { resume_policy: { mode: 'MODE_REQUIRE', max_retries: 0 } };
  for (const [method, asked, reason] of [
    ['initialize', () => login(lane), 'AGENT_START_FAILED'],
    ['initialize', () => lanes.setUp(lane), 'AGENT_START_FAILED'],
    ['authenticate', () => login(lane, 'own'), 'AGENT_AUTH_REQUIRED'],
    ['logout', () => lanes.admin('LogoutAgent', { agent: lane.name }), 'NOT_SUPPORTED_BY_AGENT'],
    ['session/list', () => lanes.ask('ListAgentSessions', { agent: lane.name }), 'NOT_SUPPORTED_BY_AGENT'],
    ['session/new', () => lanes.setUp(lane), 'AGENT_START_FAILED'],
    ['session/resume', () => lanes.setUp(lane, { session_id: 'refused', ...required }), 'RESUME_FAILED'],
  ]) {
    lane.tell({ [method]: line }, able);
    const { reason: got, sentence } = await ended(asked());
    assert.equal(got, reason, method);
    assert.match(sentence, /no way/, method);
  }
});
