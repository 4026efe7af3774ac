import type { Loss } from '../../contract.ts'

/** What a pass is for: the gradient of a loss, or log-probabilities alone. */
export type Aim = Loss | { kind: 'none'; temperature?: number | undefined }

/** What the log-probabilities of a pass are divided by before they are normalised. */
export function temperatureOf(aim: Aim): number {
  return aim.kind === 'cross-entropy' ? 1 : (aim.temperature ?? 1)
}
