import type { Command } from 'commander'
import { registerModelConvert } from './model-convert.ts'
import { registerModelExport } from './model-export.ts'
import { registerModelImport } from './model-import.ts'
import { registerModelInspect } from './model-inspect.ts'
import { registerModelMergeLora } from './model-merge-lora.ts'
import { registerModelNew } from './model-new.ts'

export function registerModel(program: Command): void {
  const model = program
    .command('model')
    .description('inspect, create, convert, export, import and merge models')
    .addHelpText('after', '\nExamples:\n  $ coa model new models/tiny\n  $ coa model inspect models/tiny')
  registerModelInspect(model)
  registerModelNew(model)
  registerModelConvert(model)
  registerModelExport(model)
  registerModelImport(model)
  registerModelMergeLora(model)
}
