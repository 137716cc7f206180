// Random values from a seed: the same seed gives the same values on every machine.

// Mulberry32.
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  below(n) {
    return Math.floor(this.next() * n);
  }

  chance(probability) {
    return this.next() < probability;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  shuffle(list) {
    const copy = [...list];
    for (let i = copy.length - 1; i > 0; --i) {
      const j = this.below(i + 1);
      [copy[i], copy[j]] = [copy[j], copy[i]];
    }
    return copy;
  }
}

const strings = [
  '', ' ', 'a', 'ok', 'in_progress', 'null', '0', '{"a":[1]}', '"', '\\', '\\u0041', '/', '\n', '\r\n',
  '\t\b\f', '\u0000', '\u0001\u001f\u007f', 'é', 'e\u0301', '日本語', 'שלום', '😀', '👩‍👩‍👧', '\u{10ffff}',
  '\ufffd', '\ufeff', '\u2028\u2029', '\uffff', '%s%n', '../../etc/passwd', '<script>', "it's", '${',
  'data: event\n\n', '# Title\n\n```js\nx\n```\n',
];

export function string(random) {
  if (random.chance(0.02)) return random.pick(strings).repeat(random.pick([255, 256, 4096, 16384]));
  let text = '';
  for (let n = 1 + random.below(3); n > 0; --n) text += random.pick(strings);
  return random.chance(0.3) ? `${text} ${random.below(1e6)}` : text;
}

// Of an integer format; a BigInt where a double would not hold it.
export function integer(random, format, minimum) {
  const top = { uint16: 2n ** 16n, uint32: 2n ** 32n, uint64: 2n ** 64n, int32: 2n ** 31n }[format];
  const high = (top ?? 2n ** 63n) - 1n;
  const low = minimum !== undefined ? BigInt(minimum) : (format === 'int32' ? -(2n ** 31n) : -(2n ** 63n));
  const edges = [low, low + 1n, high, high - 1n, 0n, 1n, 42n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 53n + 1n];
  const fits = edges.filter((edge) => edge >= low && edge <= high);
  return random.chance(0.5) ? random.pick(fits) : low + BigInt(random.below(1000));
}

export function number(random) {
  return random.pick([0, -0, 1, -1, 0.1, 1e-7, 1e21, 1.7976931348623157e308, 5e-324, random.next()]);
}

// Any JSON.
export function anything(random, depth = 3) {
  const kind = random.below(depth > 0 ? 7 : 5);
  if (kind === 0) return null;
  if (kind === 1) return random.chance(0.5);
  if (kind === 2) return number(random);
  if (kind === 3) return integer(random, 'int64');
  if (kind === 4) return string(random);
  if (kind === 5) return Array.from({ length: random.below(4) }, () => anything(random, depth - 1));
  return object(random, depth - 1);
}

export function object(random, depth = 2) {
  // By characters: half a pair of surrogates would be repaired on its way.
  const keys = Array.from({ length: random.below(4) }, () => [...string(random)].slice(0, 32).join(''));
  return Object.fromEntries(keys.map((key) => [`${key}:`, anything(random, depth)]));
}

// JSON text that stands as it is.
export class Raw {
  constructor(text) {
    this.text = text;
  }
}

const escapes = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f' };

function stringText(random, text) {
  const all = random.chance(0.1);  // what need not be escaped, is
  let out = '"';
  for (let i = 0; i < text.length; ++i) {
    const unit = text.charCodeAt(i);
    const code = `\\u${unit.toString(16).padStart(4, '0')}`;
    if (unit < 0x20 || text[i] === '"' || text[i] === '\\') {
      out += all ? code : (escapes[text[i]] ?? code);
    } else if (all) {
      out += text[i] === '/' ? '\\/' : (random.chance(0.5) ? code.toUpperCase().replace('U', 'u') : code);
    } else {
      out += text[i];
    }
  }
  return `${out}"`;
}

// JSON text in one of the many ways in which a value can be written: blanks, escapes, the order of
// members, numbers. No newline.
export function write(random, value) {
  const loose = random.chance(0.2);
  const blank = () => (loose ? random.pick(['', '', ' ', '\t', '  ']) : '');
  const list = (parts, open, close) =>
    open + blank() + parts.map((part) => part + blank()).join(`,${blank()}`) + close;
  const text = (inner) => {
    if (inner instanceof Raw) return inner.text;
    if (typeof inner === 'string') return stringText(random, inner);
    if (Object.is(inner, -0)) return '-0';
    if (typeof inner === 'number' && Number.isSafeInteger(inner) && loose) return `${inner}.0`;
    if (typeof inner === 'bigint') return inner.toString();
    if (Array.isArray(inner)) return list(inner.map(text), '[', ']');
    if (inner === null || typeof inner !== 'object') return JSON.stringify(inner);
    const members = random.shuffle(Object.entries(inner));
    return list(members.map(([key, of]) => `${JSON.stringify(key)}${blank()}:${blank()}${text(of)}`), '{', '}');
  };
  return text(value);
}
