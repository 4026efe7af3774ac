import { failed, flooded, type HostileCase, outOfMemory, survived, timedOut } from './hostile-case.ts'

const native = ['bubblewrap'] as const
const wasm = ['quickjs'] as const

const attempts = (lines: string[]): string => `
for (const source of ${JSON.stringify(lines)}) {
  try {
    const value = (0, eval)(source)
    console.log(value === undefined || value === null ? 'nothing' : 'LEAK ' + source + ' -> ' + String(value).slice(0, 200))
  } catch (error) {
    console.log('stopped', String(error).slice(0, 80))
  }
}
console.log('done')
`

export const hostileJavascript: HostileCase[] = [
  {
    name: 'spinning',
    code: () => 'for (;;) { try { for (;;); } catch {} }',
    limits: { wallMs: 700 },
    expect: timedOut,
  },
  {
    name: 'endless promises',
    code: () => 'const again = () => Promise.resolve().then(again); again()',
    limits: { wallMs: 700 },
    expect: timedOut,
  },
  {
    name: 'endless timers',
    code: () => 'setInterval(() => {}, 5)',
    limits: { wallMs: 700 },
    expect: timedOut,
  },
  {
    name: 'endless output',
    code: () => 'for (;;) require("fs").writeFileSync(1, "x".repeat(1000))',
    expect: flooded,
  },
  {
    name: 'gradual memory growth',
    code: () => 'const held = []; for (;;) held.push(new Array(100000).fill(1.5))',
    limits: { wallMs: 30_000, memoryMb: 64 },
    expect: outOfMemory,
  },
  {
    name: '10 GB at once',
    code: () =>
      'const data = new ArrayBuffer(10 * 2 ** 30); new Uint8Array(data).fill(1); console.log("LEAK")',
    limits: { wallMs: 20_000 },
    expect: failed,
  },
  {
    name: 'a string that doubles',
    code: () => 'let text = "ab"; for (;;) { text += text; text.charCodeAt(text.length - 1) }',
    limits: { wallMs: 10_000 },
    expect: failed,
  },
  {
    name: 'recursion',
    code: () => 'const again = () => again(); try { again() } catch { console.log("done") }',
    expect: survived,
  },
  {
    name: 'nested brackets',
    code: () => 'try { JSON.parse("[".repeat(1e6)) } catch {} console.log("done")',
    limits: { wallMs: 10_000 },
    expect: (result) => survived(result) || failed(result),
  },
  {
    name: 'a regular expression bomb',
    code: () => '/^(a+)+$/.exec("a".repeat(60) + "b")',
    limits: { wallMs: 700 },
    expect: timedOut,
  },
  { name: 'a huge number', code: () => '2n ** (2n ** 32n)', limits: { wallMs: 2_000 }, expect: failed },
  {
    name: 'escape through constructors',
    code: ({ secret, file }) => `
const world = ({}).constructor.constructor('return this')()
const own = ({}).constructor.constructor('return process')()
console.log(JSON.stringify(own.env).includes(${JSON.stringify(secret)}) ? 'LEAK env' : 'clean')
for (const make of [() => own.mainModule.require('fs').readFileSync(${JSON.stringify(file)}, 'utf8'),
                    () => own.binding('fs').internalModuleStat(${JSON.stringify(file)}) === 0,
                    () => world.require('fs').readFileSync(${JSON.stringify(file)}, 'utf8')]) {
  try { const got = make(); if (got) console.log('LEAK', got) } catch (error) { console.log('stopped') }
}
console.log('done')`,
    expect: survived,
  },
  {
    name: 'escape through generators, proxies and getters',
    drivers: [...wasm],
    code: () => `
const found = []
for (const kind of [function () {}, async () => {}, function* () {}, async function* () {}, print, console.log, readline,
                    setTimeout, require, process.exit, Promise, Proxy, Reflect.get]) {
  try {
    const world = kind.constructor('return this')()
    for (const name of ['WebAssembly', 'Buffer', 'fetch', 'host', 'global', 'SharedWorker', 'performance']) {
      if (world[name] !== undefined) found.push(name)
    }
  } catch {}
}
console.log(found.length ? 'LEAK ' + found : 'clean')
console.log('done')`,
    expect: survived,
  },
  {
    name: 'corrupted prototypes',
    code: () => `
for (const kind of [Object, Array, String, Function, Promise, Map, Error, RegExp, Number]) {
  for (const key of Object.getOwnPropertyNames(kind.prototype)) {
    if (key !== 'constructor') try { kind.prototype[key] = () => { throw 'spoiled' } } catch {}
  }
}
Object.prototype.leftover = 'LEAK'
globalThis.leftover = 'LEAK'
throw new Error('over')`,
    expect: (result) => failed(result),
  },
  {
    name: 'traces of it in the next program',
    code: () => `
console.log(({}).leftover ?? globalThis.leftover ?? 'clean', [1, 2].map((x) => x * 2).join())
console.log('done')`,
    expect: (result) => survived(result) && result.stdout.startsWith('clean 2,4\n'),
  },
  {
    name: 'a thrown value that resists being shown',
    code: () => `
throw new Proxy({}, { get() { for (;;); }, ownKeys() { for (;;); }, getPrototypeOf() { for (;;); } })`,
    limits: { wallMs: 700 },
    expect: failed,
  },
  {
    name: 'modules of the host',
    code: ({ file }) => `
const tries = [() => require(${JSON.stringify(file)}), () => require('child_process').execSync('cat ${file}'),
  () => require('fs').readFileSync(${JSON.stringify(file)}, 'utf8'),
  () => require('fs').readFileSync('/etc/passwd', 'utf8'), () => require('fs').readFileSync('/proc/1/environ', 'utf8') || null,
  () => require('fs').readFileSync('/proc/1/root/etc/passwd', 'utf8'),
  () => require('../../../../../../..${file}'), () => process.binding('natives').fs && null,
  () => process.dlopen({ exports: {} }, '/usr/lib/x86_64-linux-gnu/libc.so.6')]
for (const attempt of tries) {
  try { const got = attempt(); if (got) console.log('LEAK', String(got).slice(0, 100)) } catch (error) { console.log('stopped') }
}
import('fs').then(({ readFileSync }) => console.log('LEAK', readFileSync(${JSON.stringify(file)}, 'utf8')))
  .catch(() => console.log('stopped')).finally(() => console.log('done'))`,
    expect: survived,
  },
  {
    name: 'writing outside',
    code: ({ folder }) => `
for (const path of ['${folder}/written', '/etc/written', '/usr/written', '/root/written', '../written']) {
  try { require('fs').writeFileSync(path, 'was here') } catch { console.log('stopped') }
}
console.log('done')`,
    expect: survived,
  },
  {
    name: 'the network',
    code: ({ port }) => `
const over = () => console.log('done')
try {
  const line = require('net').connect(${port}, '127.0.0.1', () => console.log('LEAK'))
  line.on('error', () => console.log('stopped'))
} catch { console.log('stopped') }
try {
  fetch('http://127.0.0.1:${port}/').then(() => console.log('LEAK'), () => console.log('stopped')).finally(over)
} catch { over() }`,
    limits: { wallMs: 10_000 },
    expect: survived,
  },
  {
    name: 'endless processes',
    drivers: [...native],
    code: () => `
const { spawn } = require('child_process')
let born = 0
const more = () => {
  for (let n = 0; n < 50; n++) {
    try { const child = spawn(process.execPath, ['-e', 'for(;;);'], { detached: true }); child.on('error', () => {}); born++ }
    catch {}
  }
  setTimeout(more, 1)
}
more()`,
    limits: { wallMs: 2_000 },
    expect: (result) => failed(result),
  },
  {
    name: 'endless workers',
    drivers: [...native],
    code: () => `
const { Worker } = require('worker_threads')
for (let n = 0; n < 200; n++) new Worker('for(;;);', { eval: true }).on('error', () => {})`,
    limits: { wallMs: 2_000 },
    expect: failed,
  },
  {
    name: 'forged messages',
    drivers: [...native],
    code: () => `
const text = JSON.stringify({ 'child-pid': 1, 'exit-code': 0, token: '', exit: 0 })
for (let descriptor = 3; descriptor < 64; descriptor++) {
  try { require('fs').writeSync(descriptor, text) } catch {}
}
process.exitCode = 7`,
    // Some of those descriptors belong to Node, which may crash.
    expect: failed,
  },
  {
    name: 'killing its parents',
    code: () => `
for (const pid of [process.ppid, 1, -1]) { try { process.kill(pid, 'SIGKILL') } catch {} }
process.exit(9)`,
    expect: failed,
  },
  {
    name: 'catching the exit',
    code: () => `
process.exitCode = 5
try { process.exit(6) } catch { console.log('LEAK') } finally { console.log('LEAK') }`,
    expect: (result) => result.exit === 6,
  },
  {
    name: 'a NUL in what it prints and reads',
    code: () => `
const fs = require('fs')
fs.writeFileSync('box-file', 'a\\0b\\x01c\\x010')
process.stdout.write('before\\0after\\x01' + '\\x010' + fs.readFileSync('box-file', 'utf8') + '\\n')
console.log('done')`,
    expect: (result) => result.stdout === 'before\0after\x01\x010a\0b\x01c\x010\ndone\n',
  },
  {
    name: 'special property names',
    drivers: [...wasm],
    code: () =>
      attempts([
        '__proto__.polluted',
        'this.host',
        'Error.captureStackTrace?.(this)',
        'std',
        'os',
        'bjson',
        'scriptArgs',
        'Worker',
        'loadScript',
      ]),
    expect: survived,
  },
]
