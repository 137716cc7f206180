// What agents answer without a session, made from the schema: acpd takes each answer, whatever else stands in it,
// and what it says arrives where the API shows it.
//   ACPD_SCHEMA_SEED (1), ACPD_SCHEMA_ANSWERS (100): which, and how many (100 or more) of each
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AnswerMaker, answers, ended, Lanes } from './answer_lanes.mjs';
import { agentProgram, seed } from './rig.mjs';
import { agentFields, agentSessions, loginMethods, optionsOf } from './shown.mjs';

let lanes;
before(async () => {
  lanes = await Lanes.start();
});
after(async () => {
  const report = await lanes.stop();
  assert.deepEqual(report.violations, []);
  for (const [method, least] of Object.entries(
    { initialize: 2 * answers, authenticate: answers / 4, logout: answers / 4, 'session/list': answers / 2 },
  )) {
    const count = report.counts.get(`request ${method}`) ?? 0;
    assert.ok(count >= least, `${method} was called ${count} times`);
  }
});

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const times = (n, make) => Array.from({ length: n }, (_, i) => make(i));

// A method to log in with: one that a request can name; empty: none.
function chooseMethod(random, { authMethods }) {
  const ids = (authMethods ?? []).map(({ id }) => id).filter((id) => id && Buffer.byteLength(id) <= 4 << 10);
  return ids.length > 0 && random.chance(0.9) ? random.pick(ids) : '';
}

// What a person would have to type in. Half of it would do something else: it is shown whole or not at all.
const bytesOf = ({ args, env }) =>
  [...(args ?? []), ...Object.entries(env ?? {}).flat()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);

test(`generated answers: initialize, authenticate (seed ${seed})`, async () => {
  const maker = new AnswerMaker(seed);
  const withMethod = (made) =>
    ({ ...made, authMethods: maker.random.shuffle([...(made.authMethods ?? []), maker.make('AuthMethodAgent')]) });
  const items = times(answers, (i) => {
    const initialize = maker.initialize({}, { schema: 'stable', change: i % 2 === 0 ? withMethod : undefined });
    const authenticate = maker.answer('AuthenticateResponse');
    return { ...initialize, authenticate, method_id: chooseMethod(maker.random, initialize.result) };
  });
  assert.deepEqual(maker.missed(), [], 'alternatives of the schema that were never made');
  await lanes.spread(items, async (lane, { result, texts, line, authenticate, method_id }) => {
    lane.tell({ initialize: line, authenticate: authenticate.line });
    const login = await lanes.admin('LoginAgent', { agent: lane.name, method_id });
    assert.deepEqual(login.methods, loginMethods(result));
    const method = (result.authMethods ?? []).find(({ id }) => id === method_id);
    const isTerminal = method?.type === 'terminal';
    assert.equal(login.logged_in, method !== undefined && !isTerminal);
    assert.equal(login.terminal !== null, isTerminal && bytesOf(method) <= 256 << 10);
    if (login.terminal) {
      assert.deepEqual(login.terminal.command, [agentProgram, ...(method.args ?? [])]);
      for (const [name, value] of Object.entries(method.env ?? {})) assert.equal(login.terminal.env[name], value);
    }
    const fields = agentFields(result, texts);
    const agent = await lanes.agentOf(lane);
    for (const [name, value] of Object.entries(fields)) assert.equal(agent[name], value, name);
  });
});

test(`generated answers: logout (seed ${seed})`, async () => {
  const maker = new AnswerMaker(seed + 1);
  const items = times(answers / 2, (i) => {
    const initialize = maker.initialize(i % 3 === 0 ? {} : { logout: true });
    return { ...initialize, logout: maker.answer('LogoutResponse') };
  });
  await lanes.spread(items, async (lane, { result, line, logout }) => {
    lane.tell({ initialize: line, logout: logout.line });
    const { reason, sentence } = await ended(lanes.admin('LogoutAgent', { agent: lane.name }));
    const offered = isObject(result.agentCapabilities?.auth?.logout);
    assert.equal(reason, offered ? '' : 'NOT_SUPPORTED_BY_AGENT', sentence);
    if (offered) assert.equal((await lanes.agentOf(lane)).auth_required, true);
  });
});

// Some times that can be read, in place of texts that cannot.
function withTimes(random, page) {
  const time = () => `20${10 + random.below(90)}-0${1 + random.below(9)}-1${random.below(10)}T0${random.below(10)}`
    + `:00:59${random.pick(['Z', '.5Z', '.125+02:00', '-11:30'])}`;
  const sessions = page.sessions.map((session) =>
    (typeof session.updatedAt === 'string' && random.chance(0.7) ? { ...session, updatedAt: time() } : session));
  return { ...page, sessions };
}

test(`generated answers: session/list (seed ${seed})`, async () => {
  const maker = new AnswerMaker(seed + 2);
  const pages = times(answers, () =>
    maker.answer('ListSessionsResponse', (page) => withTimes(maker.random, page)));
  assert.deepEqual(maker.missed(), [], 'alternatives of the schema that were never made');
  const items = pages.map((page, i) =>
    ({ ...page, initialize: maker.initialize(i % 10 === 0 ? {} : { list: true }) }));
  const cursors = [];
  await lanes.share(items, async (lane, share) => {
    let page_token = '';
    for (const { initialize, result, line } of share) {
      lane.tell({ initialize: initialize.line, 'session/list': line });
      const { answer, reason } = await ended(lanes.ask('ListAgentSessions', { agent: lane.name, page_token }));
      const cursor = result.nextCursor ?? '';
      if (!isObject(initialize.result.agentCapabilities?.sessionCapabilities?.list)) {
        assert.equal(reason, 'NOT_SUPPORTED_BY_AGENT');
      } else if (Buffer.byteLength(cursor) > 64 << 10) {
        assert.equal(reason, 'NOT_SUPPORTED_BY_AGENT', 'a cursor that does not fit into a page_token');
      } else {
        assert.equal(reason, '', line);
        assert.deepEqual(answer.sessions, agentSessions(result), line);
        assert.equal(answer.next_page_token !== '', cursor !== '', line);
        if (cursor) cursors.push(cursor);
        page_token = answer.next_page_token;
      }
    }
  });
  // The cursor goes back to the agent as it was, but for that of each lane's last page.
  const sent = lanes.rig.calls('session/list').map(({ cursor }) => cursor).filter(Boolean);
  assert.ok(sent.length > 0);
  for (const cursor of sent) assert.ok(cursors.includes(cursor), cursor);
});

test('words of later versions: kinds of logins, of options and of their values', async () => {
  const maker = new AnswerMaker(seed + 9);
  const [lane] = lanes.lanes;
  const authMethods = [{ id: 'later', name: 'Later', type: 'passkey', origin: {} }, { id: 'own', name: 'Own' }];
  const initialize = maker.written({
    protocolVersion: 1, authMethods,
    agentCapabilities: { later: {}, sessionCapabilities: { later: {} }, promptCapabilities: { video: true } },
  });
  const known = { id: 'known', name: 'Known', type: 'boolean', currentValue: true, category: 'later_category' };
  const later = [
    { id: 'range', name: 'Range', type: 'range', currentValue: 3, min: 0 },
    { id: 'text', name: 'Text', type: 'text', currentValue: 'a' },
  ];
  const configOptions = [later[0], known, later[1]];
  lane.tell({
    initialize: initialize.line, authenticate: maker.line({ result: { later: true } }),
    'session/new': maker.line({ result: { sessionId: 'later', configOptions, later: [] } }),
  });
  const login = await lanes.admin('LoginAgent', { agent: lane.name, method_id: 'later' });
  assert.deepEqual(login.methods.map(({ method_id, type }) => [method_id, type]),
    [['later', 'passkey'], ['own', 'agent']]);
  assert.equal(login.logged_in, true);
  // What cannot be set is not shown.
  const session = await lanes.setUp(lane);
  assert.deepEqual(session.config_options, optionsOf([known]));
  await lanes.remove(session);
});
