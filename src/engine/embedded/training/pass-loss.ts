import type { Loss } from '../../contract.ts'

/** What a pass computes: the gradient of a loss, or only log-probabilities. */
export type PassLoss = Loss | { kind: 'none'; temperature?: number | undefined }

/** Divides the logits before the softmax. */
export function temperatureOf(passLoss: PassLoss): number {
  return passLoss.temperature ?? 1
}
