import { Command } from 'commander'
import { registerCheck } from './commands/check.ts'
import { registerCompare } from './commands/compare.ts'
import { registerCorpus } from './commands/corpus.ts'
import { registerDistill } from './commands/distill.ts'
import { registerDoctor } from './commands/doctor.ts'
import { registerEngine } from './commands/engine.ts'
import { registerEval } from './commands/eval.ts'
import { registerExport } from './commands/export.ts'
import { registerFilter } from './commands/filter.ts'
import { registerGenerate } from './commands/generate.ts'
import { registerGrammar } from './commands/grammar.ts'
import { registerInit } from './commands/init.ts'
import { registerMask } from './commands/mask.ts'
import { registerModel } from './commands/model.ts'
import { registerParse } from './commands/parse.ts'
import { registerQuickstart } from './commands/quickstart.ts'
import { registerRl } from './commands/rl.ts'
import { registerRollout } from './commands/rollout.ts'
import { registerRun } from './commands/run.ts'
import { registerSft } from './commands/sft.ts'
import { registerSolve } from './commands/solve.ts'
import { registerTasks } from './commands/tasks.ts'
import { registerTeach } from './commands/teach.ts'
import { registerTools } from './commands/tools.ts'
import { registerTrainer } from './commands/trainer.ts'
import { registerWorld } from './commands/world.ts'
import { exitCodes } from './exit-codes.ts'
import { addGlobalOptions } from './globals.ts'
import { version } from './version.ts'

/** The `coa` command with all its subcommands. */
export function buildProgram(): Command {
  const program = new Command('coa')
    .description('Turn a multi-agent system into one model.')
    .version(version)
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
  addGlobalOptions(program)
  for (const register of [
    registerQuickstart,
    registerInit,
    registerRun,
    registerGrammar,
    registerParse,
    registerMask,
    registerExport,
    registerTasks,
    registerCheck,
    registerTeach,
    registerDistill,
    registerFilter,
    registerSft,
    registerRl,
    registerRollout,
    registerEval,
    registerCompare,
    registerSolve,
    registerTools,
    registerCorpus,
    registerWorld,
    registerModel,
    registerGenerate,
    registerEngine,
    registerTrainer,
    registerDoctor,
  ]) {
    register(program)
  }
  const codes = Object.values(exitCodes).map(({ code, meaning }) => `  ${String(code).padEnd(4)} ${meaning}`)
  program.addHelpText(
    'after',
    `\nExit codes:\n${codes.join('\n')}\n\nExamples:\n  $ coa quickstart\n  $ coa grammar show web\n  $ coa mask chain.txt --grammar web`,
  )
  return program
}
