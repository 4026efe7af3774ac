import { type Command, Option } from 'commander'
import { openRun } from '../../store/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { newRun } from '../new-run.ts'
import { nextLines } from '../next.ts'
import { emit, mark, table } from '../output.ts'
import { showProgress } from '../progress.ts'
import { settingsForRun } from '../run-settings.ts'
import { worldSections } from '../settings-sections.ts'

interface TeachOptions extends GlobalOptions {
  topology?: string
  mind?: string
  concurrency?: string
  suites?: string
  number?: string
  dryRun?: boolean
}

const COMMAND = 'coa teach'

export function registerTeach(program: Command): void {
  program
    .command('teach')
    .argument('[run]', 'run to resume, or to take tasks from (default: create a new run)')
    .description('have a team of agents solve tasks with real tools, and record everything')
    .option(
      '--topology <name>',
      'manager, pipeline, debate, refine, or your own .ts file (default: teach.topology)',
    )
    .addOption(
      new Option(
        '--mind <name>',
        'what plays the agents: the scripts careful or erring, or the [teacher] model; student: no team, the student solves the tasks alone (default: teach.mind)',
      ).choices(['careful', 'erring', 'model', 'student']),
    )
    .option('--suites <names>', 'sources of tasks, separated by commas (default: tasks.suites)')
    .option('-n, --number <count>', 'number of tasks per suite (default: tasks.count)')
    .option('--concurrency <count>', 'concurrent teams (default: teach.concurrency)')
    .option('--dry-run', 'report what would be done, but do nothing')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa teach --suites math,search -n 50',
        '  $ coa teach latest                       # resume',
        '  $ coa teach --topology debate --mind erring -n 20',
        '  $ coa teach --mind model --set teacher.base_url=http://localhost:8001/v1 --set teacher.model=qwen3',
        '  $ coa teach --mind model --set teacher.model=models/qwen     # a folder, on the engine of [engine]',
        '  $ coa teach latest --mind student --set teach.runs=8         # the student alone; keep what is correct',
      ].join('\n'),
    )
    .action(async (name: string | undefined, _options, command: Command) => {
      const options = command.optsWithGlobals<TeachOptions>()
      const { dir, config } = settingsForRun(options, name, {
        flags: {
          'teach.topology': options.topology,
          'teach.mind': options.mind,
          'teach.concurrency': options.concurrency,
          'tasks.suites': options.suites,
          'tasks.count': options.number,
        },
        kind: 'tasks',
        uses: (config, dir) => [
          ...worldSections,
          'teach',
          'teacher',
          'engine',
          ...(config.teach.mind === 'student' ? (['student', 'rollout'] as const) : []),
          ...(countTasks(dir) === 0 ? (['tasks'] as const) : []),
        ],
      })
      const { runStage, teach } = await import('../../pipeline/index.ts')
      const { trainingTasks } = await import('../../tasks/index.ts')
      const { assertTeachable } = await import('../../stages/teach/index.ts')
      const { suites, count } = config.tasks
      const isStudent = config.teach.mind === 'student'
      if (options.dryRun === true) {
        const tasks = dir === undefined ? suites.length * count : countTasks(dir)
        const runs = tasks * config.teach.runs
        const team = isStudent ? 'student' : `${config.teach.topology}-${config.teach.mind}`
        emit(
          options,
          { tasks, runs, team },
          () =>
            `${runs} ${isStudent ? 'rollouts of the student' : `team runs (${team})`} on ${tasks} tasks; dry run: nothing was done`,
        )
        return
      }
      const observe = showProgress()
      const onFinding = (text: string): void => {
        observe.done()
        process.stderr.write(`${text}\n`)
      }
      const { run, summary } = await interruptible(async (signal) => {
        const isNew = dir === undefined || countTasks(dir) === 0
        const tasks = isNew ? await trainingTasks({ config, observe, signal, onFinding }) : []
        // Fail before an empty run is created.
        if (isNew) await assertTeachable(config, tasks)
        using run =
          dir === undefined ? newRun(config, COMMAND) : openRun(dir, { write: true, command: COMMAND })
        for (const task of tasks) run.append('task', task)
        const { figures } = await runStage(teach, { run, config, signal, observe, onFinding })
        return { run: { id: run.id, dir: run.dir }, summary: figures }
      }).finally(observe.done)
      emit(options, { run: run.id, dir: run.dir, ...summary }, () =>
        [
          `${mark.good} ${run.dir}`,
          table(Object.entries(summary).map(([key, value]) => [`  ${key}`, value.toLocaleString('en')])),
          '',
          ...nextLines([[isStudent ? 'filter' : 'distill', run.id]]),
        ].join('\n'),
      )
    })
}

function countTasks(dir: string): number {
  using run = openRun(dir)
  return run.count('task')
}
