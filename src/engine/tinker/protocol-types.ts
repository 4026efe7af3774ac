import type { DatumOutput } from './datums.ts'

/** Server responses, as far as they are used. */
export interface Capabilities {
  supported_models: {
    model_name: string
    max_context_length?: number
    vocabulary_size?: number
    parameters?: number
  }[]
  coa?: { version: number }
}

export interface CoaModelInfo {
  context_length: number
  vocabulary_size: number
  parameters: number
  trained_parameters: number
  device: string
  dtype: string
}

export interface CreatedModel {
  model_id: string
  request_id?: string
  coa?: CoaModelInfo
}

export interface PassOutput {
  loss_fn_outputs: DatumOutput[]
  metrics: Record<string, number | null>
}

export interface StepOutput {
  metrics?: Record<string, number | null> | null
}

export interface SampledSequence {
  stop_reason?: string
  tokens: number[]
  logprobs?: (number | null)[] | null
}

export interface SampleOutput {
  sequences: SampledSequence[]
}
