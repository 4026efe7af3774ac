import type { RolloutSettings } from '../agent/index.ts'
import type { GgufFileType, ModelReport } from '../engine/index.ts'
import type { Grammar } from '../language/grammar/index.ts'
import type { Tokenizer } from '../language/tokens/index.ts'
import type { ModelPrompt } from './model-prompt.ts'
import type { DeployTarget } from './targets.ts'

export interface DeployOptions {
  target: DeployTarget
  /** The checkpoint's folder. */
  model: string
  /** The folder to write. */
  out: string
  /** The model's name on the server. */
  name: string
  grammar: Grammar
  limits: Pick<RolloutSettings, 'maxTokens' | 'maxTurns'>
  /** For targets that take a GGUF file; default: F16. */
  quantize?: GgufFileType | undefined
  /** ISO time. */
  createdAt: string
  /** Called before something is downloaded. */
  onStatus?: ((line: string) => void) | undefined
}

/** What the parts of a folder are made from. */
export interface Deployment extends DeployOptions {
  folder: string
  report: ModelReport
  tokenizer: Tokenizer
  prompt: ModelPrompt
  stop: string[]
  missingTools: string[]
}
