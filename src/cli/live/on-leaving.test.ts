import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

const file = new URL('./on-leaving.ts', import.meta.url).href

/** Starts a program, sends it signals one after the other as it asks for them, and says what it wrote and how it ended. */
async function runProgram(body: string, signals: NodeJS.Signals[]) {
  const source = `import { onLeaving } from ${JSON.stringify(file)}
const undo = onLeaving(() => process.stdout.write('left '))
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
  '%s that nobody handles ends the process, after leaving',
  async (name) => {
    expect(await runProgram(wait, [name])).toEqual({ written: 'left', code: null, signal: name })
  },
)

test('a signal that someone handles once is theirs; the next ends the process', async () => {
  const body = `process.once('SIGINT', () => process.stdout.write('handled ?')); ${wait}`
  expect(await runProgram(body, ['SIGINT', 'SIGINT'])).toEqual({
    written: 'handled left',
    code: null,
    signal: 'SIGINT',
  })
})

test('an error that nobody catches and a plain end leave too', async () => {
  expect(await runProgram('process.exitCode = 3', [])).toMatchObject({ written: 'left', code: 3 })
  expect(await runProgram('process.exit(4)', [])).toMatchObject({ written: 'left', code: 4 })
})

test('undone, it does nothing', async () => {
  expect(await runProgram(`undo(); ${wait}`, ['SIGINT'])).toEqual({
    written: '',
    code: null,
    signal: 'SIGINT',
  })
})
