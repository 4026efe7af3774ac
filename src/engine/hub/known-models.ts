import { nearestName } from '../../base/errors/index.ts'

/** A model with a short name. */
export interface KnownModel {
  name: string
  /** On the Hugging Face Hub. */
  id: string
  license: string
  /** Number of parameters, rounded to three digits. */
  parameters: number
  /** Its license must be accepted on the Hub before its files can be downloaded. */
  isGated?: true
}

const qwenSizes = [
  ['0.5b', '0.5B', 'apache-2.0', 494e6],
  ['1.5b', '1.5B', 'apache-2.0', 1.54e9],
  ['3b', '3B', 'qwen-research', 3.09e9],
  ['7b', '7B', 'apache-2.0', 7.62e9],
] as const

/** Instruction-tuned models of the supported families that fit one GPU. */
export const knownModels: readonly KnownModel[] = [
  ...qwenSizes.flatMap(([size, label, license, parameters]) => [
    { name: `qwen2.5-coder-${size}`, id: `Qwen/Qwen2.5-Coder-${label}-Instruct`, license, parameters },
    { name: `qwen2.5-${size}`, id: `Qwen/Qwen2.5-${label}-Instruct`, license, parameters },
  ]),
  { name: 'qwen3-0.6b', id: 'Qwen/Qwen3-0.6B', license: 'apache-2.0', parameters: 596e6 },
  { name: 'qwen3-1.7b', id: 'Qwen/Qwen3-1.7B', license: 'apache-2.0', parameters: 1.72e9 },
  { name: 'qwen3-4b', id: 'Qwen/Qwen3-4B', license: 'apache-2.0', parameters: 4.02e9 },
  {
    name: 'smollm2-135m',
    id: 'HuggingFaceTB/SmolLM2-135M-Instruct',
    license: 'apache-2.0',
    parameters: 135e6,
  },
  {
    name: 'smollm2-360m',
    id: 'HuggingFaceTB/SmolLM2-360M-Instruct',
    license: 'apache-2.0',
    parameters: 362e6,
  },
  {
    name: 'smollm2-1.7b',
    id: 'HuggingFaceTB/SmolLM2-1.7B-Instruct',
    license: 'apache-2.0',
    parameters: 1.71e9,
  },
  {
    name: 'llama-3.2-1b',
    id: 'meta-llama/Llama-3.2-1B-Instruct',
    license: 'llama3.2',
    parameters: 1.24e9,
    isGated: true,
  },
  {
    name: 'llama-3.2-3b',
    id: 'meta-llama/Llama-3.2-3B-Instruct',
    license: 'llama3.2',
    parameters: 3.21e9,
    isGated: true,
  },
]

/** "Did you mean …?", by short name or id; all short names if none is close. */
export function suggestModel(wanted: string): string {
  const bare = wanted
    .split('/')
    .at(-1)!
    .replace(/-instruct$/i, '')
  const near =
    nearestName(
      bare,
      knownModels.map(({ name }) => name),
    ) ??
    knownModels.find(
      ({ id }) =>
        id ===
        nearestName(
          wanted,
          knownModels.map((model) => model.id),
        ),
    )?.name
  return near === undefined
    ? `Short names are ${knownModels.map(({ name }) => name).join(', ')}.`
    : `Did you mean ${near}?`
}
