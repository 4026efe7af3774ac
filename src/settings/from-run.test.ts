import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { ProjectConfig, settingsFromRun } from '../pipeline/settings.ts'
import { resolveConfig, settingsOf } from './resolve.ts'
import { isTable } from './table-text.ts'
import { writeToml } from './toml.ts'

/** What is taken from a run with these settings, for a user with settings `mine`. */
function from(run: Record<string, Record<string, unknown>>, mine: Record<string, unknown> = {}) {
  const file = join(temporaryFolder(), 'config.toml')
  writeFileSync(file, writeToml(run))
  const { taken, withheld } = settingsFromRun(file, resolveConfig(ProjectConfig, { flags: mine }))
  return { taken: Object.fromEntries(taken), withheld }
}

const texts = [...settingsOf(ProjectConfig)].filter(
  ([, schema]) =>
    !(schema instanceof z.ZodNumber || schema instanceof z.ZodBoolean || schema instanceof z.ZodEnum),
)

it('takes arbitrary text only if it has no meaning outside coa', () => {
  const takesAnything = texts.flatMap(([key, schema]) => {
    const [section, name] = key.split('.') as [string, string]
    const evil = ['runs/x/evil.mts', 'http://attacker/v1', '/etc/passwd', '..', 'ANY_VARIABLE.x']
    const isTaken = evil.map((text) => {
      const value = schema instanceof z.ZodArray ? [text] : isTable(schema) ? { [text]: text } : text
      return key in from({ [section]: { [name]: value } }).taken
    })
    return isTaken.includes(true) ? [key] : []
  })
  // A setting added here must not identify a file, server, program or variable.
  expect(takesAnything.sort()).toEqual([
    'distill.map',
    'eval.add_tools',
    'eval.prices',
    'eval.remove_tools',
    'filter.check_agents',
    'filter.min_interactions_by_suite',
    'filter.reflection_agents',
    'filter.reflection_required',
    'filter.skip_origins',
    'rl.pass_rate',
    'sft.context',
    'tasks.levels',
    'teach.dials',
  ])
})

it('takes only plain names for grammars, models, teams and tasks', () => {
  const names = {
    language: { grammar: 'math', tokenizer: 'nano' },
    tasks: { suites: ['math', { from: 'gsm8k', split: 'train' }] },
    teach: { topology: 'debate' },
    student: { model: 'nano' },
  }
  expect(from(names)).toEqual({
    taken: {
      'language.grammar': 'math',
      // Stored as the path of the student.
      'language.tokenizer': 'student',
      'tasks.suites': ['math', { from: 'gsm8k', split: 'train' }],
      'teach.topology': 'debate',
      'student.model': 'nano',
    },
    withheld: [],
  })
  const mixed = from({ tasks: { suites: ['math', 'mine.jsonl', { from: 'other.jsonl' }] } })
  expect(mixed.taken).toEqual({ 'tasks.suites': ['math'] })
  expect(mixed.withheld).toMatchObject([{ key: 'tasks.suites', decides: true }])
})

it('asks for settings the user has not set, and not for those that are set or equal', () => {
  const run = {
    project: { runs: '/elsewhere' },
    language: { grammar: './evil.mts', tokenizer: 'bytes' },
    teacher: { base_url: 'http://attacker/v1', key_env: 'ANY_VARIABLE', retries: 7 },
    judge: { key_env: 'OPENAI_API_KEY' },
    tools: { allow_hosts: ['169.254.169.254'], cache: '/elsewhere' },
  }
  const asked = from(run)
  expect(asked.taken).toEqual({ 'language.tokenizer': 'bytes', 'teacher.retries': 7 })
  expect(asked.withheld).toEqual([
    { key: 'language.grammar', value: './evil.mts', decides: true },
    { key: 'teacher.base_url', value: 'http://attacker/v1', decides: false },
    { key: 'teacher.key_env', value: 'ANY_VARIABLE', decides: false },
    { key: 'tools.allow_hosts', value: ['169.254.169.254'], decides: false },
  ])
  const said = from(run, {
    'language.grammar': 'web',
    'teacher.base_url': 'http://localhost:1/v1',
    'teacher.key_env': 'MINE',
    'tools.allow_hosts': 'localhost:80',
  })
  expect(said.withheld).toEqual([])
  expect(said.taken).toEqual(asked.taken)
})

it('starts no code and no server named by a run, however plain its name', () => {
  const tools = { mcp: { files: { command: ['server'], url: 'server' } }, own: { files: ['tools'] } }
  const { taken, withheld } = from({ tools })
  expect(taken).toEqual({})
  expect(withheld.map(({ key }) => key)).toEqual(['tools.mcp', 'tools.own'])
})

it('asks for nothing if a run has only defaults', () => {
  expect(from(ProjectConfig.parse({})).withheld).toEqual([])
})

it('names the server with an invalid description', () => {
  const resolve = (server: object) => () =>
    resolveConfig(ProjectConfig, { flags: { 'tools.mcp': { workshop: server } } })
  expect(resolve({})).toThrow('tools.mcp.workshop is invalid: an MCP server has either a command or a url')
  expect(resolve({ command: 'npx server' })).toThrow('tools.mcp.workshop.command is invalid')
  expect(resolve({ url: 'http://localhost/mcp' })).not.toThrow()
})
