/**
 * Runs the benchmarks: `npm run bench -- [name …] [--json]`. Each compares alternatives within one run, so the ratios
 * hold on any machine; the absolute numbers are specific to this one.
 */
import { readdirSync } from 'node:fs'
import { arch, cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import type { BenchResult } from './bench-result.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: 'boolean' } } })
const available = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.replace('.bench.ts', ''))
const unknown = positionals.filter((name) => !available.includes(name))
if (unknown.length > 0) {
  console.error(`unknown benchmark ${unknown.join(', ')}; available: ${available.join(', ')}`)
  process.exit(2)
}

const machine = `${cpus().length} × ${cpus()[0]?.model ?? arch()}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node ${process.version}`
const report: Record<string, BenchResult[]> = {}
if (!values.json) console.log(`${machine}\n`)
for (const name of positionals.length > 0 ? positionals : available) {
  const benchmark = (await import(`./${name}.bench.ts`)) as { run: () => Promise<BenchResult[]> }
  report[name] = await benchmark.run()
  if (values.json) continue
  console.log(`| ${name} | value | goal |\n|---|---:|---|`)
  for (const { name: label, value, unit, goal, met, note } of report[name]) {
    const verdict = goal === undefined ? '' : `${goal}: ${met ? 'met' : 'NOT MET'}`
    const shown = `${value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)} ${unit}`
    console.log(`| ${label}${note === undefined ? '' : ` (${note})`} | ${shown} | ${verdict} |`)
  }
  console.log()
}
if (values.json) console.log(JSON.stringify({ machine, report }, null, 2))
