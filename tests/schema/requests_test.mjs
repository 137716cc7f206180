// What agents ask of acpd, made from the schema: each good request is answered as the schema says, each that
// nearly fits is refused with a sentence that names the member, and nothing else suffers from it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { call, deadlineIn } from '../clients/node/client.mjs';
import { agentMethods } from './agent_methods.mjs';
import { definitions, lenient, stable } from './acp_schema.mjs';
import { Generator } from './generator.mjs';
import { nearMisses } from './near_misses.mjs';
import { Random, Raw, write } from './random.mjs';
import { Rig, seed, sessionId } from './rig.mjs';

const perMethod = 100;
const methodNotFound = -32601;
const invalidParams = -32602;
const definitionOf = definitions(stable, 'request', 'client');
const resultOf = definitions(stable, 'response', 'client');

let rig;
let methods;
let session;  // all in one: nothing that an agent asks harms what it asks next
const terminals = [];
before(async () => {
  rig = await Rig.start();
  methods = agentMethods({ cwd: rig.cwd, terminals });
});
after(async () => {
  const report = await rig.stop();
  assert.ok(report.messages > 0);
  assert.deepEqual(report.violations, []);
});

let lastId = 0;
// Ids as agents have them: numbers, and strings that look like numbers or like anything else.
const newId = () => {
  lastId += 1;
  return [lastId, `${lastId}`, `ask-${lastId}`, `ü"\\${lastId}`, -lastId][lastId % 5];
};

const ofSession = (params) => ('sessionId' in params ? { ...params, sessionId: new Raw(sessionId) } : params);

// Sends the requests in one turn; the answers in their order. Each has exactly one. Without more, permissions
// are denied: that needs nobody, whatever is offered.
async function ask(random, asked, options = {}) {
  const ids = asked.map(newId);
  const lines = asked.map(({ method, params }, i) =>
    write(random, { jsonrpc: '2.0', id: new Raw(JSON.stringify(ids[i])), method, params }));
  const turn = await rig.turn(lines, { ids, session, mode: 'PERMISSION_MODE_DENY', ...options });
  session = turn.session_id;
  const answers = rig.answers();
  return ids.map((id, i) => {
    const own = answers.get(JSON.stringify(id)) ?? [];
    assert.equal(own.length, 1, `answers to ${lines[i]}`);
    return own[0];
  });
}

// Answers the questions of a turn, one after the other, with what `answersOf` gives: the first answer that is
// taken. What was given, in the order of the questions.
async function respond(turn, answersOf) {
  const given = [];
  const { session_id, turn_id, after_position } = turn;
  const stream = rig.client.SubscribeProgress(
    { session_id, after_position, until_turn_id: turn_id }, deadlineIn(60));
  for await (const event of stream) {
    const question = event.permission_requested ?? event.elicitation_requested;
    const answers = question ? answersOf(question, given.length) : [];
    for (const answer of answers) {
      const request = { session_id, question_id: question.question_id, ...answer };
      const taken = await call(rig.client, 'Respond', request).then(() => true, (refused) => refused);
      if (taken === true) {
        given.push({ question, answer });
        break;
      }
      if (answer === answers.at(-1)) throw taken;
    }
  }
  return given;
}

// Content for a form: often good enough.
function contentOf(schema) {
  const one = (inner) => {
    const { type, enum: words, oneOf, minLength, minimum } = inner ?? {};
    if (type === 'string') return words?.[0] ?? oneOf?.[0]?.const ?? 'x'.repeat(Math.min(minLength ?? 1, 100));
    if (type === 'boolean') return true;
    return type === 'array' ? [] : (minimum ?? 0);
  };
  return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, inner]) => [key, one(inner)]));
}

// Accepts, declines and cancels elicitations in turns; permissions are answered by their mode.
function elicitationAnswers(question, i) {
  if (question.options) return [];
  const accept = question.mode === 'MODE_FORM' ? contentOf(JSON.parse(question.requested_schema_json)) : {};
  const accepted = [{ accept_json: JSON.stringify(accept) }, { decline: true }];
  return [accepted, [{ decline: true }], [{ cancelled: true }]][i % 3];
}

const answering = { onStart: (turn) => respond(turn, elicitationAnswers) };

async function openTerminals(random, n) {
  const params = ofSession({ sessionId: '', ...methods['terminal/create'].good() });
  const answers = await ask(random, Array(n).fill({ method: 'terminal/create', params }));
  terminals.push(...answers.map((answer) => answer.result.terminalId));
}

async function releaseTerminals(random) {
  await ask(random, terminals.splice(0).map((terminalId) =>
    ({ method: 'terminal/release', params: ofSession({ sessionId: '', terminalId }) })));
}

const usesTerminal = (method) => method.startsWith('terminal/') && method !== 'terminal/create';

for (const [method, definition] of Object.entries(definitionOf)) {
  test(`${perMethod} generated requests: ${method} (seed ${seed})`, async () => {
    const { served, codes, fill = (_, params) => params } = methods[method];
    const random = new Random(seed);
    const generator = new Generator(random, { extra: true });
    const [fitsRequest, fitsResult] = [lenient(definition), lenient(resultOf[method])];
    if (served && usesTerminal(method)) await openTerminals(random, 20);
    const asked = Array.from({ length: perMethod }, () => {
      const params = fill(random, generator.make(definition));
      assert.ok(fitsRequest(JSON.parse(write(random, params))));
      return { method, params: ofSession(params) };
    });
    const answers = await ask(random, asked, method === 'elicitation/create' ? answering : {});
    let results = 0;
    for (const { result, error } of answers) {
      if (error) assert.ok((served ? codes : [methodNotFound]).includes(error.code), JSON.stringify(error));
      else assert.ok(fitsResult(result), JSON.stringify(result));
      results += error ? 0 : 1;
      if (result?.terminalId) terminals.push(result.terminalId);
    }
    assert.equal(results > 0, served);
    if (terminals.length > 0) await releaseTerminals(random);
  });

  test(`near misses: ${method}`, async (t) => {
    const { served, good, kindly } = methods[method];
    if (!served) return t.skip('not served');
    const random = new Random(seed);
    if (usesTerminal(method)) await openTerminals(random, 20);
    const params = { sessionId: 's', _meta: {}, ...good() };
    const misses = nearMisses(definition, params);
    assert.ok(misses.some((miss) => miss.refused));
    const spare = [...terminals];
    const asked = [{ params }, ...misses].map((miss) => ({
      method,
      params: {
        ...(miss.member === 'sessionId' ? miss.params : ofSession(miss.params)),
        // Each has its own, since a terminal is released once.
        ...(usesTerminal(method) && !miss.refused ? { terminalId: spare.pop() } : {}),
      },
    }));
    const [whole, ...answers] = await ask(random, asked, method === 'elicitation/create' ? answering : {});
    assert.ok(whole.result, JSON.stringify(whole));
    misses.forEach(({ place, what, member, refused }, i) => {
      const { result, error } = answers[i];
      if (refused && !kindly?.test(place)) {
        assert.equal(error?.code, invalidParams, `${what}: ${JSON.stringify(answers[i])}`);
        assert.ok(error.message.includes(member), `${what}: ${error.message}`);
      } else {
        assert.ok(result, `${what}: ${JSON.stringify(error)}`);
      }
      if (result?.terminalId) terminals.push(result.terminalId);
    });
    if (terminals.length > 0) await releaseTerminals(random);
  });
}

test('a request for a session that is not there is refused', async () => {
  const random = new Random(seed);
  const served = Object.keys(methods).filter((method) => methods[method].served);
  terminals.push('no-terminal');
  const asked = served.map((method) => ({ method, params: { sessionId: 'another', ...methods[method].good() } }));
  terminals.pop();
  (await ask(random, asked)).forEach(({ error }, i) => assert.equal(error?.code, invalidParams, served[i]));
});

test('a caller sees each permission request whole, and the agent what was chosen', async () => {
  const random = new Random(seed + 2);
  const generator = new Generator(random, { extra: true });
  const asked = Array.from({ length: 100 }, () => {
    const params = generator.make('RequestPermissionRequest');
    params.options.push({ optionId: `own-${random.below(1e6)}`, name: 'x', kind: 'reject_once' });
    const toolCall = write(random, params.toolCall);
    return {
      method: 'session/request_permission', toolCall, options: params.options,
      params: { ...ofSession(params), toolCall: new Raw(toolCall) },
    };
  });
  let given;
  const answers = await ask(random, asked, {
    mode: 'PERMISSION_MODE_ASK',
    onStart: async (turn) => {
      given = await respond(turn, ({ options }, i) => {
        const { option_id } = random.pick(options.filter((option) => option.option_id));
        return [i % 5 === 0 ? { cancelled: true } : { option_id }];
      });
    },
  });
  assert.equal(given.length, asked.length);
  given.forEach(({ question, answer }, i) => {
    assert.equal(question.tool_call_json, asked[i].toolCall);
    assert.deepEqual(question.options.map((option) => [option.option_id, option.name, option.raw_kind]),
      asked[i].options.map((option) => [option.optionId, option.name, option.kind]));
    const outcome = answer.cancelled ? { outcome: 'cancelled' }
      : { outcome: 'selected', optionId: answer.option_id };
    assert.deepEqual(answers[i].result, { outcome });
  });
});

test('a caller sees each elicitation whole, and the agent what was answered', async (t) => {
  if (!methods['elicitation/create'].served) return t.skip('not served');
  const random = new Random(seed + 3);
  const generator = new Generator(random, { extra: true });
  const asked = Array.from({ length: 100 }, (_, i) => {
    const mode = i % 2 === 0
      ? { mode: 'form', requestedSchema: new Raw(write(random, generator.make('ElicitationSchema'))) }
      : { mode: 'url', elicitationId: `e-${i}`, url: `https://example.com/?q=${i}` };
    return { method: 'elicitation/create', params: ofSession({ sessionId: '', message: `question ${i}`, ...mode }) };
  });
  let given;
  const answers = await ask(random, asked, {
    onStart: async (turn) => {
      given = await respond(turn, elicitationAnswers);
    },
  });
  const taken = asked.map(({ params }, i) => ({ params, result: answers[i].result })).filter(({ result }) => result);
  assert.ok(taken.length > 50);
  assert.deepEqual(given.map(({ question }) => question.message), taken.map(({ params }) => params.message));
  given.forEach(({ question, answer }, i) => {
    const { params, result } = taken[i];
    assert.equal(question.mode, params.mode === 'form' ? 'MODE_FORM' : 'MODE_URL');
    assert.equal(question.requested_schema_json, params.requestedSchema?.text ?? '');
    assert.equal(question.url, params.url ?? '');
    const action = answer.accept_json ? 'accept' : (answer.decline ? 'decline' : 'cancel');
    assert.equal(result.action, action);
    if (answer.accept_json && params.mode === 'form') {
      assert.deepEqual(result.content ?? {}, JSON.parse(answer.accept_json));
    }
  });
});
