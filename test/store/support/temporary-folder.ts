import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'coa-store-'))
  // Not an `afterEach` of this file: where tests share what they load it would be known to the first of them alone.
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
