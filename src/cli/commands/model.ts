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
    .description('model folders: look into one, make, convert, export, import, merge')
  registerModelInspect(model)
  registerModelNew(model)
  registerModelConvert(model)
  registerModelExport(model)
  registerModelImport(model)
  registerModelMergeLora(model)
}
