import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readToml } from '../../settings/index.ts'
import { EngineError } from '../checkpoint/index.ts'

/** The Python sources, at the same path in the repository and in the installed package. */
export function trainerSource(): { folder: string; packages: string[] } {
  const root = fileURLToPath(new URL('../../../trainer', import.meta.url))
  const project = join(root, 'pyproject.toml')
  if (!existsSync(join(root, 'src', 'coa_trainer')) || !existsSync(project))
    throw new EngineError(`The trainer's Python sources are not at ${root}.`, {
      fix: 'Reinstall the package.',
    })
  const { dependencies } = (readToml(project) as { project: { dependencies: string[] } }).project
  return { folder: join(root, 'src'), packages: dependencies }
}
