import { existsSync } from 'node:fs'
import { EngineError } from '../checkpoint/index.ts'

/** A file that is there may be anything; it is never replaced. */
export function refuseToOverwrite(file: string): void {
  if (!existsSync(file)) return
  throw new EngineError(`${file} is there already`, { fix: 'Name another file, or remove this one first.' })
}
