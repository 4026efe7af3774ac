import { EngineError } from '../checkpoint/index.ts'
import { lastLines, runProgram } from './run-program.ts'

const names = ['python3.13', 'python3.12', 'python3.11', 'python3', 'python']
const OLDEST = [3, 11] as const

/** A Python that can create virtual environments. */
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
    found.push(`${name} (${major}.${minor})`)
  }
  throw new EngineError(
    `The trainer needs Python ${OLDEST.join('.')} or newer, but ${found.length === 0 ? 'none was found' : `found only ${found.join(', ')}`}.`,
    {
      fix: 'Install Python, or pass one with --python; without it, the embedded engine trains small models with npm alone.',
    },
  )
}

const imports = ['torch', 'transformers', 'peft', 'safetensors', 'aiohttp', 'numpy']

export interface PythonInfo {
  python: string
  torch: string
}

/**
 * Checks whether a Python has what the trainer needs, and reports what is missing. With `load`, PyTorch is also loaded,
 * which takes seconds.
 */
export async function inspectPython(
  python: string,
  { load = false }: { load?: boolean } = {},
): Promise<PythonInfo> {
  const program = [
    'import importlib.metadata, importlib.util, json, sys',
    `missing = [name for name in ${JSON.stringify(imports)} if importlib.util.find_spec(name) is None]`,
    'if missing: print(json.dumps({"missing": missing})); sys.exit()',
    ...(load ? ['import torch'] : []),
    'print(json.dumps({"torch": importlib.metadata.version("torch")}))',
  ].join('\n')
  const result = await runProgram(python, ['-c', program])
  const line = result.output.split('\n').at(-1) ?? ''
  let info: { missing?: string[]; torch?: string } = {}
  try {
    info = JSON.parse(line) as typeof info
  } catch {}
  if (result.code !== 0 || (info.missing === undefined && info.torch === undefined))
    throw new EngineError(`${python} cannot be used: ${lastLines(result)}.`, {
      fix: 'Pass a working Python with --python, or omit it to have an environment created.',
    })
  if (info.missing !== undefined)
    throw new EngineError(`${python} lacks what the trainer needs: ${info.missing.join(', ')}.`, {
      fix: `Run \`${python} -m pip install ${info.missing.join(' ')}\`, or omit --python to have an environment created.`,
      details: { missing: info.missing },
    })
  return { python, torch: info.torch! }
}
