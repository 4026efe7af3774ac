/** The globals defined by the language, and the few others that the interpreters call at run time. */
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
 * Removes process, fetch, timers, sockets and the rest from the global object. Even a program that gained access to
 * JavaScript would find no way out; modules loaded earlier keep what they imported. The console is replaced because
 * interpreters write to it when they crash, which would end up in a program's output.
 */
export function stripGlobals(onConsole: () => void): void {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!kept.has(name)) Reflect.deleteProperty(globalThis, name)
  }
  const console = Object.fromEntries(
    ['log', 'error', 'warn', 'info', 'debug', 'trace'].map((name) => [name, () => onConsole()]),
  )
  Object.defineProperty(globalThis, 'console', { value: Object.freeze(console) })
  // Emscripten stores an exit code here.
  Object.defineProperty(globalThis, 'process', { value: Object.assign(Object.create(null), { exitCode: 0 }) })
}
