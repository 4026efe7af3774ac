import { existsSync } from 'node:fs'
import { EngineError } from '../checkpoint/index.ts'

/** An existing file is never replaced. */
export function refuseToOverwrite(file: string): void {
  if (!existsSync(file)) return
  throw new EngineError(`${file} already exists`, { fix: 'Choose another file, or delete this one first.' })
}
