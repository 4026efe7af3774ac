import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Terminal } from '../../../test/cli/terminal.ts'
import { LiveScreen } from './live-screen.ts'

const lines = (...texts: string[]) => texts.map((text) => [{ text }])

test('a frame replaces the previous one, and log lines stay above it', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.record({ frame: fc.array(fc.stringMatching(/^[a-z]{0,20}$/), { minLength: 1, maxLength: 7 }) }),
          fc.record({ logged: fc.stringMatching(/^[A-Z]{1,20}$/) }),
        ),
        { maxLength: 20 },
      ),
      fc.stringMatching(/^[a-z]{1,10}$/),
      (steps, last) => {
        const terminal = new Terminal(20, 8)
        const screen = new LiveScreen(terminal.write, () => terminal)
        const logged: string[] = []
        for (const step of steps) {
          if ('logged' in step) {
            logged.push(step.logged)
            screen.above(step.logged)
          } else {
            screen.draw(lines(...step.frame))
            expect(terminal.text().slice(0, logged.length + step.frame.length)).toEqual([
              ...logged,
              ...step.frame,
            ])
            expect(
              terminal
                .text()
                .slice(logged.length + step.frame.length)
                .join(''),
            ).toBe('')
          }
        }
        expect(terminal.hasCursor).toBe(false)
        screen.close(lines(last))
        expect(terminal.text().slice(0, logged.length + 1)).toEqual([...logged, last])
        expect(
          terminal
            .text()
            .slice(logged.length + 1)
            .join(''),
        ).toBe('')
        expect([terminal.hasCursor, terminal.wraps, terminal.column]).toEqual([true, true, 0])
      },
    ),
    { numRuns: 2000 },
  )
})

test('replaces all lines after a narrower terminal has wrapped them', () => {
  const terminal = new Terminal(20, 12)
  const screen = new LiveScreen(terminal.write, () => terminal)
  screen.above('logged')
  screen.draw(lines('a'.repeat(20), 'b'.repeat(11), 'c'))
  terminal.narrow(10)
  expect(terminal.text().slice(0, 6)).toEqual([
    'logged',
    ...Array(2).fill('a'.repeat(10)),
    'b'.repeat(10),
    'b',
    'c',
  ])
  screen.draw(lines('new', 'frame'))
  expect(terminal.text().filter((line) => line !== '')).toEqual(['logged', 'new', 'frame'])
})

test('draws nothing after close', () => {
  const terminal = new Terminal(20, 5)
  const screen = new LiveScreen(terminal.write, () => terminal)
  screen.draw(lines('frame'))
  screen.close()
  screen.close(lines('again'))
  screen.draw(lines('again'))
  expect(terminal.text().join('')).toBe('')
})
