import type { Step } from '../agent/index.ts'
import { STRAY } from '../language/grammar/index.ts'
import { cutMiddle } from '../world/tools/index.ts'

/** Characters of a tool's output that are shown among the reasoning. */
const SHOWN = 2000

/** The steps before the answer as readable text: a paragraph for each, which begins with the name of its agent. */
export class ReasoningText {
  #begun = false

  opened({ agent }: Step): string {
    const gap = this.#begun ? '\n\n' : ''
    this.#begun = true
    return agent === STRAY ? gap : `${gap}${agent}: `
  }

  /** An observation is shown when it is complete. */
  text({ kind }: Step, text: string): string {
    return kind === 'observation' ? '' : text
  }

  closed({ kind, text }: Step): string {
    return kind === 'observation' ? cutMiddle(text, SHOWN).text : ''
  }
}
