import type { Command } from 'commander'
import { registerModelConvert } from './model-convert.ts'
import { registerModelExport } from './model-export.ts'
import { registerModelImport } from './model-import.ts'
import { registerModelInspect } from './model-inspect.ts'
import { registerModelMergeLora } from './model-merge-lora.ts'
import { registerModelNew } from './model-new.ts'
import { registerModelPull } from './model-pull.ts'

export function registerModel(program: Command): void {
  const model = program
    .command('model')
    .description('download, inspect, create, convert, export, import and merge models')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa model pull qwen2.5-coder-0.5b\n  $ coa model new models/tiny\n  $ coa model inspect models/tiny',
    )
  registerModelPull(model)
  registerModelInspect(model)
  registerModelNew(model)
  registerModelConvert(model)
  registerModelExport(model)
  registerModelImport(model)
  registerModelMergeLora(model)
}
