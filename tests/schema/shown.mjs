// What acpd shows of what agents send, as its API says (proto/acpd/v1), read off the messages themselves.
//
// acpd reads answers as kindly as it can: of a list each item that says what it is about, of an item each member
// of the right type; a name that is missing is the id.
const idBytes = 4 << 10;

// At most so many bytes of a text, in whole characters.
export function cut(text, bytes) {
  const whole = Buffer.from(text);
  let end = Math.min(bytes, whole.length);
  while (end < whole.length && (whole[end] & 0xc0) === 0x80) --end;
  return whole.toString('utf8', 0, end);
}

const isText = (value) => typeof value === 'string';
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const list = (value) => (Array.isArray(value) ? value : []);
const textOr = (value, otherwise) => (isText(value) ? value : otherwise);
export const word = (value, otherwise = '') => cut(textOr(value, otherwise), idBytes);

// The typed fields of a SessionUpdate; long ids and titles are cut there.
export function updateFields(update) {
  return {
    kind: update.sessionUpdate,
    text: update.content?.type === 'text' ? textOr(update.content.text, '') : '',
    message_id: word(update.messageId),
    tool_call_id: word(update.toolCallId),
    tool_status: String(update.sessionUpdate).startsWith('tool_call') ? word(update.status) : '',
    title: cut(textOr(update.title, ''), 16 << 10),
  };
}

// Agent, of an answer to initialize. `texts`: its members as they were written.
export function agentFields({ agentCapabilities, authMethods, agentInfo }, texts) {
  const fitting = (text) => (Buffer.byteLength(text) <= 32 << 10 ? text : '');
  return {
    version: word(agentInfo?.version),
    capabilities_json: isObject(agentCapabilities) ? fitting(texts.agentCapabilities) : '{}',
    auth_methods_json: Array.isArray(authMethods) ? fitting(texts.authMethods) : '[]',
  };
}

// LoginAgentResponse.methods
export const loginMethods = ({ authMethods }) => list(authMethods).filter((method) => isText(method?.id))
  .map(({ id, name, description, type }) => ({
    method_id: word(id), name: word(name, id), description: word(description), type: word(type, 'agent'),
  }));

const modesOf = (modes) => list(modes?.availableModes).filter((mode) => isText(mode?.id))
  .map(({ id, name, description }) => ({ mode_id: word(id), name: word(name, id), description: word(description) }));

// A list of choices, or of groups of choices.
function choicesOf(items) {
  const flat = list(items).flatMap((item) => {
    if (!Array.isArray(item?.options)) return [[item, '']];
    return item.options.map((inner) => [inner, word(item.name, textOr(item.group, ''))]);
  });
  return flat.filter(([item]) => isText(item?.value)).map(([{ value, name, description }, group]) => (
    { value: word(value), name: word(name, value), description: word(description), group }));
}

// Session.config_options. An option without a type is a select.
export const optionsOf = (configOptions) => list(configOptions).flatMap((option) => {
  if (!isText(option?.id)) return [];
  const { id, name, description, category, currentValue } = option;
  const type = textOr(option.type, 'select');
  const shown = {
    config_id: word(id), name: word(name, id), description: word(description), category: word(category),
  };
  if (type === 'boolean' && typeof currentValue === 'boolean') {
    return [{ ...shown, choices: [], boolean: currentValue, current: 'boolean' }];
  }
  if (type !== 'select' || !isText(currentValue)) return [];
  return [{ ...shown, choices: choicesOf(option.options), select: word(currentValue), current: 'select' }];
});

// The first of a category counts.
export const selected = (options, category) =>
  options.find((option) => option.category === category && option.current === 'select')?.select;

// What a set-up's answer says of the Session. An option for the mode goes before `modes`.
export function sessionFields({ modes, configOptions }) {
  const config_options = optionsOf(configOptions);
  return {
    mode_id: selected(config_options, 'mode') ?? word(modes?.currentModeId),
    model: selected(config_options, 'model') ?? '',
    available_modes: modesOf(modes),
    config_options,
  };
}

const timeOf = (iso) => {
  if (!isText(iso) || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(iso)) return null;
  const milliseconds = Date.parse(iso);
  return { seconds: String(Math.floor(milliseconds / 1000)), nanos: (milliseconds % 1000) * 1e6 };
};

// ListAgentSessionsResponse.sessions, of sessions that acpd does not know.
export const agentSessions = ({ sessions }) => list(sessions)
  .filter((session) => isText(session?.sessionId) && isText(session.cwd))
  .map(({ sessionId, cwd, title, updatedAt }) => ({
    agent_session_id: word(sessionId), cwd: word(cwd), title: word(title), update_time: timeOf(updatedAt),
    session_id: '',
  }));

const isCount = (value) => (typeof value === 'bigint' || Number.isInteger(value)) && value >= 0;

// TurnResult.usage: what there is of it.
export function usageFields(usage) {
  const shown = {};
  for (const [field, member] of [
    ['input_tokens', 'inputTokens'], ['output_tokens', 'outputTokens'], ['cached_read_tokens', 'cachedReadTokens'],
    ['cached_write_tokens', 'cachedWriteTokens'], ['thought_tokens', 'thoughtTokens'],
    ['total_tokens', 'totalTokens'],
  ]) {
    if (isCount(usage?.[member])) shown[field] = String(usage[member]);
  }
  return shown;
}

const outcomes = {
  max_tokens: 'OUTCOME_TRUNCATED', max_turn_requests: 'OUTCOME_TRUNCATED', refusal: 'OUTCOME_REFUSED',
  cancelled: 'OUTCOME_CANCELLED',
};

// TurnResult, of an answer to session/prompt. What acpd does not know is an end all the same.
export const turnFields = ({ stopReason, usage }) => ({
  outcome: Object.hasOwn(outcomes, stopReason) ? outcomes[stopReason] : 'OUTCOME_COMPLETED',
  stop_reason: word(stopReason),
  usage: usageFields(usage),
});

// TurnResult.error, of an error that answered session/prompt. `data`: as it was written; empty: none.
export const failureFields = ({ code, message }, data) => ({
  agent_code: code,
  message: cut(`The agent answered the prompt with an error${code === 0 ? '' : ` (code ${code})`}: ${message}`,
    16 << 10),
  agent_data: cut(data, 256 << 10),
});
