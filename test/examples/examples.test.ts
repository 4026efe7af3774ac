import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'

const folder = new URL('../../examples/', import.meta.url)
const programs = readdirSync(folder).filter((name) => name.endsWith('.ts'))

it('there are some', () => expect(programs.length).toBeGreaterThanOrEqual(8))

// Each checks itself.
it.each(programs)('%s runs', async (name) => {
  await import(new URL(name, folder).href)
})
