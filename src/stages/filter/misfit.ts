import { isTrained } from '../../schema/index.ts'
import type { Drop, Examined } from './examine.ts'

/** What is wrong with the language of a sequence: its tags and payloads, its order of speakers, its spans. */
export function misfit({ sequence, grammar, chain: read }: Examined): Drop | undefined {
  if (grammar === undefined) return { reason: 'unknown grammar', detail: sequence.grammar }
  const chain = read()
  const fault = chain.diagnostics[0]
  if (fault !== undefined)
    return { reason: 'malformed chain', detail: `${fault.code} at ${fault.start}: ${fault.message}` }
  const violation = chain.order.violations[0]
  if (violation !== undefined)
    return { reason: 'speaker out of turn', detail: `turn ${violation.index}: ${violation.message}` }
  return strayingSpans(sequence.spans, chain.blocks)
}

/** The mask follows from the spans. If they tell another story than the text does, tool output would be trained on. */
function strayingSpans(
  spans: Examined['sequence']['spans'],
  blocks: ReturnType<Examined['chain']>['blocks'],
): Drop | undefined {
  const reason = 'spans do not fit the text'
  if (spans.length !== blocks.length)
    return { reason, detail: `${spans.length} spans for ${blocks.length} turns` }
  let start = 0
  for (const [index, span] of spans.entries()) {
    const block = blocks[index]!
    const end = start + span.text.length
    if (span.agent !== block.agent || block.start < start || block.end > end)
      return { reason, detail: `span ${index} (${span.agent}) is not the turn of ${block.agent}` }
    if (isTrained(span) !== (block.kind !== 'observation'))
      return { reason, detail: `span ${index} (${span.agent}) is ${isTrained(span) ? '' : 'not '}trained` }
    start = end
  }
  return undefined
}
