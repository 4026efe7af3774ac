/**
 * Which files one trajectory passes through on its way from task to report, and in which shapes. The method runs once, on
 * tiny sizes, with V8's coverage on; a file is on the path if one of its functions ran and it imports the type of a
 * record or of a training example. Prints the list, or writes it into docs/architecture.md with --write.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = join(root, 'docs', 'architecture.md')
const [begin, end] = ['<!-- path: made by scripts/trajectory-path.ts -->', '<!-- end of path -->']

/** What is stored, or passed from one part to the next. */
const shapes: Record<string, string> = {
  Task: 'a question, its gold answer and how it is checked',
  Trajectory: "a team's run, event by event",
  Stream: 'a prompt and spans: what the run was distilled into',
  Selection: 'which sequences the filter kept, and how often each counts',
  TrainingExample: 'tokens with loss weights, as the engine takes them',
  Checkpoint: 'a model folder with its lineage',
  Rollout: 'a stream that the student wrote, with how it was sampled',
  EvalAttempt: "one solver's try at one task",
  EvalReport: 'accuracy, tokens and intervals of all solvers',
}
/** Parts of these records, and names that stand for them. */
const partOf: Record<string, string> = {
  Gold: 'Task',
  TrajectoryEvent: 'Trajectory',
  Span: 'Stream',
  Selected: 'Selection',
  SolverReport: 'EvalReport',
}

const tiny = {
  'tasks.count': 4,
  'tasks.test_count': 1,
  'tasks.dev_count': 0,
  'rollout.max_tokens': 60,
  'sft.max_steps': 1,
  'rl.steps': 1,
  'rl.groups': 1,
  'rl.group_size': 2,
  'rl.task_count': 1,
  'rl.dynamic_sampling': false,
}

interface Script {
  url: string
  functions: { ranges: { count: number }[] }[]
}

const ran = filesThatRan()
const path = new Map<string, Set<string>>()
for (const file of ran) {
  const found = shapesIn(file)
  if (found.size > 0) path.set(file, found)
}
const text = listing()
if (process.argv.includes('--write')) {
  const old = readFileSync(page, 'utf8')
  const [from, to] = [old.indexOf(begin), old.indexOf(end)]
  if (from === -1 || to === -1) throw new Error(`${page} has no place for the path`)
  writeFileSync(page, `${old.slice(0, from)}${begin}\n${text}${old.slice(to)}`)
} else console.log(text)

/** Source files of which at least one function was called: the first function of a script is its top level. */
function filesThatRan(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'coa-path-'))
  try {
    const settings = Object.entries(tiny).flatMap(([name, value]) => ['--set', `${name}=${value}`])
    const command = [join(root, 'bin', 'coa.js'), 'quickstart', '--fast', ...settings]
    const { status, stderr } = spawnSync(process.execPath, command, {
      cwd: folder,
      env: { ...process.env, NODE_V8_COVERAGE: join(folder, 'coverage') },
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(stderr)
    const sources = new Set<string>()
    for (const name of readdirSync(join(folder, 'coverage'))) {
      const { result } = JSON.parse(readFileSync(join(folder, 'coverage', name), 'utf8')) as {
        result: Script[]
      }
      for (const { url, functions } of result) {
        if (!url.startsWith('file:') || !functions.slice(1).some(({ ranges }) => ranges[0]!.count > 0))
          continue
        const file = relative(root, fileURLToPath(url))
        if (file.startsWith('src/') && !file.startsWith('src/schema/')) sources.add(file)
      }
    }
    return [...sources].sort()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The shapes whose types a file imports from where they are defined. */
function shapesIn(file: string): Set<string> {
  const found = new Set<string>()
  const source = readFileSync(join(root, file), 'utf8')
  for (const [, names, from] of source.matchAll(/import\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'(\.[^']+)'/g)) {
    const target = relative(root, resolve(root, dirname(file), from!))
    if (!/^src\/(schema|engine|store|stages\/\w+)\//.test(target)) continue
    for (const entry of names!.split(',')) {
      const name = entry
        .trim()
        .replace(/^type /, '')
        .split(' as ')[0]!
      const shape = partOf[name] ?? name
      if (Object.hasOwn(shapes, shape)) found.add(shape)
    }
  }
  return found
}

function listing(): string {
  const folders = Map.groupBy(path.keys(), (file) => dirname(file))
  const rows = [...folders].map(([folder, files]) => {
    const names = files.map((file) => file.slice(folder.length + 1, -'.ts'.length))
    return `| \`${folder}\` | ${files.length} | ${names.join(', ')} |`
  })
  const used = Object.entries(shapes).filter(([shape]) =>
    [...path.values()].some((found) => found.has(shape)),
  )
  return `From task to report, ${path.size} files handle one of ${used.length} shapes (${ran.length} files of \`src\` run in all):

| shape | |
|---|---|
${used.map(([shape, meaning]) => `| \`${shape}\` | ${meaning} |`).join('\n')}

| folder | files | |
|---|---:|---|
${rows.join('\n')}
`
}
