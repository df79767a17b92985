/* The part of Python that JavaScript does not have, for modules translated by book/tools/site/javascript.py.
   Lists and tuples are arrays, dictionaries Maps, sets Sets. What is an exception in Python is one here. */
"use strict";

const py = (() => {
  const fail = (kind, told) => {
    throw new Error(`${kind}: ${told}`);
  };
  const isList = Array.isArray;
  const iter = (x) => {
    if (isList(x) || x instanceof Set || typeof x === "string") return x;
    return x instanceof Map ? x.keys() : fail("TypeError", `${x} is not iterable`);
  };
  const list = (x = []) => [...iter(x)];
  const bool = (x = false) => {
    if (isList(x)) return x.length > 0;
    return x instanceof Map || x instanceof Set ? x.size > 0 : Number.isNaN(x) || Boolean(x);
  };
  const equal = (a, b) => {
    if (a instanceof Set && b instanceof Set) return a.size === b.size && [...a].every((x) => b.has(x));
    if (isList(a) && isList(b)) return a.length === b.length && a.every((x, i) => equal(x, b[i]));
    return typeof a === "boolean" || typeof b === "boolean" ? a !== null && b !== null && +a === +b : a === b;
  };
  /* a < b; or, with `or`, not (a >= b) turned round: nan is neither. */
  const less = (a, b, or = false) => {
    if (isList(a) && isList(b)) {
      for (let i = 0; i < a.length && i < b.length; i += 1) if (!equal(a[i], b[i])) return less(a[i], b[i], or);
      return a.length < b.length;
    }
    if (a === null || b === null || typeof a === "object" || typeof b === "object") fail("TypeError", "'<' of unlike values");
    return or ? !(a >= b) : a < b;
  };
  const index = (x, i) => (i < 0 ? i + x.length : i);
  const at = (x, i) => {
    if (x instanceof Map) return x.has(i) ? x.get(i) : fail("KeyError", i);
    const found = x[index(x, i)];
    return found === undefined ? fail("IndexError", `${i} of ${x.length}`) : found;
  };
  const put = (x, i, value) => {
    if (x instanceof Map) return x.set(i, value);
    const place = index(x, i);
    if (!(place >= 0 && place < x.length)) fail("IndexError", `${i} of ${x.length}`);
    x[place] = value;
  };
  const ends = (x, from, to) => {
    const place = (i) => Math.min(Math.max(index(x, i), 0), x.length);
    return [from === null ? 0 : place(from), to === null ? x.length : place(to)];
  };
  const slice = (x, from, to, step) => {
    if (step !== null && step < 0) {
      if (from !== null || to !== null || step !== -1) fail("ValueError", "of backward slices only [::-1] is known");
      return typeof x === "string" ? [...x].reverse().join("") : [...x].reverse();
    }
    const cut = x.slice(...ends(x, from, to));
    return step === null || step === 1 ? cut : cut.filter((_, i) => i % step === 0);
  };
  const splice = (x, from, to, step, values) => {
    const [start, end] = ends(x, from, to);
    x.splice(start, Math.max(end - start, 0), ...iter(values));
  };
  const add = (a, b) => {
    if (isList(a) && isList(b)) return a.concat(b);
    return typeof a === "object" || typeof b === "object" || (typeof a === "string") !== (typeof b === "string")
      ? fail("TypeError", "'+' of unlike values")
      : a + b;
  };
  const mul = (a, b) => {
    if (isList(b) || typeof b === "string") return mul(b, a);
    if (isList(a)) return [].concat(...Array(Math.max(b, 0)).fill(a));
    return typeof a === "string" ? a.repeat(Math.max(b, 0)) : a * b;
  };
  const nonzero = (b) => (Number(b) === 0 ? fail("ZeroDivisionError", "division by zero") : b);
  const pow = (a, b) => {
    if (Number(a) === 0 && b < 0) nonzero(a);
    const made = a ** b;
    return Number.isNaN(made) && !Number.isNaN(a) && !Number.isNaN(b) ? fail("ValueError", "not a real power") : made;
  };

  /* Keyword arguments of built-in functions: py.named at the end of the call. */
  class Named {}
  const named = (values) => Object.assign(new Named(), values);
  const options = (args) => (args[args.length - 1] instanceof Named ? args.pop() : {});
  const order = (a, b) => (typeof a === "number" && a === b ? 0 : less(a, b) ? -1 : less(b, a) ? 1 : 0);
  const best = (args, sign) => {
    const { key = (x) => x, ...rest } = options(args);
    const values = args.length === 1 ? list(args[0]) : args;
    if (!values.length) return "default" in rest ? rest.default : fail("ValueError", "the best of nothing");
    return values.reduce((a, b) => (sign * order(key(b), key(a)) < 0 ? b : a));
  };

  /* Half to even, as Python rounds: a number that ends in exactly 5 is the one case that toFixed decides otherwise. */
  const fixed = (x, digits) => {
    let text = Math.abs(x).toFixed(digits);
    if (Math.abs(((Math.abs(x) * 10 ** digits) % 1) - 0.5) < 1e-6) {
      const long = Math.abs(x).toFixed(Math.min(digits + 40, 100));
      const cut = long.length - Math.min(40, 100 - digits);
      const even = /^50*$/.test(long.slice(cut)) && /[02468]\.?$/.test(long.slice(0, cut));
      if (even) text = long.slice(0, cut).replace(/\.$/, "");
    }
    return (x < 0 || Object.is(x, -0) ? "-" : "") + text;
  };
  const general = (x, digits) => {
    const [mantissa, power] = x.toExponential(digits - 1).split("e");
    const short = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
    if (x === 0) return Object.is(x, -0) ? "-0" : "0";
    if (power >= -4 && power < digits) return short(fixed(x, digits - 1 - power));
    return `${short(mantissa)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  };
  const str = (x = "") => {
    if (x === null) return "None";
    return typeof x === "boolean" ? (x ? "True" : "False") : Number.isNaN(x) ? "nan" : String(x);
  };
  const format = (x, form) => {
    if (form === "") return str(x);
    const [, sign, , digits, kind] = /^(\+?)(\.(\d+))?([fgd%])$/.exec(form) ?? fail("ValueError", `the format ${form}`);
    const percent = kind === "%" ? 100 : 1;
    const places = kind === "d" ? 0 : Number(digits ?? 6);
    if (!Number.isFinite(+x)) return String(+x).replace("Infinity", "inf").replace("NaN", "nan");
    const text = kind === "g" ? general(+x, places || 1) : fixed(x * percent, places);
    return (sign && !text.startsWith("-") ? "+" : "") + text + (kind === "%" ? "%" : "");
  };
  const round = (x, digits = 0) => Number(digits < 0 ? fixed(x * 10 ** digits, 0) * 10 ** -digits : fixed(x, digits));

  const real = (name, allowed) => (x) => (allowed(x) ? Math[name](x) : fail("ValueError", `math.${name}(${x})`));
  const positive = (x) => !(x <= 0);
  const math = {
    ...{ nan: NaN, inf: Infinity, pi: Math.PI, e: Math.E },
    ...{ sin: Math.sin, cos: Math.cos, tan: Math.tan, atan2: Math.atan2, tanh: Math.tanh, hypot: Math.hypot },
    ...{ floor: Math.floor, ceil: Math.ceil, isnan: Number.isNaN, isfinite: Number.isFinite },
    ...{ log: real("log", positive), log2: real("log2", positive), log10: real("log10", positive) },
    ...{ log1p: real("log1p", (x) => !(x <= -1)), sqrt: real("sqrt", (x) => !(x < 0)) },
    exp: (x) => (Math.exp(x) === Infinity && x !== Infinity ? fail("OverflowError", "math range error") : Math.exp(x)),
  };

  const methods = {
    append: (x, value) => (x.push(value), null),
    copy: (x) => (x instanceof Map ? new Map(x) : list(x)),
    count: (x, value) => x.filter((one) => equal(one, value)).length,
    extend: (x, values) => (x.push(...iter(values)), null),
    get: (x, key, other = null) => (x.has(key) ? x.get(key) : other),
    index: (x, value) => {
      const found = x.findIndex((one) => equal(one, value));
      return found < 0 ? fail("ValueError", `${value} is not in the list`) : found;
    },
    insert: (x, i, value) => (x.splice(index(x, i), 0, value), null),
    items: (x) => [...x.entries()],
    join: (x, parts) => list(parts).join(x),
    keys: (x) => [...x.keys()],
    pop: (x, i = -1) => (x.length ? x.splice(index(x, i), 1)[0] : fail("IndexError", "pop from an empty list")),
    remove: (x, value) => (x.splice(methods.index(x, value), 1), null),
    values: (x) => [...x.values()],
  };

  const float = (x = 0) => {
    const made = typeof x === "string" && x.trim() === "" ? NaN : Number(x);
    return Number.isNaN(made) && !Number.isNaN(x) ? fail("ValueError", `no number: ${x}`) : made;
  };
  const range = (...ends_) => {
    const [from, to, step = 1] = ends_.length === 1 ? [0, ends_[0]] : ends_;
    const made = [];
    nonzero(step);
    for (let i = from; step > 0 ? i < to : i > to; i += step) made.push(i);
    return made;
  };
  const zip = (...columns) => {
    const { strict } = options(columns);
    const rows = columns.map((x) => (isList(x) ? x : list(x)));
    const length = rows.length ? Math.min(...rows.map((row) => row.length)) : 0;
    if (strict && rows.some((row) => row.length !== length)) fail("ValueError", "zip of unlike lengths");
    const made = [];
    for (let i = 0; i < length; i += 1) made.push(rows.map((row) => row[i]));
    return made;
  };
  const sorted = (x, how = {}) => {
    const { key = (one) => one, reverse = false } = how;
    const keyed = list(x).map((one) => [key(one), one]);
    return keyed.sort((a, b) => (reverse ? order(b[0], a[0]) : order(a[0], b[0]))).map((pair) => pair[1]);
  };

  /* JSON's objects are dictionaries. */
  const from = (x) => {
    if (isList(x)) return x.map(from);
    return x && typeof x === "object" ? new Map(Object.entries(x).map(([key, value]) => [key, from(value)])) : x;
  };
  const to = (x) => {
    if (isList(x)) return x.map(to);
    return x instanceof Map ? Object.fromEntries([...x].map(([key, value]) => [key, to(value)])) : x;
  };

  return {
    ...{ modules: {}, iter, bool, equal, less, at, put, slice, splice, add, mul, pow, named, format, math, methods },
    ...{ list, tuple: list, round, str, float, range, zip, sorted, from, to },
    grow: (a, b) => (isList(a) ? (a.push(...iter(b)), a) : add(a, b)),
    sub: (a, b) => (a instanceof Set ? new Set([...a].filter((x) => !b.has(x))) : a - b),
    div: (a, b) => a / nonzero(b),
    floordiv: (a, b) => Math.floor(a / nonzero(b)),
    mod: (a, b) => ((a % nonzero(b)) + +b) % b,
    both: (a, then) => (bool(a) ? then() : a),
    either: (a, then) => (bool(a) ? a : then()),
    contains: (x, value) => (x instanceof Map || x instanceof Set ? x.has(value) : typeof x === "string" ? x.includes(value) : x.some((one) => equal(one, value))),
    items: (x) => [...x.entries()],
    abs: (x) => Math.abs(x),
    all: (x) => list(x).every(bool),
    any: (x) => list(x).some(bool),
    dict: (x = []) => new Map(x instanceof Map ? x : list(x)),
    enumerate: (x, start = 0) => list(x).map((one, i) => [i + start, one]),
    int: (x = 0) => Math.trunc(float(x)),
    len: (x) => x.length ?? x.size ?? fail("TypeError", "no length"),
    map: (f, ...columns) => zip(...columns).map((row) => f(...row)),
    max: (...args) => best(args, -1),
    min: (...args) => best(args, 1),
    next: (x, ...other) => (x.length ? x[0] : other.length ? other[0] : fail("StopIteration", "nothing left")),
    reversed: (x) => list(x).reverse(),
    set: (x = []) => new Set(iter(x)),
    sum: (x, start = 0) => list(x).reduce(add, start),
    type: (x) => (typeof x === "number" || typeof x === "boolean" ? float : fail("TypeError", "the type of no number")),
  };
})();
if (typeof globalThis !== "undefined") globalThis.py = py;
