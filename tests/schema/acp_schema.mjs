// The ACP schema as validators of single messages.
//
// What acpd sends is held to it strictly: no member that the schema does not name (but anything in
// `_meta`), and none of the alternatives that stand for words of later versions.
import fs from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';

const folder = new URL('node_modules/@agentclientprotocol/sdk/schema/v1/', import.meta.url);
const read = (name) => JSON.parse(fs.readFileSync(new URL(name, folder), 'utf8'));

export const stable = read('schema.json');
const unstable = read('schema.unstable.json');

// In no schema any more, but agents still take it.
const legacy = {
  $defs: {
    SetSessionModelRequest: {
      type: 'object',
      properties: {
        sessionId: { type: 'string' }, modelId: { type: 'string' }, _meta: { type: ['object', 'null'] },
      },
      required: ['sessionId', 'modelId'],
      'x-side': 'agent',
      'x-method': 'session/set_model',
    },
  },
};

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

// Whether the schema names members for the value that it describes, itself or by what it is made of.
function namesMembers(schema, root, seen = new Set()) {
  if (!isObject(schema) || seen.has(schema)) return false;
  seen.add(schema);
  if (schema.properties) return true;
  const parts = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  if (schema.$ref) parts.push(root.$defs[schema.$ref.slice('#/$defs/'.length)]);
  return parts.some((part) => namesMembers(part, root, seen));
}

// A copy in which each value whose members are named has no others.
function strict(root) {
  const closed = (schema) => (namesMembers(schema, root)
    ? { ...visit(schema), unevaluatedProperties: false } : visit(schema));
  const each = (map, change) => Object.fromEntries(
    Object.entries(map).map(([key, value]) => [key, change(value)]));
  const visit = (schema) => {
    if (!isObject(schema)) return schema;
    const copy = { ...schema };
    if (schema.properties) copy.properties = each(schema.properties, closed);
    if (schema.items) copy.items = closed(schema.items);
    if (isObject(schema.additionalProperties)) {
      copy.additionalProperties = closed(schema.additionalProperties);
    }
    for (const word of ['allOf', 'anyOf', 'oneOf']) {
      if (schema[word]) copy[word] = schema[word].filter((part) => part.title !== 'other').map(visit);
    }
    return copy;
  };
  return { $defs: each(root.$defs, visit) };
}

// A copy that takes what a reader has to bear with, as the schema's `x-deserialize-...` say.
function tolerant(root) {
  const visit = (schema) => {
    if (Array.isArray(schema)) return schema.map(visit);
    if (!isObject(schema)) return schema;
    if (schema['x-deserialize-default-on-error'] === true) return {};
    const copy = Object.fromEntries(Object.entries(schema).map(([key, inner]) => [key, visit(inner)]));
    if (schema['x-deserialize-skip-invalid-items'] === true) delete copy.items;
    return schema['x-deserialize-default-on-null'] === true ? { anyOf: [copy, { type: 'null' }] } : copy;
  };
  return { $defs: visit(root.$defs) };
}

const integer = (low, high) => ({
  type: 'number', validate: (value) => Number.isInteger(value) && value >= low && value <= high,
});
const formats = {
  uint16: integer(0, 2 ** 16 - 1),
  uint32: integer(0, 2 ** 32 - 1),
  uint64: integer(0, 2 ** 64),
  int32: integer(-(2 ** 31), 2 ** 31 - 1),
  int64: integer(-(2 ** 63), 2 ** 63),
  double: { type: 'number', validate: Number.isFinite },
  uri: (text) => URL.canParse(text),
};

function compiler(root, id) {
  // Not ajv's own strict mode, which is about the schema: this one has keywords of its own.
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats, discriminator: false });
  ajv.addSchema({ ...root, $id: id });
  const cache = new Map();
  return (name, rest = {}) => {
    if (!cache.has(name)) cache.set(name, ajv.compile({ $ref: `${id}#/$defs/${name}`, ...rest }));
    return cache.get(name);
  };
}

const kindOf = (name) => /(Request|Response|Notification)$/.exec(name)?.[1].toLowerCase();

// `{method: definition}` of one kind and side; `protocol` is both sides'.
export function definitions(root, kind, side) {
  const found = {};
  for (const [name, definition] of Object.entries(root.$defs)) {
    const fits = [side, 'protocol'].includes(definition['x-side']) && kindOf(name) === kind;
    if (fits && definition['x-method']) found[definition['x-method']] = name;
  }
  return found;
}

// Of what is not stable acpd uses only these.
const unstableMethods = ['session/fork'];

// What a client may send: a map from the method to a function that gives the validator.
function ofClient(kind, side) {
  const found = new Map();
  const add = (root, id, allowed) => {
    const compile = compiler(strict(root), id);
    for (const [method, name] of Object.entries(definitions(root, kind, side))) {
      if (!allowed(method)) continue;
      found.set(method, () => compile(name, { unevaluatedProperties: false }));
    }
  };
  add(stable, 'stable', () => true);
  add(unstable, 'unstable', (method) => unstableMethods.includes(method));
  add(legacy, 'legacy', () => true);
  return found;
}

export const requests = ofClient('request', 'agent');
export const notifications = ofClient('notification', 'agent');
export const results = ofClient('response', 'client');
const strictError = compiler(strict(stable), 'error');
export const error = () => strictError('Error', { unevaluatedProperties: false });

// Any definition of a schema: `lenient`, as it stands there; `bearable`, as lenient as readers are to be.
const schema = (root, id) => ({
  root, lenient: compiler(root, `lenient-${id}`), bearable: compiler(tolerant(root), `bearable-${id}`),
});
export const schemas = { stable: schema(stable, 'stable'), unstable: schema(unstable, 'unstable') };
export const { lenient } = schemas.stable;

export const explain = (validate) => validate.errors.map((mistake) => {
  const what = mistake.params.unevaluatedProperty ?? mistake.params.allowedValue ?? '';
  return `${mistake.instancePath || '/'} ${mistake.message} ${what}`.trim();
}).slice(0, 5).join('; ');
