/** Fails if a source file has more than 400 lines. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const LIMIT = 400
const list = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts', '*.tsx', '*.js', '*.py'], {
  encoding: 'utf8',
})
const tooLong = list
  .split('\n')
  .filter(Boolean)
  .map((file) => ({ file, lines: readFileSync(file, 'utf8').split('\n').length }))
  .filter(({ lines }) => lines > LIMIT)

for (const { file, lines } of tooLong) console.error(`${file}: ${lines} lines (limit ${LIMIT}); split it`)
if (tooLong.length > 0) process.exit(1)
console.log(`file lengths: all within ${LIMIT} lines`)
