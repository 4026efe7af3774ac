import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Terminal } from '../../test/cli/terminal.ts'
import type { LiveView } from './live/contract.ts'
import { openLiveView } from './live-view.ts'

const stages = ['teach', 'sft'].map((name) => ({ name, purpose: `what ${name} is for` }))
const kept = ['isTTY', 'columns', 'rows', 'write'] as const

/** Replaces properties of standard error, to simulate a terminal or its absence. */
function replaceStderr(values: Record<(typeof kept)[number], unknown>): () => void {
  const before = kept.map((name) => [name, Object.getOwnPropertyDescriptor(process.stderr, name)] as const)
  for (const name of kept)
    Object.defineProperty(process.stderr, name, { value: values[name], configurable: true, writable: true })
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(process.stderr, name)
      else Object.defineProperty(process.stderr, name, descriptor)
    }
  }
}

describe('on a terminal', () => {
  let terminal: Terminal
  let writes: number
  let restore: () => void
  let view: LiveView
  const listeners = (): number[] => ['SIGINT', 'SIGTSTP', 'exit'].map((name) => process.listenerCount(name))
  let listening: number[]

  beforeEach(() => {
    terminal = new Terminal(60, 20)
    writes = 0
    const write = (text: string): boolean => {
      writes++
      terminal.write(text)
      return true
    }
    restore = replaceStderr({ isTTY: true, columns: 60, rows: 20, write })
    listening = listeners()
    view = openLiveView(stages)
  })
  afterEach(() => {
    view.done()
    restore()
  })

  it('shows progress with log lines above it, and leaves the stages at the end', async () => {
    view.stage('teach', 'done', '32 runs')
    view.observe({ stage: 'sft', done: 1, total: 2, unit: 'steps' })
    view.metric({ stage: 'sft', step: 1, loss: 2 })
    view.trajectory('math-1')
    view.text('<think>hm', 'model')
    view.log('a log line')
    process.stderr.write('written by others\n')
    await sleep(150)
    expect(terminal.text()).toEqual([
      'a log line',
      'written by others',
      '✓ teach  32 runs',
      expect.stringMatching(/^▸ sft {4}█+░+ 50% 1\/2 steps +0:00$/),
      '  loss ▁ 2',
      `── math-1 ${'─'.repeat(50)}`,
      '  <think>hm',
    ])
    expect(terminal.hasCursor).toBe(false)
    view.done()
    expect(terminal.text().filter((line) => line !== '')).toEqual([
      'a log line',
      'written by others',
      '✓ teach  32 runs',
      expect.stringMatching(/^○ sft {4}stopped at 1\/2 steps +0:00$/),
    ])
    expect([terminal.hasCursor, terminal.wraps]).toEqual([true, true])
    expect(listeners()).toEqual(listening)
  })

  it('is redrawn at most ten times per second', async () => {
    const began = performance.now()
    for (let at = 0; at < 200; at++) {
      view.text(`${at} `, 'model')
      if (at % 50 === 49) await sleep(60)
    }
    expect(writes).toBeLessThanOrEqual(3 + (performance.now() - began) / 100)
  })

  it('can be cleared', () => {
    view.observe({ stage: 'sft', done: 1 })
    view.done({ clear: true })
    expect(terminal.text().join('')).toBe('')
  })
})

describe('without a terminal', () => {
  it('prints plain lines, and no trajectory', () => {
    let written = ''
    const write = (text: string): boolean => {
      written += text
      return true
    }
    const restore = replaceStderr({ isTTY: undefined, columns: undefined, rows: undefined, write })
    try {
      const view = openLiveView(stages)
      view.stage('teach', 'running')
      view.text('<think>', 'model')
      view.log('a log line')
      view.stage('teach', 'done', '32 runs')
      view.stage('sft', 'failed')
      view.done()
    } finally {
      restore()
    }
    expect(written).toBe('a log line\n✓ teach: 32 runs\n✗ sft\n')
  })
})
