#!/usr/bin/env node
// Dependency-free, deterministic fake of several model providers' HTTP APIs, for loopback tests only.
//
//   node tests/agents/fake_model.mjs [--port N] [--log FILE]
//   (PORT env works too; port 0 = pick one; prints {"listening":PORT} on stdout when ready)
//
//   POST /v1/messages                    Anthropic Messages (SSE or JSON)
//   POST /v1/messages/count_tokens       Anthropic token count
//   POST /v1/chat/completions            OpenAI chat completions (SSE or JSON)
//   POST /v1/responses                   OpenAI Responses (SSE or JSON)
//   POST /v1beta/models/M:streamGenerateContent?alt=sse | :generateContent | :countTokens   Gemini
//   GET  /v1/models, /v1beta/models      model lists
//   GET  /__log                          one JSON line for each request so far (kind, keyword, prompt, turns)
//   GET  /__reset                        forget that log
//
// It keeps no conversation: every answer is computed from the request's own message history.
//   "remember the number 42"   -> "OK, I will remember 42."
//   "what number did I say?"   -> "42" if an EARLIER user message of this request's history has
//                                 "remember the number 42", else "UNKNOWN"
//   "COUNT"                    -> number of user messages in the history (tool results not counted)
//   "ECHO text"                -> text
// Keywords in the last user prompt (upper case, whole words):
//   SLOW n [ms]   n text chunks, ms (100) apart: "chunk 1 " ... "chunk n "
//   TOOL          a shell tool call (default command: echo hi > acp-tool-proof.txt);
//                 TOOL `cmd` runs that command; TOOL WRITE writes a file acp-tool-proof.txt;
//                 TOOL ESCALATE adds Codex's sandbox_permissions: require_escalated; TOOL READ path; TOOL NAME name {json} calls exactly that;
//                 TOOL LIKE name {json} calls the tool whose name ends so (agents put the MCP server's name in front, each in its way).
//                 When the tool's result comes back, the answer is "TOOL DONE: <first 200 chars of the result>"
//   ERROR n [NORETRY]   HTTP status n with the provider's error body (NORETRY adds x-should-retry: false)
//   HUGE n        an answer of n KiB of text, in chunks of 1 KiB
//   HANG [HEAD]   one chunk, then nothing for ever; with HEAD not even response headers
//   DROP          two chunks, then the connection is cut
//   IMAGES        how many images came with that prompt, and of what types: "IMAGES 1 image/png"
//   THINK         a thinking block before the text (Anthropic, Responses, Gemini)
import http from 'node:http';
import fs from 'node:fs';

const argv = process.argv.slice(2);
const opt = (n, d) => { const i = argv.indexOf('--' + n); return i >= 0 ? argv[i + 1] : d; };
const PORT = Number(opt('port', process.env.PORT || 8399));
const LOG = opt('log', process.env.FAKE_LOG);
const sleep = ms => new Promise(r => setTimeout(r, ms));
let reqLog = [];
let seq = 0;

// ---------- scripted brain: works on [{role:'user'|'assistant'|'tool', text}] ----------
const clean = s => String(s ?? '')
  .replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '')
  .replace(/<environment_context>[\s\S]*?<\/environment_context>/g, '')
  .replace(/<session_context>[\s\S]*?<\/session_context>/g, '')
  .replace(/<user_instructions>[\s\S]*?<\/user_instructions>/g, '')
  .replace(/^\[Request interrupted by user[^\]]*\]$/, '')
  .replace(/^\[Image: source: [^\]]*\]$/, '')
  .trim();

function decide(hist, { tools = [], json = null } = {}) {
  const h = hist.map(m => ({ ...m, text: m.role === 'user' ? clean(m.text) : m.text }))
    .filter(m => m.role !== 'user' || m.text);
  const last = h[h.length - 1] ?? { role: 'user', text: '' };
  const users = h.filter(m => m.role === 'user');
  const info = { turns: users.length, prompt: (users.at(-1)?.text ?? '').slice(0, 300) };
  if (json) return { kind: 'JSON', text: JSON.stringify(sampleOf(json)), ...info };
  if (last.role === 'tool') return { kind: 'TOOLRESULT', text: 'TOOL DONE: ' + String(last.text).slice(0, 200), ...info };
  const p = users.at(-1)?.text ?? '';
  let m;
  if ((m = /\bERROR (\d{3})( NORETRY)?\b/.exec(p))) return { kind: 'ERROR', status: +m[1], noretry: !!m[2], ...info };
  if ((m = /\bSLOW (\d+)(?: (\d+))?\b/.exec(p))) return { kind: 'SLOW', n: +m[1], ms: +(m[2] ?? 100), ...info };
  if ((m = /\bHUGE (\d+)\b/.exec(p))) return { kind: 'HUGE', n: +m[1], ...info };
  if ((m = /\bHANG( HEAD)?\b/.exec(p))) return { kind: 'HANG', head: !!m[1], ...info };
  if (/\bDROP\b/.test(p)) return { kind: 'DROP', ...info };
  if (/\bTOOL\b/.test(p)) {
    const call = pickTool(p, tools);
    return call ? { kind: 'TOOL', call, ...info }
      : { kind: 'TEXT', text: 'NO TOOL AVAILABLE among: ' + tools.map(t => t.name).join(' '), ...info };
  }
  const think = /\bTHINK\b/.test(p) ? 'thinking about it' : null;
  if ((m = /\bECHO (.*)$/s.exec(p))) return { kind: 'TEXT', text: m[1], think, ...info };
  if (/\bIMAGES\b/.test(p)) { const types = users.at(-1)?.images ?? []; return { kind: 'TEXT', text: ['IMAGES', types.length, ...types].join(' '), think, ...info }; }
  if (/\bCOUNT\b/.test(p)) return { kind: 'TEXT', text: String(users.length), think, ...info };
  if (/what number did I say/i.test(p)) {
    let n = null;
    for (const u of users.slice(0, -1)) for (const k of u.text.matchAll(/remember the number (\d+)/gi)) n = k[1];
    if (n === null) for (const k of p.matchAll(/remember the number (\d+)/gi)) n = k[1]; // history packed in one message
    return { kind: 'TEXT', text: n ?? 'UNKNOWN', think, ...info };
  }
  if ((m = /remember the number (\d+)/i.exec(p))) return { kind: 'TEXT', text: `OK, I will remember ${m[1]}.`, think, ...info };
  return { kind: 'TEXT', text: 'OK.', think, ...info };
}

const SHELL = /^(Bash|mcp__acp__Bash|bash|run_shell_command|exec_command|shell_command|shell|local_shell)$/;
const WRITE = /^(Write|mcp__acp__Write|write|write_file|create_file)$/;
const READ = /^(Read|mcp__acp__Read|read|read_file)$/;
function pickTool(p, tools) {
  let m;
  if ((m = /TOOL NAME (\S+)\s+(\{[\s\S]*\})/.exec(p))) return { name: m[1], args: JSON.parse(m[2]) };
  if ((m = /TOOL LIKE (\S+)\s+(\{[\s\S]*\})/.exec(p))) { const t = tools.find(t => t.name?.endsWith(m[1])); return t && { name: t.name, args: JSON.parse(m[2]), namespace: t.namespace }; }
  const find = re => tools.find(t => re.test(t.name));
  const props = t => Object.keys(t?.schema?.properties ?? {});
  const val = (t, wanted) => { // keep only the arguments that the tool's schema knows; fill required ones
    const known = props(t), out = {};
    for (const [k, v] of Object.entries(wanted)) if (!known.length || known.includes(k)) out[k] = v;
    for (const k of t?.schema?.required ?? []) if (!(k in out)) out[k] = SAMPLES[k] ?? sampleOf(t.schema.properties[k]);
    return out;
  };
  if ((m = /TOOL READ (\S+)/.exec(p))) { const t = find(READ); return t && { name: t.name, args: val(t, { file_path: m[1], filePath: m[1], path: m[1], absolute_path: m[1] }) }; }
  if ((m = /TOOL WRITE(?: (\S+))?/.exec(p))) {
    const f = m[1] ?? 'acp-tool-proof.txt', t = find(WRITE);
    if (t) return { name: t.name, args: val(t, { file_path: f, filePath: f, path: f, content: 'hi from the fake model\n' }) };
    const ap = find(/^apply_patch$/), patch = `*** Begin Patch\n*** Add File: ${f}\n+hi from the fake model\n*** End Patch\n`;
    return ap && { name: ap.name, args: { input: patch }, custom: ap.custom ? patch : null };
  }
  const cmd = /TOOL `([^`]+)`/.exec(p)?.[1] ?? 'echo hi > acp-tool-proof.txt';
  const t = find(SHELL);
  if (!t) return null;
  const isArray = t.schema?.properties?.command?.type === 'array' || /^(shell|local_shell)$/.test(t.name);
  return { name: t.name, args: val(t, { command: isArray ? ['bash', '-lc', cmd] : cmd, cmd, description: 'say hi',
    ...(/\bESCALATE\b/.test(p) ? { sandbox_permissions: 'require_escalated', justification: 'may I?' } : {}) }) };
}

const SAMPLES = { timeout: 60_000 }; // milliseconds: a command that is given 0 is over before it began

function sampleOf(s) { // a value that fits a JSON schema, roughly
  if (!s || typeof s !== 'object') return 'ok';
  if (s.const !== undefined) return s.const;
  if (s.enum) return s.enum[0];
  if (s.anyOf) return sampleOf(s.anyOf[0]);
  if (s.oneOf) return sampleOf(s.oneOf[0]);
  const t = String(Array.isArray(s.type) ? s.type[0] : s.type ?? (s.properties ? 'object' : 'string')).toLowerCase();
  if (t === 'object') return Object.fromEntries(Object.entries(s.properties ?? {}).map(([k, v]) => [k, sampleOf(v)]));
  if (t === 'array') return [];
  if (t === 'number' || t === 'integer') return 0;
  if (t === 'boolean') return false;
  return 'ok';
}

async function* chunksOf(d) {
  if (d.kind === 'SLOW') { for (let i = 1; i <= d.n; i++) { yield `chunk ${i} `; await sleep(d.ms); } return; }
  if (d.kind === 'HUGE') {
    let x = 12345; // deterministic but not repetitive (gemini-cli stops an answer that repeats itself)
    for (let i = 0; i < d.n; i++) {
      let l = `[${i}] `;
      while (l.length < 1023) { x = (Math.imul(x, 1103515245) + 12345) >>> 0; l += (x >>> 3).toString(36) + ' '; }
      yield l.slice(0, 1023) + '\n';
    }
    return;
  }
  if (d.kind === 'HANG') { yield 'about to hang '; await new Promise(() => {}); }
  if (d.kind === 'DROP') { yield 'one '; await sleep(100); yield 'two '; await sleep(100); throw new Error('DROP'); }
  const t = d.text ?? '';
  const half = Math.ceil(t.length / 2);
  if (half) yield t.slice(0, half);
  if (t.length > half) yield t.slice(half);
}

// ---------- plumbing ----------
function sse(res) {
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'request-id': 'req_fake', 'x-request-id': 'req_fake' });
  res.socket?.setNoDelay(true);
  return (event, data) => {
    if (res.destroyed) throw new Error('client gone');
    res.write((event ? `event: ${event}\n` : '') + `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  };
}
const sendJson = (res, code, o, hdr = {}) => { res.writeHead(code, { 'content-type': 'application/json', ...hdr }); res.end(JSON.stringify(o)); };
const est = x => Math.max(1, Math.ceil(JSON.stringify(x ?? '').length / 4));
const asText = c => typeof c === 'string' ? c : Array.isArray(c) ? c.map(b => b?.text ?? (b?.content ? asText(b.content) : '')).join('\n') : c == null ? '' : (c.text ?? JSON.stringify(c));
const typeOfDataUrl = url => /^data:([^;,]+)/.exec(url ?? '')?.[1] ?? 'unknown';
const id = p => `${p}_fake${String(++seq).padStart(6, '0')}`;

// ---------- Anthropic ----------
const A_ERR = { 400: 'invalid_request_error', 401: 'authentication_error', 403: 'permission_error', 404: 'not_found_error', 413: 'request_too_large', 429: 'rate_limit_error', 500: 'api_error', 529: 'overloaded_error' };
function anthropicHist(b) {
  const out = [];
  for (const m of b.messages ?? []) {
    if (typeof m.content === 'string') { out.push({ role: m.role, text: m.content }); continue; }
    const tr = m.content.filter(x => x.type === 'tool_result');
    const tx = m.content.filter(x => x.type === 'text').map(x => x.text);
    const images = m.content.filter(x => x.type === 'image').map(x => x.source?.media_type ?? 'unknown');
    for (const t of tr) out.push({ role: 'tool', text: asText(t.content) });
    // Claude Code joins consecutive user turns into one message of several text blocks: take each block as a turn
    if (m.role === 'user') { for (const x of tx) if (clean(x)) out.push({ role: 'user', text: x, images }); } else if (tx.join('')) out.push({ role: m.role, text: tx.join('\n') });
  }
  return out;
}
async function anthropic(b, res) {
  const json = b.output_config?.format?.schema ?? b.output_format?.schema ?? null;
  const d = decide(anthropicHist(b), { json, tools: (b.tools ?? []).map(t => ({ name: t.name, schema: t.input_schema })) });
  note(d, 'anthropic', b);
  if (d.kind === 'ERROR') return sendJson(res, d.status, { type: 'error', error: { type: A_ERR[d.status] ?? 'api_error', message: `fake error ${d.status}` }, request_id: 'req_fake' },
    { ...(d.noretry ? { 'x-should-retry': 'false' } : {}), 'request-id': 'req_fake' });
  if (d.kind === 'HANG' && d.head) return;
  const msg = { id: id('msg'), type: 'message', role: 'assistant', model: b.model, content: [], stop_reason: null, stop_sequence: null,
    usage: { input_tokens: est(b.messages), cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 } };
  const tool = d.kind === 'TOOL' ? { type: 'tool_use', id: id('toolu'), name: d.call.name, input: d.call.args } : null;
  if (!b.stream) {
    let text = ''; for await (const c of chunksOf(d)) text += c;
    return sendJson(res, 200, { ...msg, content: tool ? [tool] : [{ type: 'text', text }], stop_reason: tool ? 'tool_use' : 'end_turn' }, { 'request-id': 'req_fake' });
  }
  const ev = sse(res), send = (type, o) => ev(type, { type, ...o });
  send('message_start', { message: msg });
  send('ping', {});
  let i = 0, out = 0;
  if (d.think) {
    send('content_block_start', { index: i, content_block: { type: 'thinking', thinking: '', signature: '' } });
    send('content_block_delta', { index: i, delta: { type: 'thinking_delta', thinking: d.think } });
    send('content_block_delta', { index: i, delta: { type: 'signature_delta', signature: 'ZmFrZQ==' } });
    send('content_block_stop', { index: i++ });
  }
  if (tool) {
    send('content_block_start', { index: i, content_block: { type: 'text', text: '' } });
    send('content_block_delta', { index: i, delta: { type: 'text_delta', text: 'I will use a tool.' } });
    send('content_block_stop', { index: i++ });
    send('content_block_start', { index: i, content_block: { ...tool, input: {} } });
    const s = JSON.stringify(tool.input), k = Math.ceil(s.length / 2);
    send('content_block_delta', { index: i, delta: { type: 'input_json_delta', partial_json: s.slice(0, k) } });
    send('content_block_delta', { index: i, delta: { type: 'input_json_delta', partial_json: s.slice(k) } });
    send('content_block_stop', { index: i++ });
  } else {
    send('content_block_start', { index: i, content_block: { type: 'text', text: '' } });
    for await (const c of chunksOf(d)) { out += est(c); send('content_block_delta', { index: i, delta: { type: 'text_delta', text: c } }); }
    send('content_block_stop', { index: i++ });
  }
  send('message_delta', { delta: { stop_reason: tool ? 'tool_use' : 'end_turn', stop_sequence: null }, usage: { output_tokens: out + 1 } });
  send('message_stop', {});
  res.end();
}

// ---------- OpenAI chat completions ----------
async function chat(b, res) {
  const hist = (b.messages ?? []).filter(m => !['system', 'developer'].includes(m.role)).map(m => ({ role: m.role, text: asText(m.content),
    images: Array.isArray(m.content) ? m.content.filter(x => x.type === 'image_url').map(x => typeOfDataUrl(x.image_url?.url)) : [] }));
  const d = decide(hist, { json: b.response_format?.json_schema?.schema, tools: (b.tools ?? []).map(t => ({ name: t.function?.name, schema: t.function?.parameters })) });
  note(d, 'chat', b);
  if (d.kind === 'ERROR') return sendJson(res, d.status, { error: { message: `fake error ${d.status}`, type: d.status === 429 ? 'rate_limit_exceeded' : 'server_error', code: null, param: null } }, d.noretry ? { 'x-should-retry': 'false' } : {});
  if (d.kind === 'HANG' && d.head) return;
  const base = { id: id('chatcmpl'), created: 1700000000, model: b.model };
  const tc = d.kind === 'TOOL' ? [{ index: 0, id: id('call'), type: 'function', function: { name: d.call.name, arguments: JSON.stringify(d.call.args) } }] : null;
  const usage = { prompt_tokens: est(b.messages), completion_tokens: 5, total_tokens: est(b.messages) + 5 };
  if (!b.stream) {
    let text = ''; for await (const c of chunksOf(d)) text += c;
    return sendJson(res, 200, { ...base, object: 'chat.completion', choices: [{ index: 0, message: tc ? { role: 'assistant', content: null, tool_calls: tc } : { role: 'assistant', content: text }, finish_reason: tc ? 'tool_calls' : 'stop' }], usage });
  }
  const ev = sse(res), send = (delta, fin = null, x = {}) => ev(null, { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: fin }], ...x });
  send({ role: 'assistant', content: '' });
  if (tc) send({ tool_calls: tc }); else for await (const c of chunksOf(d)) send({ content: c });
  send({}, tc ? 'tool_calls' : 'stop');
  ev(null, { ...base, object: 'chat.completion.chunk', choices: [], usage });
  ev(null, '[DONE]');
  res.end();
}

// ---------- OpenAI Responses ----------
async function responses(b, res) {
  const hist = [];
  const input = typeof b.input === 'string' ? [{ role: 'user', content: b.input }] : b.input ?? [];
  for (const it of input) {
    if (/_output$/.test(it.type ?? '')) hist.push({ role: 'tool', text: asText(it.output) });
    else if ((it.type === 'message' || it.role) && ['user', 'assistant'].includes(it.role)) hist.push({ role: it.role, text: asText(it.content),
      images: Array.isArray(it.content) ? it.content.filter(x => x.type === 'input_image').map(x => typeOfDataUrl(x.image_url)) : [] });
  }
  const flat = (b.tools ?? []).flatMap(t => t.type === 'namespace' ? (t.tools ?? []).map(x => ({ ...x, namespace: t.name })) : [t]);
  const tools = flat.map(t => ({ name: t.name ?? t.type, schema: t.parameters, custom: t.type === 'custom', namespace: t.namespace }));
  const d = decide(hist, { json: b.text?.format?.type === 'json_schema' ? b.text.format.schema : null, tools });
  note(d, 'responses', b);
  if (d.kind === 'ERROR') return sendJson(res, d.status, { error: { message: `fake error ${d.status}`, type: d.status === 429 ? 'rate_limit_exceeded' : 'server_error', code: null, param: null } });
  if (d.kind === 'HANG' && d.head) return;
  const rid = id('resp');
  const resp = { id: rid, object: 'response', created_at: 1700000000, status: 'in_progress', model: b.model, output: [], parallel_tool_calls: false, tools: [], error: null, incomplete_details: null, usage: null };
  const usage = { input_tokens: est(b.input), input_tokens_details: { cached_tokens: 0 }, output_tokens: 5, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: est(b.input) + 5 };
  const output = [];
  let n = 0;
  const ev = b.stream ? sse(res) : () => {};
  const send = (type, o) => ev(type, { type, sequence_number: n++, ...o });
  send('response.created', { response: resp });
  send('response.in_progress', { response: resp });
  let oi = 0;
  if (d.think) {
    const it = { id: id('rs'), type: 'reasoning', summary: [{ type: 'summary_text', text: d.think }] };
    send('response.output_item.added', { output_index: oi, item: { ...it, summary: [] } });
    send('response.reasoning_summary_part.added', { item_id: it.id, output_index: oi, summary_index: 0, part: { type: 'summary_text', text: '' } });
    send('response.reasoning_summary_text.delta', { item_id: it.id, output_index: oi, summary_index: 0, delta: d.think });
    send('response.output_item.done', { output_index: oi++, item: it }); output.push(it);
  }
  if (d.kind === 'TOOL') {
    const it = d.call.custom ? { id: id('ctc'), type: 'custom_tool_call', status: 'completed', call_id: id('call'), name: d.call.name, input: d.call.custom }
      : { id: id('fc'), type: 'function_call', status: 'completed', call_id: id('call'), name: d.call.name, arguments: JSON.stringify(d.call.args), ...(d.call.namespace ? { namespace: d.call.namespace } : {}) };
    send('response.output_item.added', { output_index: oi, item: { ...it, status: 'in_progress' } });
    send('response.output_item.done', { output_index: oi, item: it }); output.push(it);
  } else {
    const it = { id: id('msg'), type: 'message', role: 'assistant', status: 'in_progress', content: [] };
    send('response.output_item.added', { output_index: oi, item: it });
    send('response.content_part.added', { item_id: it.id, output_index: oi, content_index: 0, part: { type: 'output_text', text: '', annotations: [] } });
    let text = '';
    for await (const c of chunksOf(d)) { text += c; send('response.output_text.delta', { item_id: it.id, output_index: oi, content_index: 0, delta: c }); }
    const part = { type: 'output_text', text, annotations: [] };
    send('response.output_text.done', { item_id: it.id, output_index: oi, content_index: 0, text });
    send('response.content_part.done', { item_id: it.id, output_index: oi, content_index: 0, part });
    const done = { ...it, status: 'completed', content: [part] };
    send('response.output_item.done', { output_index: oi, item: done }); output.push(done);
  }
  const fin = { ...resp, status: 'completed', output, usage };
  if (!b.stream) return sendJson(res, 200, fin);
  send('response.completed', { response: fin });
  res.end();
}

// ---------- Gemini ----------
async function gemini(b, res, url, model, method) {
  if (method === 'countTokens') return sendJson(res, 200, { totalTokens: est(b.contents ?? b.generateContentRequest) });
  if (/embed/i.test(method)) return sendJson(res, 200, { embedding: { values: [0, 0, 0] } });
  const hist = [];
  for (const c of b.contents ?? []) {
    const parts = c.parts ?? [];
    for (const p of parts) if (p.functionResponse) hist.push({ role: 'tool', text: asText(p.functionResponse.response?.output ?? JSON.stringify(p.functionResponse.response)) });
    const tx = parts.filter(p => p.text && !p.thought).map(p => p.text);
    const images = parts.filter(p => p.inlineData).map(p => p.inlineData.mimeType);
    if (c.role === 'model') { if (tx.join('')) hist.push({ role: 'assistant', text: tx.join('\n') }); } else for (const x of tx) hist.push({ role: 'user', text: x, images });
  }
  const gc = b.generationConfig ?? {};
  const json = gc.responseMimeType === 'application/json' ? (gc.responseJsonSchema ?? gc.responseSchema ?? { type: 'object' }) : null;
  const tools = (b.tools ?? []).flatMap(t => t.functionDeclarations ?? []).map(f => ({ name: f.name, schema: f.parametersJsonSchema ?? f.parameters }));
  const d = decide(hist, { json, tools });
  note(d, 'gemini', { ...b, model });
  if (d.kind === 'ERROR') return sendJson(res, d.status, { error: { code: d.status, message: `fake error ${d.status}`, status: d.status === 429 ? 'RESOURCE_EXHAUSTED' : d.status === 400 ? 'INVALID_ARGUMENT' : 'INTERNAL' } });
  if (d.kind === 'HANG' && d.head) return;
  const pt = est(b.contents);
  const wrap = (parts, fin) => ({ candidates: [{ content: { role: 'model', parts }, index: 0, ...(fin ? { finishReason: fin } : {}) }], usageMetadata: { promptTokenCount: pt, candidatesTokenCount: 5, totalTokenCount: pt + 5 }, modelVersion: model, responseId: rid });
  const rid = id('gem');
  const call = d.kind === 'TOOL' ? [{ functionCall: { name: d.call.name, args: d.call.args } }] : null;
  if (method === 'generateContent') {
    let text = ''; for await (const c of chunksOf(d)) text += c;
    return sendJson(res, 200, wrap(call ?? [{ text }], 'STOP'));
  }
  const ev = sse(res);
  if (d.think) ev(null, wrap([{ text: d.think, thought: true }]));
  if (call) ev(null, wrap(call)); else for await (const c of chunksOf(d)) ev(null, wrap([{ text: c }]));
  ev(null, wrap([{ text: '' }], 'STOP'));
  res.end();
}

function note(d, api, b) {
  const o = { t: new Date().toISOString(), api, model: b.model, stream: !!b.stream, kind: d.kind, turns: d.turns, prompt: d.prompt, tools: (b.tools ?? []).length };
  reqLog.push(o);
  if (LOG) fs.appendFileSync(LOG, JSON.stringify(o) + '\n');
  if (LOG && process.env.FAKE_LOG_BODIES) fs.appendFileSync(LOG + '.bodies', JSON.stringify({ api, b }) + '\n');
}

const server = http.createServer((req, res) => {
  const url = new URL(req.url, 'http://x');
  const bufs = [];
  req.on('data', c => bufs.push(c));
  req.on('end', async () => {
    try {
      const p = url.pathname;
      let b = {};
      if (bufs.length) try { b = JSON.parse(Buffer.concat(bufs)); } catch {}
      if (p === '/__log') { res.writeHead(200); return res.end(reqLog.map(x => JSON.stringify(x)).join('\n') + '\n'); }
      if (p === '/__reset') { reqLog = []; return sendJson(res, 200, {}); }
      let m;
      if (req.method === 'POST' && /\/messages$/.test(p)) return await anthropic(b, res);
      if (req.method === 'POST' && /\/count_tokens$/.test(p)) return sendJson(res, 200, { input_tokens: est(b.messages) });
      if (req.method === 'POST' && /\/chat\/completions$/.test(p)) return await chat(b, res);
      if (req.method === 'POST' && /\/responses$/.test(p)) return await responses(b, res);
      if (req.method === 'POST' && (m = /\/models\/([^/:]+):(\w+)$/.exec(p))) return await gemini(b, res, url, m[1], m[2]);
      if (req.method === 'GET' && /^\/v1beta\/models/.test(p)) return sendJson(res, 200, { models: [{ name: 'models/fake', supportedGenerationMethods: ['generateContent'] }] });
      if (req.method === 'GET' && /\/models$/.test(p)) return sendJson(res, 200, { object: 'list', has_more: false, data: [{ id: 'fake-model', type: 'model', object: 'model', display_name: 'Fake', created_at: '2025-01-01T00:00:00Z' }] });
      const o = { t: new Date().toISOString(), api: 'other', method: req.method, path: p };
      reqLog.push(o);
      if (LOG) fs.appendFileSync(LOG, JSON.stringify(o) + '\n');
      if (req.method === 'HEAD' || p === '/') { res.writeHead(200); return res.end(); }
      sendJson(res, 404, { type: 'error', error: { type: 'not_found_error', message: 'fake: no such endpoint ' + p } });
    } catch (e) {
      if (e.message !== 'client gone' && e.message !== 'DROP') console.error(e);
      res.destroy();
    }
  });
});
server.listen(PORT, '127.0.0.1', () => console.log(JSON.stringify({ listening: server.address().port })));
