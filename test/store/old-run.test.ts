import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { streamTokens } from '../../src/agent/index.ts'
import { isWellFormed, loadGrammar, parseChain } from '../../src/language/grammar/index.ts'
import { isTrained, streamText } from '../../src/schema/index.ts'
import { examplesOf } from '../../src/stages/rl/examples.ts'
import { openRun, readSelection } from '../../src/store/index.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

/** A run as version 0.1.0 wrote it, with sequences and rollouts of version 1. */
const stored = fileURLToPath(new URL('old-run', import.meta.url))

function openOld() {
  const folder = join(temporaryFolder(), 'old')
  cpSync(stored, folder, { recursive: true })
  return openRun(folder, { write: true })
}

it('a sequence of an earlier version is read as a stream, and is still the one the filter kept', async () => {
  using run = openOld()
  const [selected] = [...readSelection(run)]
  const { sequence } = selected!
  expect(sequence.v).toBe(2)
  const chain = parseChain(await loadGrammar(sequence.grammar), streamText(sequence), { strict: true })
  expect(isWellFormed(chain)).toBe(true)
  expect(sequence.spans.length).toBe(chain.blocks.length)
  for (const span of sequence.spans) {
    expect(isTrained(span)).toBe(!span.text.includes('<observation>'))
    expect('events' in span.origin && span.origin.events.length).toBeGreaterThan(0)
  }
})

it('a rollout of an earlier version keeps its text, its tokens and what it cost', () => {
  using run = openOld()
  const rollouts = [...run.scan('rollout')]
  expect(rollouts.map(({ v }) => v)).toEqual([2, 2, 2])
  const [whole, shortened] = rollouts
  expect(whole!.spans.map(({ kind }) => kind)).toEqual(['role', 'observation', 'role'])
  expect(whole!.spans[1]!.text).toMatch(/^\n<observation>[^<]*<\/observation>\n$/)
  expect(streamText(whole!)).toMatch(/^<plan>[\s\S]*<\/answer>\s*$/)
  const [prompt, first, seen, last] = [
    whole!.promptTokens!,
    ...whole!.spans.map(({ tokens }) => tokens!),
  ].map(({ length }) => length) as [number, number, number, number]
  expect(streamTokens(whole!)).toMatchObject({
    requests: 2,
    once: prompt + first + seen + last,
    billed: prompt + first + (prompt + first + seen + last),
  })
  expect(shortened!.spans[1]!.shortened).toMatchObject({ request: 1 })
  expect(streamTokens(shortened!).tool).toBe(3)
  expect(examplesOf(whole!, 1)).toHaveLength(1)
  expect(examplesOf(shortened!, 1)).toHaveLength(2)
})

it('a rollout that was stored without tokens keeps its text', () => {
  using run = openOld()
  const bare = run.get('rollout', 'bare')!
  expect(streamText(bare)).toContain('<observation>')
  expect(() => examplesOf(bare, 1)).toThrow('does not begin with a prompt')
})
