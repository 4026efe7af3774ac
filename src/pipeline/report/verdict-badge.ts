import type { Verdict } from '../../schema/index.ts'
import { type Html, html } from './html.ts'

const signs: Record<Verdict['outcome'], string> = {
  correct: '✓ correct',
  wrong: '✗ wrong',
  undecided: '○ undecided',
}

export function verdictBadge(outcome: Verdict['outcome'] | undefined): Html | string {
  return outcome === undefined ? '' : html`<span class="verdict ${outcome}">${signs[outcome]}</span>`
}
