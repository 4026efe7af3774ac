import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { logFormats } from '../../src/logs/index.ts'

const folder = new URL('.', import.meta.url)

/** In which tests 10,000 random logs of a format are read and nothing is lost: `expectConserved` is part of reading them there. */
const properties: Readonly<Record<string, string>> = {
  mlflow: 'mlflow',
  openinference: 'openinference',
  otlp: 'otlp',
  'rl-rollouts': 'rollouts',
  atif: 'rollouts',
}

it.each(logFormats.map(({ name }) => name))('random logs of %s are read and conserved', (name) => {
  const file = `${properties[name] ?? name}.test.ts`
  expect(readdirSync(folder)).toContain(file)
  const test = readFileSync(new URL(file, folder), 'utf8')
  expect(test).toMatch(/howMany\((?:10_000|2500)\)|checkConvention\(/)
  // What is printed has no keys to put words under; its own test puts lines between.
  expect(test).toMatch(/\b(?:readWith|runsIn|readAll|trajectoryOf|readsWhole|checkConvention)\(/)
  expect(test).toContain(name)
})
