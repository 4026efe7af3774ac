import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const folder = new URL('../../examples/', import.meta.url)
const programs = readdirSync(folder).filter((name) => name.endsWith('.ts'))

it('there are some', () => expect(programs.length).toBeGreaterThanOrEqual(8))

it.each(programs)('%s needs the package, the AI SDK, Zod and Node alone', (name) => {
  const text = readFileSync(new URL(name, folder), 'utf8')
  const imported = [...text.matchAll(/(?:from|import\() ?'([^']+)'/g)].map(([, module]) => module!)
  expect(
    imported.filter(
      (module) => !/^(chain-of-agents(\/\w+)?|ai|@ai-sdk\/openai-compatible|zod|node:\S+)$/.test(module),
    ),
  ).toEqual([])
})

it('programs that shell scripts start need no build of the package, which a clone does not have', () => {
  const started = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => /[\\/].*\.ts$/.test(name))
  expect(started.length).toBeGreaterThanOrEqual(2)
  for (const name of started)
    expect(readFileSync(new URL(name.replaceAll('\\', '/'), folder), 'utf8'), name).not.toContain(
      "from 'chain-of-agents",
    )
})

// Each checks itself.
it.each(programs)('%s runs', async (name) => {
  await import(new URL(name, folder).href)
})
