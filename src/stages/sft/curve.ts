import type { MetricRow } from '../../store/metrics-file.ts'

/** One step in metrics.jsonl, which also has `t` and `stage`. */
export interface SftRow {
  step: number
  /** Mean over the trained tokens of the step, before the update. */
  loss: number
  learningRate: number
  /** Null if the server does not report it. */
  gradientNorm: number | null
  tokens: number
  trainedTokens: number
  /** Maximum sequence length at this step. */
  context: number
  tokensPerSecond: number
  /** On held-out sequences, after the step. */
  evalLoss?: number
  /** Of rollouts after the step. */
  accuracy?: number
  wellFormed?: number
  rollouts?: number
}

/**
 * The training curve of a run. Training that resumed from an earlier step, or restarted, replaces the rows after it.
 */
export function sftCurve(rows: Iterable<MetricRow>): SftRow[] {
  const curve: SftRow[] = []
  for (const { t: _, stage, ...row } of rows) {
    if (stage !== 'sft' || typeof row['step'] !== 'number') continue
    while (curve.length > 0 && curve.at(-1)!.step >= row['step']) curve.pop()
    curve.push(row as unknown as SftRow)
  }
  return curve
}
