import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Language, projectGrammars } from '../../language/grammar/index.ts'
import type { Run } from '../../store/index.ts'
import { languageOf } from '../../world/index.ts'
import type { Findings } from './check-findings.ts'
import type { Row, TaskFormat } from './format.ts'
import { taskRow } from './formats/verl-rl.ts'
import type { ExportManifest } from './manifest.ts'
import { readRows } from './row-file.ts'
import { promptOf, whyNotWritten } from './run.ts'

/** Checks that every task of the run is in its file, with question, prompt and gold answer, in order. */
export async function compareTasks(
  folder: string,
  format: TaskFormat,
  manifest: ExportManifest,
  { run, language = {} }: { run: Run; language?: Language },
  findings: Findings,
): Promise<void> {
  const grammarNamed = projectGrammars(languageOf(language, run))
  const readers = new Map<string, AsyncGenerator<Row>>()
  const positions = new Map<string, number>()
  for (const task of run.scan('task')) {
    if (whyNotWritten(task) !== undefined) continue
    const name = format.file(task)
    if (!manifest.files.some((file) => file.name === name)) {
      findings.problem(`${task.id}: there is no ${name}`)
      continue
    }
    const rows = readers.get(name) ?? readRows(join(folder, name), format.columns)
    readers.set(name, rows)
    const index = positions.get(name) ?? 0
    positions.set(name, index + 1)
    const next = await rows.next()
    if (next.done === true) {
      findings.problem(`${task.id}: its row is missing`)
      continue
    }
    findings.rows += 1
    if (isDeepStrictEqual(next.value, taskRow(task, index, await promptOf(task, grammarNamed))))
      findings.same += 1
    else findings.problem(`row ${index + 1} of ${name} is not the task ${task.id}`)
  }
  for (const [name, rows] of readers) {
    if ((await rows.next()).done !== true) findings.problem(`${name} has more rows than there are tasks`)
  }
}
