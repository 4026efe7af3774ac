import fc from 'fast-check'
import { expect, test } from 'vitest'
import { howMany } from '../../../test/how-many.ts'
import { widthOf } from './cell-width.ts'
import { drawFrame, drawSummary, type Line } from './live-frame.ts'
import { LiveState } from './live-state.ts'

const names = ['tasks', 'teach', 'distill', 'filter', 'sft', 'rl', 'eval']
const newState = (): LiveState =>
  new LiveState(
    names.map((name) => ({ name, purpose: `what ${name} is for` })),
    0,
  )
const plain = (lines: readonly Line[]): string[] =>
  lines.map((line) =>
    line
      .map(({ text }) => text)
      .join('')
      .trimEnd(),
  )

/** In the middle of SFT. */
function busyState(): LiveState {
  const state = newState()
  state.mark('tasks', 'done', '32 tasks', 2000)
  for (const name of ['teach', 'distill', 'filter']) state.progress({ stage: name, done: 1, total: 1 }, 3000)
  state.progress({ stage: 'sft', done: 12, total: 48, unit: 'steps' }, 10_000)
  for (const loss of [4, 3, 2, 1]) state.metric({ stage: 'sft', step: 1, loss, learningRate: 1 })
  state.trajectory('math-1')
  state.text('<think>Let the machine do it.</think>\n', 'model')
  state.text('\n<observation>42</observation>\n', 'tool')
  return state
}

test('shows stages with a progress bar, the curve of the running stage, and the trajectory', () => {
  expect(plain(drawFrame(busyState(), { columns: 60, rows: 24 }, 75_000))).toEqual([
    '✓ tasks    32 tasks',
    '✓ teach    what teach is for                            0:00',
    '✓ distill  what distill is for                          0:00',
    '✓ filter   what filter is for                           0:07',
    '▸ sft      ███░░░░░░░ 25% 12/48 steps                   1:05',
    '○ rl       what rl is for',
    '○ eval     what eval is for',
    '  loss █▆▃▁ 4 → 1',
    '── math-1 ──────────────────────────────────────────────────',
    '  <think>Let the machine do it.</think>',
    '┆ <observation>42</observation>',
  ])
})

test('on a small terminal, shows the running stage, the curve and the end of the text', () => {
  expect(plain(drawFrame(busyState(), { columns: 40, rows: 12 }, 75_000))).toEqual([
    '✓ 3 before',
    '✓ filter   what filter is for       0:07',
    '▸ sft      █░░░░ 25% 12/48 steps    1:05',
    '○ rl       what rl is for',
    '○ eval     what eval is for',
    '  loss █▆▃▁ 4 → 1',
    '── math-1 ──────────────────────────────',
    '  <think>Let the machine do it.</think>',
    '┆ <observation>42</observation>',
  ])
})

test('counts stages that do not fit', () => {
  const state = newState()
  state.progress({ stage: 'distill', done: 1 }, 0)
  state.text('text', 'model')
  expect(plain(drawFrame(state, { columns: 40, rows: 9 }, 0))).toEqual([
    '✓ 2 before',
    '▸ distill  1                        0:00',
    '○ filter   what filter is for',
    '○ sft      what sft is for',
    '○ 2 to come',
    `──${'─'.repeat(38)}`,
    '  text',
  ])
})

test('leaves the stages at the end, with how far an interrupted one got', () => {
  const lines = plain(drawSummary(busyState(), 60, 75_000))
  expect(lines).toHaveLength(names.length)
  const state = busyState()
  state.progress({ stage: 'sft', done: 48, total: 48 }, 20_000)
  expect(plain(drawSummary(state, 60, 75_000))[4]).toMatch(/^✓ sft/)
  expect(lines[4]).toBe('○ sft      stopped at 12/48 steps                       1:05')
})

test('a frame always fits the terminal, and always has the running stage', () => {
  const piece = fc.record({
    text: fc.string({
      unit: fc.constantFrom('a', ' ', '\n', '日', '😀', '\u001b', '\t', 'é'),
      maxLength: 300,
    }),
    from: fc.constantFrom('model' as const, 'tool' as const),
  })
  fc.assert(
    fc.property(
      fc.integer({ min: 12, max: 120 }),
      fc.integer({ min: 2, max: 40 }),
      fc.constantFrom(...names),
      fc.array(piece, { maxLength: 6 }),
      fc.array(fc.double(), { maxLength: 60 }),
      fc.record({ done: fc.nat(), total: fc.option(fc.nat(), { nil: undefined }), unit: fc.string() }),
      (columns, rows, name, pieces, values, progress) => {
        const state = newState()
        state.progress({ stage: name, ...progress }, 0)
        for (const loss of values) state.metric({ stage: name, loss, reward_mean: -loss, accuracy: loss })
        for (const { text, from } of pieces) state.text(text, from)
        const lines = plain(drawFrame(state, { columns, rows }, 1e7))
        expect(lines.length).toBeLessThan(rows)
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: asserts that there are none
        expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
        expect(lines.filter((line) => line.startsWith('▸ '))).toHaveLength(1)
      },
    ),
    { numRuns: howMany(3000) },
  )
})
