import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandTree } from '../../src/cli/completion/command-tree.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { coa } from './coa.ts'

const tree = commandTree(await buildProgram(['completion']))
const at = (path: string) => tree.find((command) => command.path === path)!

it('knows every command of the help text, with its options', () => {
  expect(at('').subcommands.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['quickstart', 'run', 'engine', 'completion', 'doctor']),
  )
  expect(at('engine').subcommands.map(({ name }) => name)).toEqual(['install', 'contract', 'bench'])
  expect(at('engine contract').options.map(({ flags }) => flags.at(-1))).toEqual(
    expect.arrayContaining(['--device', '--threads', '--model', '--json', '--set', '--help']),
  )
})

/** What a shell offers for a line that ends at the cursor. */
interface Shell {
  name: 'bash' | 'zsh' | 'fish'
  program: (script: string, words: readonly string[]) => string[]
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
const shells: Shell[] = [
  {
    name: 'bash',
    program: (script, words) => [
      '--norc',
      '-c',
      `source ${script}; COMP_WORDS=(${words.map(quoted).join(' ')}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _coa; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ],
  },
  {
    name: 'zsh',
    // The functions of its completion system, which exist only in a terminal.
    program: (script, words) => [
      '-f',
      '-c',
      `compdef() { :; }
       _files() { :; }
       compadd() { shift; print -l -- "$@"; }
       _describe() { local name=$@[-1]; print -l -- \${\${(P)name}%%:*}; }
       source ${script}
       words=(${words.map(quoted).join(' ')}); CURRENT=$#words; _coa`,
    ],
  },
  {
    name: 'fish',
    program: (script, words) => [
      '--no-config',
      '-c',
      `source ${script}; complete -C ${quoted(words.join(' '))} | string replace -r '\\t.*' ''; true`,
    ],
  },
]

describe.each(shells)('in $name', ({ name, program }) => {
  const isMissing = spawnSync(name, ['--version']).error !== undefined
  if (isMissing) console.warn(`SKIPPED: completion in ${name}, which is not installed`)
  const folder = mkdtempSync(join(tmpdir(), 'coa-completion-'))
  const script = join(folder, 'coa.sh')
  beforeAll(() => {
    const { code, stdout, stderr } = coa(['completion', name])
    expect(code, stderr).toBe(0)
    writeFileSync(script, stdout)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function complete(...words: string[]): string[] {
    const { status, stdout, stderr } = spawnSync(name, program(script, ['coa', ...words]), {
      encoding: 'utf8',
      cwd: folder,
    })
    expect(status, stderr).toBe(0)
    expect(stderr).toBe('')
    return stdout.split('\n').filter((line) => line !== '')
  }

  it.skipIf(isMissing)('completes commands, options and values', () => {
    expect(complete('quick')).toContain('quickstart')
    expect(complete('engine', '')).toEqual(expect.arrayContaining(['bench', 'contract', 'install']))
    expect(complete('completion', '')).toEqual(expect.arrayContaining(['bash', 'fish', 'zsh']))
    expect(complete('engine', 'contract', '--device', '')).toEqual(
      expect.arrayContaining(['cpu', 'wasm', 'webgpu']),
    )
    expect(complete('engine', 'contract', '--de')).toContain('--device')
    expect(complete('--json', 'engine', '')).toContain('bench')
    // A value, not a command.
    expect(complete('solve', 'run', '--')).toContain('--best-of')
    // Files, which the shell itself completes.
    expect(complete('parse', '').filter((word) => word !== 'coa.sh')).toEqual([])
  })

  it.skipIf(isMissing)('completes all options of every command', () => {
    for (const { path, options } of name === 'bash' ? tree : tree.slice(0, 8)) {
      const words = path === '' ? [] : path.split(' ')
      expect(complete(...words, '--').toSorted(), path).toEqual(
        expect.arrayContaining(options.map(({ flags }) => flags.at(-1)!).toSorted()),
      )
    }
  })
})
