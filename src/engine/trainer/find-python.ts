import { EngineError } from '../checkpoint/index.ts'
import { lastLines, runProgram } from './run-program.ts'

const names = ['python3.13', 'python3.12', 'python3.11', 'python3', 'python']
const OLDEST = [3, 11] as const

/** A Python that environments can be made with. */
export async function findPython(): Promise<string> {
  const found: string[] = []
  for (const name of names) {
    const { code, output } = await runProgram(name, [
      '-c',
      'import sys; print(sys.executable); print(*sys.version_info[:2])',
    ])
    if (code !== 0) continue
    const [executable = name, version = ''] = output.split('\n')
    const [major = 0, minor = 0] = version.split(' ').map(Number)
    if (major === OLDEST[0] && minor >= OLDEST[1]) return executable
    found.push(`${name} is ${major}.${minor}`)
  }
  throw new EngineError(
    `The trainer needs Python ${OLDEST.join('.')} or newer, and there is ${found.length === 0 ? 'none' : `only: ${found.join(', ')}`}.`,
    {
      fix: 'Install Python, or name one with --python; without it the embedded engine trains small models with npm alone.',
    },
  )
}

const imports = ['torch', 'transformers', 'peft', 'safetensors', 'aiohttp', 'numpy']

export interface PythonFacts {
  python: string
  torch: string
  cuda: boolean
}

/** Looks whether a Python has what the trainer needs, and says what is missing. */
export async function inspectPython(python: string): Promise<PythonFacts> {
  const program = [
    'import importlib.util, json, sys',
    `missing = [name for name in ${JSON.stringify(imports)} if importlib.util.find_spec(name) is None]`,
    'if missing: print(json.dumps({"missing": missing})); sys.exit()',
    'import torch',
    'print(json.dumps({"torch": torch.__version__, "cuda": torch.cuda.is_available()}))',
  ].join('\n')
  const result = await runProgram(python, ['-c', program])
  const line = result.output.split('\n').at(-1) ?? ''
  let facts: { missing?: string[]; torch?: string; cuda?: boolean } = {}
  try {
    facts = JSON.parse(line) as typeof facts
  } catch {}
  if (result.code !== 0 || (facts.missing === undefined && facts.torch === undefined))
    throw new EngineError(`${python} cannot be used: ${lastLines(result)}.`, {
      fix: 'Name a working Python with --python, or leave it out to have an environment made.',
    })
  if (facts.missing !== undefined)
    throw new EngineError(`${python} lacks what the trainer needs: ${facts.missing.join(', ')}.`, {
      fix: `Run \`${python} -m pip install ${facts.missing.join(' ')}\`, or leave --python out to have an environment made.`,
      details: { missing: facts.missing },
    })
  return { python, torch: facts.torch!, cuda: facts.cuda === true }
}
