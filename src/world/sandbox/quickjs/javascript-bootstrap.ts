/**
 * Evaluated inside QuickJS before the program: the small part of Node's API that short programs use. `host` has
 * `write(descriptor, text)`, `exit(code)`, `now()`, `stdin` and `files`, with NUL escaped in all texts (see
 * program.ts).
 */
export const javascriptBootstrap = `(function (host) {
  'use strict'
  const { exit, now } = host
  const write = (descriptor, text) =>
    host.write(descriptor, text.replace(/[\\0\\x01]/g, (character) => character === '\\0' ? '\\x010' : '\\x011'))
  const received = (text) => text.replace(/\\x01([01])/g, (_, which) => which === '0' ? '\\0' : '\\x01')
  const stdin = received(host.stdin)
  const files = Object.fromEntries(Object.entries(host.files).map(([path, text]) => [path, received(text)]))
  const show = (value, depth, seen) => {
    if (typeof value === 'string') return depth === 0 ? value : "'" + value.replace(/'/g, "\\\\'") + "'"
    if (typeof value === 'bigint') return value + 'n'
    if (typeof value === 'symbol') return value.toString()
    if (typeof value === 'function') return '[Function' + (value.name ? ': ' + value.name : ' (anonymous)') + ']'
    if (value === null || typeof value !== 'object') return Object.is(value, -0) ? '-0' : String(value)
    if (seen.includes(value)) return '[Circular *1]'
    if (value instanceof Error) return value.name + ': ' + value.message + '\\n' + (value.stack ?? '').trimEnd()
    if (value instanceof Date) return value.toISOString()
    if (value instanceof RegExp) return String(value)
    const name = value.constructor?.name
    if (depth > 4) return '[' + (name ?? 'Object') + ']'
    const inner = [...seen, value]
    const one = (item) => show(item, depth + 1, inner)
    const list = (open, items, close) => items.length === 0 ? open + close : open + ' ' + items.join(', ') + ' ' + close
    if (Array.isArray(value)) return list('[', value.map(one), ']')
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      return name + '(' + value.length + ') ' + list('[', Array.from(value, one), ']')
    }
    if (value instanceof Map) {
      return 'Map(' + value.size + ') ' + list('{', [...value].map(([k, v]) => one(k) + ' => ' + one(v)), '}')
    }
    if (value instanceof Set) return 'Set(' + value.size + ') ' + list('{', [...value].map(one), '}')
    const fields = Object.keys(value).map((key) =>
      (/^[A-Za-z_$][\\w$]*$/.test(key) ? key : "'" + key + "'") + ': ' + one(value[key]))
    return (name && name !== 'Object' ? name + ' ' : '') + list('{', fields, '}')
  }
  const line = (values) => values.map((value) => show(value, 0, [])).join(' ') + '\\n'
  const printer = (descriptor) => (...values) => { write(descriptor, line(values)) }
  const out = printer(1)
  const error = printer(2)
  globalThis.print = out
  globalThis.console = { log: out, info: out, debug: out, error, warn: error, trace: error }

  const lines = stdin.split('\\n')
  if (lines.at(-1) === '') lines.pop()
  let at = 0
  globalThis.stdin = stdin
  globalThis.readline = () => lines[at++] ?? null

  const timers = []
  let lastTimer = 0
  const schedule = (task, delay, repeat) => {
    const wait = Math.max(1, Number(delay) || 0)
    timers.push({ id: ++lastTimer, due: now() + wait, task, every: repeat ? wait : 0 })
    return lastTimer
  }
  const cancel = (id) => {
    const index = timers.findIndex((timer) => timer.id === id)
    if (index >= 0) timers.splice(index, 1)
  }
  globalThis.setTimeout = (task, delay, ...values) => schedule(() => task(...values), delay, false)
  globalThis.setInterval = (task, delay, ...values) => schedule(() => task(...values), delay, true)
  globalThis.setImmediate = (task, ...values) => schedule(() => task(...values), 0, false)
  globalThis.clearTimeout = globalThis.clearInterval = globalThis.clearImmediate = cancel
  globalThis.queueMicrotask = (task) => { Promise.resolve().then(task) }

  const leave = (code = process.exitCode ?? 0) => {
    exit(Number(code))
    // The host stops the program at the next check.
    for (;;);
  }
  // Listeners are called after the program's first pass, as in Node.
  const listen = (events) => {
    const listeners = { on(event, task) {
      if (events[event]) schedule(() => events[event](task), 0, false)
      return listeners
    } }
    listeners.once = listeners.addListener = listeners.on
    return listeners
  }
  const input = Object.assign(listen({ data: (task) => task(stdin), end: (task) => task() }), {
    setEncoding: () => input, resume: () => input, fd: 0,
    async *[Symbol.asyncIterator]() { yield stdin },
  })
  globalThis.process = {
    argv: ['node', '/box/main.js'], env: {}, platform: 'quickjs', exitCode: undefined, exit: leave, stdin: input,
    stdout: { write: (text) => { write(1, String(text)); return true } },
    stderr: { write: (text) => { write(2, String(text)); return true } },
    nextTick: (task, ...values) => { Promise.resolve().then(() => task(...values)) },
    hrtime: Object.assign(() => [Math.floor(now() / 1000), Math.floor((now() % 1000) * 1e6)],
      { bigint: () => BigInt(Math.floor(now() * 1e6)) }),
    on: () => process,
  }
  const plain = (path) => String(path).replace(/^\\/box\\//, '').replace(/^(\\.\\/)+/, '')
  const fs = {
    readFileSync(path) {
      if (path === 0 || path === '/dev/stdin') return stdin
      if (!Object.hasOwn(files, plain(path))) {
        throw Object.assign(new Error("ENOENT: no such file or directory, open '" + path + "'"), { code: 'ENOENT' })
      }
      return files[plain(path)]
    },
    writeFileSync(path, text) {
      if (path === 1 || path === '/dev/stdout') write(1, String(text))
      else files[plain(path)] = String(text)
    },
    existsSync: (path) => Object.hasOwn(files, plain(path)),
  }
  const createInterface = () => ({
    on(event, task) {
      if (event === 'line') for (const text of lines) schedule(() => task(text), 0, false)
      if (event === 'close') schedule(task, 0, false)
      return this
    },
    close() {},
    async *[Symbol.asyncIterator]() { yield* lines },
  })
  const builtins = { fs, readline: { createInterface }, process }
  const loaded = Object.create(null)
  globalThis.require = (name) => {
    const known = String(name).replace(/^node:/, '')
    if (Object.hasOwn(builtins, known)) return builtins[known]
    const path = [plain(name), plain(name) + '.js', plain(name) + '.json'].find((each) => Object.hasOwn(files, each))
    if (path === undefined) {
      throw Object.assign(new Error("Cannot find module '" + name + "'"), { code: 'MODULE_NOT_FOUND' })
    }
    if (path.endsWith('.json')) return JSON.parse(files[path])
    if (!(path in loaded)) {
      const module = loaded[path] = { exports: {} }
      new Function('module', 'exports', 'require', files[path])(module, module.exports, require)
    }
    return loaded[path].exports
  }
  return {
    /** Milliseconds to the next timer, or -1. */
    wait() {
      timers.sort((left, right) => left.due - right.due || left.id - right.id)
      return timers.length === 0 ? -1 : Math.max(0, timers[0].due - now())
    },
    fire() {
      const timer = timers.shift()
      if (timer === undefined) return
      if (timer.every > 0) timers.push({ ...timer, due: now() + timer.every })
      timer.task()
    },
    exitCode: () => process.exitCode ?? 0,
  }
})`
