/** What the language itself defines, and the few others that the interpreters call while they run. */
const kept = new Set([
  ...[
    'Object',
    'Function',
    'Array',
    'Number',
    'parseFloat',
    'parseInt',
    'Infinity',
    'NaN',
    'undefined',
    'Boolean',
  ],
  ...['String', 'Symbol', 'Date', 'Promise', 'RegExp', 'Error', 'AggregateError', 'EvalError', 'RangeError'],
  ...[
    'ReferenceError',
    'SyntaxError',
    'TypeError',
    'URIError',
    'globalThis',
    'JSON',
    'Math',
    'Intl',
    'ArrayBuffer',
  ],
  ...['Atomics', 'Uint8Array', 'Int8Array', 'Uint16Array', 'Int16Array', 'Uint32Array', 'Int32Array'],
  ...['Float16Array', 'Float32Array', 'Float64Array', 'Uint8ClampedArray', 'BigUint64Array', 'BigInt64Array'],
  ...['DataView', 'Map', 'BigInt', 'Set', 'Iterator', 'WeakMap', 'WeakSet', 'WeakRef', 'Proxy', 'Reflect'],
  ...['decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'unescape', 'isFinite'],
  ...['isNaN', 'SharedArrayBuffer', 'WebAssembly', 'FinalizationRegistry', 'SuppressedError'],
  ...['performance', 'TextDecoder', 'TextEncoder', 'queueMicrotask'],
])

/**
 * Takes process, fetch, timers, sockets and the rest from the global object. Even a program that got hold of
 * JavaScript would find nothing that reaches out; modules loaded before keep what they imported.
 * Interpreters complain to the console when they break, which would end up among a program's output.
 */
export function bareGlobals(complained: () => void): void {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!kept.has(name)) Reflect.deleteProperty(globalThis, name)
  }
  const console = Object.fromEntries(
    ['log', 'error', 'warn', 'info', 'debug', 'trace'].map((name) => [name, () => complained()]),
  )
  Object.defineProperty(globalThis, 'console', { value: Object.freeze(console) })
  // Emscripten notes an exit code here.
  Object.defineProperty(globalThis, 'process', { value: Object.assign(Object.create(null), { exitCode: 0 }) })
}
