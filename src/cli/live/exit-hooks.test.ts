import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

const file = new URL('./exit-hooks.ts', import.meta.url).href

/** Runs a program, sends it a signal whenever it writes "?", and returns its output and how it exited. */
async function runProgram(body: string, signals: NodeJS.Signals[]) {
  const source = `import { onExit } from ${JSON.stringify(file)}
const remove = onExit(() => process.stdout.write('cleaned '))
${body}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let written = ''
  child.stdout.on('data', (data: Buffer) => {
    written += data.toString()
    while (written.includes('?') && signals.length > 0) {
      written = written.replace('?', '')
      child.kill(signals.shift())
    }
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { written: written.trim(), code, signal }
}

const wait = 'setTimeout(() => {}, 60_000); process.stdout.write("?")'

test.each(['SIGINT', 'SIGTERM'] as const)(
  'cleans up on %s without a handler, and the signal kills the process',
  async (name) => {
    expect(await runProgram(wait, [name])).toEqual({ written: 'cleaned', code: null, signal: name })
  },
)

test('leaves a signal to a `once` handler; the next one kills the process', async () => {
  const body = `process.once('SIGINT', () => process.stdout.write('handled ?')); ${wait}`
  expect(await runProgram(body, ['SIGINT', 'SIGINT'])).toEqual({
    written: 'handled cleaned',
    code: null,
    signal: 'SIGINT',
  })
})

test('cleans up at a normal exit and on process.exit', async () => {
  expect(await runProgram('process.exitCode = 3', [])).toMatchObject({ written: 'cleaned', code: 3 })
  expect(await runProgram('process.exit(4)', [])).toMatchObject({ written: 'cleaned', code: 4 })
})

test('does nothing after it is removed', async () => {
  expect(await runProgram(`remove(); ${wait}`, ['SIGINT'])).toEqual({
    written: '',
    code: null,
    signal: 'SIGINT',
  })
})
