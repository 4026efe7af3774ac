import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { builtinGrammars } from '../../src/language/grammar/index.ts'
import { byteTokenizer, encodePrompt } from '../../src/language/tokens/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import type { Task, Trajectory } from '../../src/schema/index.ts'
import { type Surroundings, solveAsTeam, type Team, teamOf } from '../../src/stages/teach/index.ts'
import { createRun, type Run } from '../../src/store/index.ts'
import { serveWorld, suites, worldTools } from '../../src/tasks/index.ts'
import { buildCorpus } from '../../src/world/tools/index.ts'

export const signal = new AbortController().signal
export const observe = (): void => {}

/** Shared by all effects of a test file. */
export const folder = mkdtempSync(join(tmpdir(), 'coa-settings-'))
const library = await serveWorld()
afterAll(async () => {
  await library.close()
  rmSync(folder, { recursive: true, force: true })
})

let runs = 0
export const newRun = (): Run =>
  createRun(join(folder, 'runs'), { id: `r${runs++}`, command: 'test', coa: '0' })

/** Three documents about lights, to search and read. */
async function makeCorpus(): Promise<{ file: string; sources: string[] }> {
  const pages = join(folder, 'pages')
  mkdirSync(pages)
  for (const name of ['red', 'green', 'white'])
    writeFileSync(join(pages, `${name}.md`), `# The ${name} light\n\nThe ${name} light stands at the harbor.`)
  const file = join(folder, 'corpus.db')
  await buildCorpus(file, [pages])
  return { file, sources: ['red', 'green', 'white'].map((name) => join(pages, `${name}.md`)) }
}
export const corpus = await makeCorpus()

export const searchTask: Task = suites
  .get('search')!
  .generate({ seed: 11, split: 'train', index: 1, level: 3 })

const tokenizer = byteTokenizer()

/** A team at work on a generated task, with the tools it brings along. */
export function worked(team: Team): Promise<Trajectory> {
  const around: Surroundings = {
    grammar: builtinGrammars.get(searchTask.domain)!,
    tools: worldTools(library),
    countTokens: (messages, written) => ({
      prompt: encodePrompt(tokenizer, messages).length,
      completion: tokenizer.encodeIds(written, { specials: 'text' }).length,
    }),
    check: {},
    signal,
  }
  return solveAsTeam(searchTask, team, 1, around)
}

export const trajectory = await worked(await teamOf(ProjectConfig.parse({})))
