import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { coa, coaJson } from './coa.ts'

const recipe = readFileSync(new URL('../../recipes/quickstart.toml', import.meta.url), 'utf8')
let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'coa-cli-'))
  expect(coa(['init', '.'], { cwd }).code).toBe(0)
  expect(coa(['teach', '--suites', 'math,search,code', '-n', '1'], { cwd }).code).toBe(0)
  expect(coa(['distill', 'latest'], { cwd }).code).toBe(0)
})
afterAll(() => rmSync(cwd, { recursive: true }))

function write(name: string, text: string): string {
  writeFileSync(join(cwd, name), text)
  return name
}

describe('init', () => {
  it('creates files that the other commands accept, and does not overwrite them', () => {
    expect(coaJson<{ ok: boolean }>(['grammar', 'check', 'grammar.toml'], { cwd }).ok).toBe(true)
    expect(coaJson<{ ok: boolean }>(['parse', 'chain.txt'], { cwd }).ok).toBe(true)
    expect(coaJson<{ ok: boolean }>(['doctor'], { cwd }).ok).toBe(true)
    const settings = readFileSync(join(cwd, 'coa.toml'), 'utf8')
    expect(settings).toContain(recipe.slice(recipe.indexOf('[tasks]')))
    const again = coa(['init', '.'], { cwd })
    expect(again.code).toBe(2)
    expect(again.stderr).toContain('--force')
  })
})

describe('grammar', () => {
  it('lists and shows the built-in grammars', () => {
    const names = coaJson<{ name: string }[]>(['grammar', 'list'], { cwd }).map((grammar) => grammar.name)
    expect(names).toEqual(['web', 'multihop', 'code', 'math', 'all-tools', 'open'])
    expect(coa(['grammar', 'show', 'math', '--prompt'], { cwd }).stdout).toContain('<think>')
    expect(coa(['grammar', 'show', 'math', '--example'], { cwd }).stdout).toContain(
      '<observation>2059</observation>',
    )
    expect(coa(['grammar', 'show', 'grammar.toml'], { cwd }).stdout).toContain('<find_order>')
  })

  it('fits a grammar to a run, which the other commands accept', () => {
    const { stdout } = coa(['grammar', 'fit', 'latest', '-o', 'fitted.toml'], { cwd })
    expect(stdout).toContain('fitted.toml: 3 of 3 runs fit (100.0%)')
    expect(coaJson<{ ok: boolean }>(['grammar', 'check', 'fitted.toml'], { cwd }).ok).toBe(true)
    expect(coa(['grammar', 'fit', 'latest'], { cwd }).stdout.trim()).toBe(
      readFileSync(join(cwd, 'fitted.toml'), 'utf8').trim(),
    )
    const again = coa(['grammar', 'fit', 'latest', '-o', 'fitted.toml'], { cwd })
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('already exists')])
    const { share } = coaJson<{ share: number }>(['grammar', 'fit', 'latest', '--min-share', '0.5'], { cwd })
    expect(share).toBeLessThanOrEqual(1)
  })

  it('accepts a grammar written in TypeScript', () => {
    write(
      'mine.ts',
      "export default { name: 'mine', description: 'd', start: ['answer'], agents: [{ name: 'answer', kind: 'answer', description: 'd' }] }",
    )
    expect(coa(['parse', '-', '--grammar', 'mine.ts'], { cwd, input: '<answer>42</answer>' }).code).toBe(0)
  })

  it('lists all problems of an invalid grammar', () => {
    write(
      'broken.toml',
      'name = "b"\ndescription = "d"\nstart = ["plam"]\n[[agents]]\nname = "plan"\nkind = "role"\ndescription = "d"\nnext = ["x"]\n',
    )
    const { code, stdout } = coa(['grammar', 'check', 'broken.toml'], { cwd })
    expect(code).toBe(3)
    expect(stdout).toContain('did you mean "plan"')
    expect(stdout).toContain('exactly one agent of kind "answer"')
  })
})

describe('parse', () => {
  it('reports problems with their positions, and exits with 3', () => {
    const { code, stdout } = coa(['parse', '-', '-g', 'math'], {
      cwd,
      input: '<plan>a</plan>\n<code>1+1</code>',
    })
    expect(code).toBe(3)
    expect(stdout).toContain('2:7 missing-fence')
    expect(stdout).toContain('2:1 order: <code> is not allowed here; expected <think>')
  })

  it('prints events, one per line', () => {
    const text = '<answer>4</answer>'
    const events = coa(['parse', '-', '--events'], { cwd, input: text })
      .stdout.trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.map((event) => event.type)).toEqual([
      'agent-opened',
      'text',
      'agent-closed',
      'answer-ready',
    ])
  })
})

describe('mask', () => {
  const text = '<web_search>a</web_search>\n<observation>bc</observation>\n<answer>d</answer>'
  it('marks masked text and counts tokens', () => {
    const { stdout } = coa(['mask', '-'], { cwd, input: text })
    expect(stdout).toContain('⟦\n<observation>bc</observation>\n⟧')
    const [counted] = coaJson<{ trained: number; masked: number }[]>(['mask', '-', '-t', 'bytes'], {
      cwd,
      input: text,
    })
    // One token per byte: masked is the observation with its two line breaks, trained the rest plus the end token.
    expect(counted).toMatchObject({
      masked: '\n<observation>bc</observation>\n'.length,
      trained: text.length - 31 + 1,
    })
  })

  it("accepts a run's sequences", () => {
    write('sequences.jsonl', coa(['run', 'show', 'latest', '--kind', 'sequence', '--jsonl'], { cwd }).stdout)
    expect(coaJson<unknown[]>(['mask', 'sequences.jsonl'], { cwd }).length).toBe(3)
    write('bad.jsonl', '{"v":1}\n')
    expect(coa(['mask', 'bad.jsonl'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('bad.jsonl:1'),
    })
  })
})

describe('difficult input', () => {
  const hidden = '<think>a</think>\n<web_search>q\n<observation>SECRET</observation>\n<answer>x</answer>'
  it('warns that the mask of a malformed chain may be wrong', () => {
    const { code, stdout } = coa(['mask', '-'], { cwd, input: hidden })
    expect(code).toBe(3)
    expect(stdout).toContain('the mask may be wrong')
    expect(
      coaJson<{ problems: string[] }[]>(['mask', '-'], { cwd, input: hidden })[0]!.problems.length,
    ).toBeGreaterThan(0)
  })

  it('reads records from standard input, and reports line numbers as an editor counts them', () => {
    const record = JSON.stringify({ v: 2, id: 'a', grammar: 'web', prompt: [], spans: [] })
    expect(coaJson<unknown[]>(['mask', '-'], { cwd, input: `\ufeff\n${record}\n\n${record}\n` }).length).toBe(
      2,
    )
    write('gaps.jsonl', `\n\n${record}\n\n{"v":2}\n`)
    expect(coa(['mask', 'gaps.jsonl'], { cwd }).stderr).toContain('gaps.jsonl:5 is not a sequence: id')
  })

  it('rejects text that is not UTF-8', () => {
    writeFileSync(join(cwd, 'binary.txt'), Buffer.from([0x3c, 0xff, 0xfe, 0x00]))
    expect(coa(['parse', 'binary.txt'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('UTF-8'),
    })
  })
})

describe('--set', () => {
  it("affects every command, but a command's own options override it", () => {
    expect(coa(['parse', 'chain.txt', '--set', 'language.grammar=nonsense'], { cwd }).code).toBe(2)
    expect(coa(['mask', 'chain.txt', '--set', 'language.tokenizer=nowhere'], { cwd }).code).toBe(2)
    expect(coa(['parse', 'chain.txt', '--set', 'language.grammar=nonsense', '-g', 'web'], { cwd }).code).toBe(
      0,
    )
  })
})

describe('run', () => {
  it('lists, shows, reindexes, exports and imports', () => {
    const [run] = coaJson<{ id: string; dir: string; counts: Record<string, number> }[]>(['run', 'list'], {
      cwd,
    })
    expect(run!.counts).toMatchObject({ sequence: 3, task: 3, trajectory: 3 })
    expect(readFileSync(join(run!.dir, 'config.toml'), 'utf8')).toContain('seed = 1')
    rmSync(join(run!.dir, 'index.sqlite'))
    expect(coaJson(['run', 'reindex', run!.id], { cwd })).toMatchObject({ counts: { sequence: 3 } })
    expect(coaJson(['run', 'export', run!.id, 'sequence', 'out.parquet'], { cwd })).toMatchObject({
      records: 3,
    })
    expect(coaJson(['run', 'import', run!.id, 'sequence', 'out.parquet'], { cwd })).toMatchObject({
      records: 3,
    })
    expect(coaJson(['run', 'show', run!.id], { cwd })).toMatchObject({ records: { sequence: 3 } })
  })
})

describe('errors', () => {
  it.each<[string[], number, string]>([
    [['grammr'], 2, 'Did you mean grammar?'],
    [['grammar', 'show', 'wbe'], 2, 'Did you mean "web"?'],
    [['parse', 'nowhere.txt'], 2, 'nowhere.txt'],
    [['run', 'show', 'nowhere'], 2, 'coa run list'],
    [['run', 'list', '--set', 'project.rnus=x'], 2, 'Did you mean "project.runs"?'],
    [['run', 'list', '--set', 'project.runs'], 2, 'section.name=value'],
    [['run', 'list', '--config', 'nowhere.toml'], 2, 'coa init'],
    [['mask', 'chain.txt', '-t', 'nowhere'], 2, 'nowhere'],
    [['run', 'show', 'latest', '-k', 'task', '-n', 'many'], 2, 'not a whole number'],
    [['run', 'list', '--set', 'project.runs=chain.txt'], 4, 'project.runs'],
    [['init', 'chain.txt'], 2, 'Check that the path'],
    [['grammar', 'check', 'nowhere.ts'], 2, 'there is no file'],
  ])('%j exits with %i and prints one line without a stack trace', (args, code, text) => {
    const outcome = coa(args, { cwd })
    expect(outcome.code).toBe(code)
    expect(outcome.stdout).toBe('')
    expect(outcome.stderr.trim().split('\n').length).toBe(1)
    expect(outcome.stderr).toContain(text)
    expect(outcome.stderr).not.toContain('    at ')
    expect(coa([...args, '--debug'], { cwd }).stderr).toContain('    at ')
    expect(JSON.parse(coa([...args, '--json'], { cwd }).stderr).error.code).toBe(code)
  })

  it('has colors only if requested', () => {
    expect(coa(['grammar', 'list'], { cwd }).stdout).not.toContain('\u001b')
    expect(coa(['grammar', 'list'], { cwd, environment: { FORCE_COLOR: '1' } }).stdout).toContain('\u001b')
  })

  it('documents its exit codes', () => {
    const documented = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
    for (const line of coa(['--help'], { cwd })
      .stdout.split('Exit codes:')[1]!
      .split('\n\n')[0]!
      .trim()
      .split('\n')) {
      const [, code, meaning] = /^\s*(\d+)\s+(.*)$/.exec(line)!
      expect(documented).toContain(`| ${code} | ${meaning} |`)
    }
  })
})

it('every command has help with an example, and accepts --json', () => {
  const commands = [
    'quickstart',
    'init',
    'run list',
    'run show',
    'run report',
    'run reindex',
    'run export',
    'run import',
    'grammar list',
    'grammar show',
    'grammar check',
    'parse',
    'mask',
    'doctor',
  ]
  for (const command of commands) {
    const { stdout } = coa([...command.split(' '), '--help'], { cwd })
    expect(stdout, command).toContain('$ coa')
    expect(stdout, command).toContain('--json')
  }
  expect(existsSync(join(cwd, 'coa.toml'))).toBe(true)
})
