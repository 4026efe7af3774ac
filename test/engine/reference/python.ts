import { spawnSync } from 'node:child_process'
import { trainerPython } from '../tinker/trainer-python.ts'

const check = 'import torch, transformers, safetensors; print(torch.__version__, transformers.__version__)'

export type ReferencePython = { python: string; versions: string } | { missing: string }

/**
 * A Python with torch and transformers, for what is compared with them live; a reason where there is none.
 * COA_TEST_PYTHON names one; otherwise it is the trainer's, which is made where it is missing.
 */
export async function referencePython(): Promise<ReferencePython> {
  const python = process.env['COA_TEST_PYTHON'] || (await trainerPython())
  if (python === undefined) return { missing: 'the trainer’s Python cannot be made here' }
  const { status, stdout, stderr, error } = spawnSync(python, ['-c', check], { encoding: 'utf8' })
  if (status === 0) return { python, versions: stdout.trim() }
  return {
    missing: `${python} has no torch or transformers: ${error?.message ?? stderr.trim().split('\n').at(-1)}`,
  }
}
