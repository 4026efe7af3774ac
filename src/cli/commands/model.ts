import type { Command } from 'commander'
import { registerModelConvert } from './model-convert.ts'
import { registerModelInspect } from './model-inspect.ts'
import { registerModelNew } from './model-new.ts'

export function registerModel(program: Command): void {
  const model = program.command('model').description('model folders: look into one, make one, convert one')
  registerModelInspect(model)
  registerModelNew(model)
  registerModelConvert(model)
}
