import { mkdtempSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { recordsOf } from './support/records.ts'
import { importParquet } from '../../src/store/parquet-import.ts'
import { writeParquet } from '../../src/store/parquet-write.ts'
const kind = process.argv[2] as 'trajectory'
const file = mkdtempSync('/tmp/coa-fuzz-') + '/o.parquet'
const norm = (x: unknown) => JSON.parse(JSON.stringify(x))
try {
await fc.assert(fc.asyncProperty(fc.uniqueArray(recordsOf(kind), { maxLength: 8, selector: ({ id }) => id }), async (originals) => {
  writeParquet(file, kind, () => originals)
  const back = []
  for await (const r of importParquet(file, kind)) back.push(r)
  if (!isDeepStrictEqual(norm(back), norm(originals))) throw new Error('differs ' + JSON.stringify(back) + ' <> ' + JSON.stringify(originals))
}), { numRuns: Number(process.argv[3]) })
console.log(kind, 'ok')
} catch (e) { console.log(kind, String((e as Error).message).slice(0, 3000), String((e as any).cause).slice(0,2000)) }
