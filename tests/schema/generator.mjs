// Makes values that fit a definition of the ACP schema.
//
// Random, but no alternative is left to chance: each place where the schema offers a choice is
// worked off in turns, and so are the states of optional members (absent, null, there).
import { schemas } from './acp_schema.mjs';
import { anything, integer, number, object, string } from './random.mjs';

const target = (ref) => ref.slice('#/$defs/'.length);

export class Generator {
  // Choices that were taken: a place of the schema, and how often each of its alternatives was.
  taken = new Map();
  #random;
  #extra;
  #definitions;

  // `extra`: members that the schema does not know are mixed in.
  constructor(random, { extra = false, schema = schemas.stable } = {}) {
    this.#random = random;
    this.#extra = extra;
    this.#definitions = schema.root.$defs;
  }

  // A value of a definition.
  make(name) {
    return this.#value({ $ref: `#/$defs/${name}` }, name);
  }

  // The alternatives, of all places that were come by, that were never taken.
  missed() {
    return [...this.taken].flatMap(([place, counts]) =>
      counts.map((count, i) => (count === 0 ? `${place}#${i}` : '')).filter(Boolean));
  }

  // In turns: a full round before anything comes again, in a random order.
  #turn(place, n) {
    if (!this.taken.has(place)) this.taken.set(place, Array(n).fill(0));
    const counts = this.taken.get(place);
    const least = Math.min(...counts);
    const chosen = this.#random.pick([...counts.keys()].filter((i) => counts[i] === least));
    counts[chosen] += 1;
    return chosen;
  }

  #value(schema, place) {
    const shape = { properties: {}, required: new Set() };
    this.#gather(schema, place, shape);
    if ('const' in shape) return shape.const;
    if (shape.enum) return this.#random.pick(shape.enum);
    const types = [shape.type ?? []].flat();
    if (types.length === 0) return anything(this.#random);
    const type = types[types.length > 1 ? this.#turn(`${place}?`, types.length) : 0];
    return this.#ofType(type, shape, place);
  }

  // What a value has to be, from all that it is made of; of alternatives one.
  #gather(schema, place, shape) {
    if (schema.$ref) {
      const name = target(schema.$ref);
      this.#gather(this.#definitions[name], name, shape);
    }
    for (const word of ['const', 'enum', 'type', 'format', 'minimum', 'items', 'minLength', 'not']) {
      if (word in schema && !(word === 'type' && shape.type)) shape[word] = schema[word];
    }
    if (typeof schema.additionalProperties === 'object') shape.rest = schema.additionalProperties;
    for (const [key, inner] of Object.entries(schema.properties ?? {})) {
      shape.properties[key] = { schema: inner, place: `${place}.${key}` };
    }
    for (const key of schema.required ?? []) shape.required.add(key);
    for (const part of schema.allOf ?? []) this.#gather(part, place, shape);
    for (const word of ['anyOf', 'oneOf']) {
      if (!schema[word]) continue;
      const i = this.#turn(`${place}|${word}`, schema[word].length);
      this.#gather(schema[word][i], `${place}#${i}`, shape);
    }
  }

  #ofType(type, shape, place) {
    if (type === 'null') return null;
    if (type === 'boolean') return this.#turn(`${place}?bool`, 2) === 1;
    if (type === 'integer') return integer(this.#random, shape.format, shape.minimum);
    if (type === 'number') return number(this.#random);
    if (type === 'string' && shape.format === 'uri') return `https://example.com/${this.#random.below(1e6)}`;
    if (type === 'string') return string(this.#random).padEnd(shape.minLength ?? 0, '.');
    if (type === 'array') {
      const length = [0, 1, 2, 3][this.#turn(`${place}[]`, 4)];
      return Array.from({ length }, () => this.#value(shape.items ?? {}, `${place}[]`));
    }
    return this.#object(shape, place);
  }

  #object(shape, place) {
    const made = {};
    for (const [key, { schema, place: inner }] of Object.entries(shape.properties)) {
      const there = shape.required.has(key) || this.#turn(`${place}.${key}!`, 2) === 1;
      if (there) made[key] = this.#value(schema, inner);
    }
    if (shape.rest) {
      for (let n = this.#random.below(3); n > 0; --n) {
        made[string(this.#random)] = this.#value(shape.rest, `${place}{}`);
      }
    }
    if (Object.keys(shape.properties).length === 0 && !shape.rest) return object(this.#random);
    // The alternative for words of later versions.
    for (const key of shape.not ? ['type', 'mode', 'action'] : []) {
      if (key in made) made[key] = `later_${key}`;
    }
    if (this.#extra && !shape.rest && this.#random.chance(0.15)) made['x-later'] = anything(this.#random);
    return made;
  }
}
