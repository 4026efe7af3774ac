import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { commandTree } from '../../src/cli/completion/command-tree.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { cleanEnvironment } from '../cli/coa.ts'
import { isFull } from '../how-many.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const notebook = JSON.parse(readFileSync(join(root, 'examples/notebook/coa.ipynb'), 'utf8')) as {
  nbformat: number
  cells: {
    id: string
    cell_type: 'code' | 'markdown'
    source: string[]
    outputs?: unknown[]
    execution_count?: null
  }[]
}
const code = notebook.cells
  .filter(({ cell_type }) => cell_type === 'code')
  .map(({ source }) => source.join(''))

it('has the format that Jupyter reads, and no outputs', () => {
  expect(notebook.nbformat).toBe(4)
  expect(new Set(notebook.cells.map(({ id }) => id)).size).toBe(notebook.cells.length)
  for (const { cell_type, source, outputs, execution_count } of notebook.cells) {
    expect(source.join('').trim()).not.toBe('')
    if (cell_type === 'code')
      expect({ outputs, execution_count }).toEqual({ outputs: [], execution_count: null })
  }
})

it('calls commands and options that exist', async () => {
  const tree = commandTree(await buildProgram(['completion']))
  const lines = code.flatMap((cell) => [...cell.matchAll(/\bcoa\(f?"([^"]+)"\)/g)].map(([, line]) => line!))
  expect(lines.length).toBeGreaterThan(8)
  for (const line of lines) {
    const words = line.split(' ')
    // The longest command that the line begins with.
    const command = tree.findLast(({ path }) => `${line} `.startsWith(`${path} `) || path === '')!
    const known = new Set(command.options.flatMap(({ flags }) => flags))
    expect(command.path === '' && !line.startsWith('--'), line).toBe(false)
    expect(
      words.filter((word) => word.startsWith('-') && !known.has(word)),
      line,
    ).toEqual([])
  }
})

it('links to pages that exist', () => {
  const text = notebook.cells.map(({ source }) => source.join('')).join('\n')
  for (const [, target] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g))
    expect(existsSync(join(root, 'examples/notebook', target!)), target).toBe(true)
})

// Its commands are those of examples/from-paper, which always runs.
const hasPython = spawnSync('python3', ['--version']).status === 0
if (isFull && !hasPython) console.warn('SKIPPED: the cells of examples/notebook; there is no python3')

it.skipIf(!isFull || !hasPython)('runs, cell after cell, in plain Python', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coa-notebook-'))
  try {
    const script = join(folder, 'cells.py')
    writeFileSync(script, code.join('\n\n'))
    const { stdout } = await promisify(execFile)('python3', [script], {
      env: {
        ...cleanEnvironment(),
        COA: `${process.execPath} ${join(root, 'bin/coa.js')}`,
        NOTEBOOK_FOLDER: folder,
        NOTEBOOK_TASKS: '6',
        NOTEBOOK_COMPARED: '1',
        COA_SFT_MAX_STEPS: '1',
        COA_RL_TASK_COUNT: '2',
        COA_RL_MINI_BATCHES: '1',
        COA_ROLLOUT_MAX_TOKENS: '60',
        COA_ENGINE_THREADS: '1',
        COA_TOOLS_TIMEOUT_S: '300',
      },
      maxBuffer: 2 ** 26,
    })
    expect(stdout).toMatch(/masked <observation>.*loss: \d.*manager-careful.*open .*report\.html/s)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
