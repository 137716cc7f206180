// What acpd does with each method that agents may call, for requests_test.mjs. `served: false`: nothing, it
// answers -32601.
//   codes   the errors that a request which fits the schema may get
//   good    one that is answered with a result (without its sessionId)
//   fill    puts in what a generator cannot know: paths and terminals that are there, programs
//   kindly  places that may hold anything though the schema says otherwise
import fs from 'node:fs';
import path from 'node:path';

const invalidRequest = -32600;
const invalidParams = -32602;
const internalError = -32603;
const notFound = -32002;

// `cwd`: the session's folder. `terminals`: ids of terminals, to be filled by the tests.
export function agentMethods({ cwd, terminals }) {
  const there = path.join(cwd, 'there.txt');
  fs.mkdirSync(cwd, { recursive: true });
  fs.writeFileSync(there, 'one\ntwo\r\nthree ü\n');
  const inside = ['missing.txt', 'ü b.txt', 'no/such/folder', '.'].map((name) => path.join(cwd, name));
  const paths = [there, ...inside, '/etc/passwd', 'there.txt', '/'];
  const fillPath = (random, params) => ({ ...params, path: random.pick([...paths, there, params.path]) });
  const ofTerminal = {
    served: true,
    codes: [invalidParams, notFound],
    good: () => ({ terminalId: terminals.at(-1) }),
    fill: (random, params) => ({ ...params, terminalId: random.pick([...terminals, params.terminalId]) }),
  };
  return {
    'session/request_permission': {
      served: true,
      codes: [invalidParams],  // the options are too large
      good: () => ({
        toolCall: {
          toolCallId: 'call', title: 'Do it', kind: 'edit', status: 'pending', rawInput: {},
          content: [{ type: 'content', content: { type: 'text', text: 'a' } }],
          locations: [{ path: '/a', line: 1 }],
        },
        options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
      }),
      kindly: /^options\.0\.(name|kind)$/,
    },
    'fs/read_text_file': {
      served: true,
      codes: [invalidParams, notFound, internalError],
      good: () => ({ path: there, line: 1, limit: 1 }),
      fill: fillPath,
    },
    'fs/write_text_file': {
      served: true,
      codes: [invalidParams, notFound, internalError],
      good: () => ({ path: path.join(cwd, 'new.txt'), content: 'new' }),
      fill: (random, params) => {
        const filled = fillPath(random, params);
        // What is read in other tests stays.
        return filled.path === there ? { ...filled, path: path.join(cwd, `${random.below(9)}/new.txt`) } : filled;
      },
    },
    'terminal/create': {
      served: true,
      codes: [invalidParams, notFound, internalError, invalidRequest],
      good: () => ({ command: 'true', args: ['a'], env: [{ name: 'A', value: 'b' }], cwd, outputByteLimit: 10 }),
      fill: (random, params) => ({
        ...params,
        command: random.pick(['true', 'echo', '/bin/echo', 'no-such-program-here', '/']),
        cwd: random.pick([null, cwd, '/', 'relative', params.cwd ?? null]),
      }),
    },
    'terminal/output': ofTerminal,
    'terminal/wait_for_exit': ofTerminal,
    'terminal/kill': ofTerminal,
    'terminal/release': ofTerminal,
    'elicitation/create': {
      served: true,
      codes: [invalidParams],
      good: () => ({
        mode: 'form', message: 'Which?',
        requestedSchema: { type: 'object', properties: { a: { type: 'string', title: 'A' } }, required: ['a'] },
      }),
      kindly: /^requestedSchema\./,  // a form is shown as it is
    },
  };
}
