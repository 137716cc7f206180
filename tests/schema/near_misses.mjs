// Messages that nearly fit: a good one with one member missing or of a wrong type, and what the schema says
// of each.
import { schemas } from './acp_schema.mjs';

const wrong = [null, 7, -1, 1.5, 'text', true, [], {}, [7]];

const isObject = (value) => value !== null && typeof value === 'object';

// All places below a value, as lists of keys.
function* places(value, at = []) {
  for (const [key, inner] of Object.entries(value)) {
    yield [...at, key];
    if (isObject(inner)) yield* places(inner, [...at, key]);
  }
}

// A copy with another value at a place; undefined: without it.
function changed(value, [key, ...rest], to) {
  const copy = Array.isArray(value) ? [...value] : { ...value };
  if (rest.length > 0) copy[key] = changed(value[key], rest, to);
  else if (to === undefined && Array.isArray(copy)) copy.splice(Number(key), 1);
  else if (to === undefined) delete copy[key];
  else copy[key] = to;
  return copy;
}

// The near misses of `good`, which fits `definition`: {params, member, place, what, refused}.
// `refused`: the schema says so; else a reader is to bear with it.
export function nearMisses(definition, good, { lenient, bearable } = schemas.stable) {
  const fits = lenient(definition);
  const borne = bearable(definition);
  const found = [];
  for (const place of places(good)) {
    for (const to of [undefined, ...wrong]) {
      const params = changed(good, place, to);
      if (fits(params)) continue;
      const member = place.findLast((key) => Number.isNaN(Number(key)));
      const what = to === undefined ? 'missing' : JSON.stringify(to);
      found.push({
        params, member, place: place.join('.'), what: `${place.join('.')} ${what}`, refused: !borne(params),
      });
    }
  }
  return found;
}

// Whatever else is no object, as a whole answer.
export const noObjects = [null, 7, 'text', true, [], [{}]];

// The near misses of an answer, and what is none at all: {result, what, member, refused}.
export function missesOf(definition, good, schema = 'stable') {
  return [
    ...nearMisses(definition, good, schemas[schema])
      .map(({ params, what, member, refused }) => ({ result: params, what, member, refused })),
    ...noObjects.map((result) => ({ result, what: `all of it ${JSON.stringify(result)}`, member: '', refused: true })),
  ];
}
