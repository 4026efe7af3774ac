import type { MetricRow } from '../../store/index.ts'

/** One step as it stands in metrics.jsonl, which also has `t` and `stage`. */
export interface SftRow {
  step: number
  /** Mean over the learned tokens of the step, before it was taken. */
  loss: number
  learningRate: number
  /** Null where a server does not tell. */
  gradientNorm: number | null
  /** Of all examples of the step. */
  tokens: number
  trainedTokens: number
  /** Longest sequence at this step. */
  context: number
  tokensPerSecond: number
  /** After the step, on what was kept out of training. */
  evalLoss?: number
  /** Of rollouts after the step. */
  accuracy?: number
  wellFormed?: number
  rollouts?: number
}

/** The curve in the rows of a run. Training that went on from an earlier step, or began anew, replaces what came after it. */
export function sftCurve(rows: Iterable<MetricRow>): SftRow[] {
  const curve: SftRow[] = []
  for (const { t: _, stage, ...row } of rows) {
    if (stage !== 'sft' || typeof row['step'] !== 'number') continue
    while (curve.length > 0 && curve.at(-1)!.step >= row['step']) curve.pop()
    curve.push(row as unknown as SftRow)
  }
  return curve
}
