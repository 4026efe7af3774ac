import { Command } from 'commander'
import { exitCodes } from './exit-codes.ts'
import { addGlobalOptions } from './globals.ts'
import { version } from './version.ts'

type Load = () => Promise<(program: Command) => void>

/** Commands by name, in the order of the help text. They are loaded on demand, because together they are a thousand files. */
const commands: Record<string, Load> = {
  quickstart: async () => (await import('./commands/quickstart.ts')).registerQuickstart,
  init: async () => (await import('./commands/init.ts')).registerInit,
  run: async () => (await import('./commands/run.ts')).registerRun,
  grammar: async () => (await import('./commands/grammar.ts')).registerGrammar,
  parse: async () => (await import('./commands/parse.ts')).registerParse,
  mask: async () => (await import('./commands/mask.ts')).registerMask,
  export: async () => (await import('./commands/export.ts')).registerExport,
  tasks: async () => (await import('./commands/tasks.ts')).registerTasks,
  check: async () => (await import('./commands/check.ts')).registerCheck,
  teach: async () => (await import('./commands/teach.ts')).registerTeach,
  import: async () => (await import('./commands/import.ts')).registerImport,
  record: async () => (await import('./commands/record.ts')).registerRecord,
  distill: async () => (await import('./commands/distill.ts')).registerDistill,
  filter: async () => (await import('./commands/filter.ts')).registerFilter,
  sft: async () => (await import('./commands/sft.ts')).registerSft,
  rl: async () => (await import('./commands/rl.ts')).registerRl,
  rollout: async () => (await import('./commands/rollout.ts')).registerRollout,
  eval: async () => (await import('./commands/eval.ts')).registerEval,
  compare: async () => (await import('./commands/compare.ts')).registerCompare,
  ablate: async () => (await import('./commands/ablate.ts')).registerAblate,
  solve: async () => (await import('./commands/solve.ts')).registerSolve,
  serve: async () => (await import('./commands/serve.ts')).registerServe,
  studio: async () => (await import('./commands/studio.ts')).registerStudio,
  deploy: async () => (await import('./commands/deploy.ts')).registerDeploy,
  publish: async () => (await import('./commands/publish.ts')).registerPublish,
  tools: async () => (await import('./commands/tools.ts')).registerTools,
  corpus: async () => (await import('./commands/corpus.ts')).registerCorpus,
  world: async () => (await import('./commands/world.ts')).registerWorld,
  model: async () => (await import('./commands/model.ts')).registerModel,
  generate: async () => (await import('./commands/generate.ts')).registerGenerate,
  engine: async () => (await import('./commands/engine.ts')).registerEngine,
  trainer: async () => (await import('./commands/trainer.ts')).registerTrainer,
  config: async () => (await import('./commands/config.ts')).registerConfig,
  completion: async () => (await import('./commands/completion.ts')).registerCompletion,
  doctor: async () => (await import('./commands/doctor.ts')).registerDoctor,
}

/** The `coa` command, with only the subcommand named by the first word, or with all of them. */
export async function buildProgram(words: readonly string[]): Promise<Command> {
  const program = new Command('coa')
    .description('Turn a multi-agent system into one model.')
    .version(version)
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
  addGlobalOptions(program)
  for (const register of await Promise.all(needed(words).map((load) => load()))) register(program)
  const codes = Object.values(exitCodes).map(({ code, meaning }) => `  ${String(code).padEnd(4)} ${meaning}`)
  program.addHelpText(
    'after',
    `\nExit codes:\n${codes.join('\n')}\n\nExamples:\n  $ coa quickstart\n  $ coa grammar show web\n  $ coa mask chain.txt --grammar web`,
  )
  return program
}

function needed([first]: readonly string[]): Load[] {
  if (first === undefined || first === '--version' || first === '-V') return []
  // Completes all commands.
  if (first === 'completion') return Object.values(commands)
  const named = Object.hasOwn(commands, first) ? commands[first] : undefined
  return named === undefined ? Object.values(commands) : [named]
}
