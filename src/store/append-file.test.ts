import { fdatasyncSync, ftruncateSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { StoreError } from '../base/errors/index.ts'
import { type AppendCalls, AppendFile } from './append-file.ts'

function diskFull(): Error {
  return Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
}

/** Real calls that write only a few bytes at a time, and fail where the script says `full`. */
function scriptedCalls(script: ('full' | 'stuck' | number)[]): AppendCalls {
  let truncateFails = false
  return {
    write(fd, bytes, offset, length) {
      const step = script.shift() ?? length
      if (step === 'stuck') truncateFails = true
      if (typeof step === 'string') throw diskFull()
      return writeSync(fd, bytes, offset, Math.max(1, Math.min(step, length)))
    },
    truncate(fd, length) {
      if (truncateFails) {
        truncateFails = false
        throw diskFull()
      }
      ftruncateSync(fd, length)
    },
    sync: fdatasyncSync,
  }
}

test('contains exactly the acknowledged blocks, whatever the system calls do', () => {
  const step = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom('full' as const, 'stuck' as const))
  const block = fc.string({ minLength: 1, maxLength: 12 })
  // 2,000 runs: each writes a file.
  fc.assert(
    fc.property(fc.array(block), fc.array(step), (blocks, script) => {
      const path = join(temporaryFolder(), 'log')
      const file = new AppendFile(path, scriptedCalls(script))
      let acknowledged = ''
      for (const content of blocks) {
        try {
          expect(file.append(Buffer.from(content))).toBe(Buffer.byteLength(acknowledged))
          acknowledged += content
        } catch (error) {
          expect(error).toBeInstanceOf(StoreError)
        }
        expect(file.size).toBe(Buffer.byteLength(acknowledged))
      }
      // Once there is space again, a successful append also repairs what could not be undone before.
      script.length = 0
      file.append(Buffer.from('.'))
      file.close()
      expect(readFileSync(path, 'utf8')).toBe(`${acknowledged}.`)
    }),
    { numRuns: 2000 },
  )
})

test('reports a full disk and leaves no torn line', () => {
  const path = join(temporaryFolder(), 'log')
  const file = new AppendFile(path, scriptedCalls([99, 3, 'full']))
  file.append(Buffer.from('first\n'))
  expect(() => file.append(Buffer.from('second\n'))).toThrow(/the disk is full/)
  expect(readFileSync(path, 'utf8')).toBe('first\n')
  file.append(Buffer.from('third\n'))
  file.close()
  expect(readFileSync(path, 'utf8')).toBe('first\nthird\n')
})

test('undoes the block if sync fails', () => {
  const path = join(temporaryFolder(), 'log')
  const calls = { ...scriptedCalls([]), sync: () => expect.fail('sync failed') }
  const file = new AppendFile(path, calls)
  file.append(Buffer.from('kept\n'))
  expect(() => file.append(Buffer.from('lost\n'), true)).toThrow(StoreError)
  file.close()
  expect(readFileSync(path, 'utf8')).toBe('kept\n')
})
