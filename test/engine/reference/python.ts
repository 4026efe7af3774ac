import { spawnSync } from 'node:child_process'
import { trainerPython } from '../tinker/trainer-python.ts'

const check = 'import torch, transformers, safetensors; print(torch.__version__, transformers.__version__)'

export type ReferencePython = { python: string; versions: string } | { missing: string }

/**
 * A Python with torch and transformers for live comparisons, or the reason why there is none. COA_TEST_PYTHON names one;
 * default: the trainer's, which is created if missing.
 */
export async function referencePython(): Promise<ReferencePython> {
  const python = process.env['COA_TEST_PYTHON'] || (await trainerPython())
  if (python === undefined) return { missing: "the trainer's Python environment cannot be created here" }
  const { status, stdout, stderr, error } = spawnSync(python, ['-c', check], { encoding: 'utf8' })
  if (status === 0) return { python, versions: stdout.trim() }
  return {
    missing: `${python} has no torch or transformers: ${error?.message ?? stderr.trim().split('\n').at(-1)}`,
  }
}
