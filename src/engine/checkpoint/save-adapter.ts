import { join, resolve } from 'node:path'
import { writeFileAtomic } from '../../base/files/index.ts'
import { BASE_FINGERPRINT } from './adapter-checkpoint.ts'
import { readCheckpointManifest } from './checkpoint.ts'
import {
  type CheckpointManifest,
  type DescribedContents,
  describeFile,
  MANIFEST_FILE,
  manifestOf,
} from './checkpoint-manifest.ts'
import { EngineError, listed } from './engine-error.ts'
import { OPTIMIZER_FILE, type OptimizerState, writeOptimizerState } from './optimizer-state.ts'
import { ADAPTER_CONFIG, ADAPTER_WEIGHTS, PEFT_PREFIX } from './peft-adapter.ts'
import { replaceFolder } from './replace-folder.ts'
import { writeTensors } from './safetensors-write.ts'
import { json } from './shards-write.ts'
import { nonFiniteFindings, type StoredTensors } from './stored-tensor.ts'

export interface AdapterContents extends DescribedContents {
  /** Folder of the model that the adapter belongs to. */
  base: string
  rank: number
  alpha: number
  /** By PEFT's names, without its prefix. */
  adapters: StoredTensors
  /** Parameters of the whole model. */
  parameters: number
  optimizer?: OptimizerState
  /** The tokenizer's files. */
  files?: Record<string, Uint8Array>
}

/** Saves a LoRA adapter in PEFT's format as a checkpoint, atomically, like the trainer's. */
export function saveAdapter(path: string, contents: AdapterContents): CheckpointManifest {
  const { base, adapters, optimizer, files = {} } = contents
  const nonFinite = nonFiniteFindings(adapters)
  if (nonFinite.length > 0) {
    throw new EngineError(`the adapter has NaN or infinite values: ${listed(nonFinite)}`, {
      fix: 'Training has diverged: return to the last checkpoint and lower the learning rate.',
      details: { tensors: nonFinite },
    })
  }
  const folder = resolve(path)
  const fingerprint = readCheckpointManifest(base)?.fingerprint
  const metadata = {
    ...contents.metadata,
    ...(fingerprint === undefined ? {} : { [BASE_FINGERPRINT]: fingerprint }),
  }
  let manifest: CheckpointManifest | undefined
  replaceFolder(folder, (temporary) => {
    const texts = { ...files, [ADAPTER_CONFIG]: json(configOf(contents)) }
    for (const [name, text] of Object.entries(texts)) writeFileAtomic(join(temporary, name), text)
    const named = [...adapters].map(([name, tensor]) => [`${PEFT_PREFIX}${name}`, tensor] as const)
    writeTensors(join(temporary, ADAPTER_WEIGHTS), new Map(named))
    if (optimizer !== undefined) writeOptimizerState(temporary, withPeftNames(optimizer))
    const names = [
      ...Object.keys(texts),
      ADAPTER_WEIGHTS,
      ...(optimizer === undefined ? [] : [OPTIMIZER_FILE]),
    ]
    const described = names.sort().map((name) => describeFile(temporary, name))
    manifest = manifestOf(folder, described, { ...contents, metadata })
    writeFileAtomic(join(temporary, MANIFEST_FILE), json(manifest))
  })
  return manifest!
}

/** PEFT's names for the moments too, which are called `first NAME` and `second NAME`. */
function withPeftNames({ tensors, ...state }: OptimizerState): OptimizerState {
  const named = [...tensors].map(([name, tensor]) => [name.replace(' ', ` ${PEFT_PREFIX}`), tensor] as const)
  return { ...state, tensors: new Map(named) }
}

function configOf({ base, rank, alpha, adapters }: AdapterContents): object {
  const modules = [...adapters.keys()].map((name) => name.split('.').at(-3)!)
  return {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: resolve(base),
    r: rank,
    lora_alpha: alpha,
    lora_dropout: 0,
    use_rslora: false,
    use_dora: false,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    target_modules: [...new Set(modules)].sort(),
  }
}
