import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'coa-store-'))
  // Not an `afterEach` in this file: where tests share modules, only the first of them would register it.
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
