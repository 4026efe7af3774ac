import { lastBox } from '../../reward/index.ts'
import { isTrained } from '../../schema/index.ts'
import type { Drop, Examined } from './examine.ts'
import { mostRepeated } from './repeated-calls.ts'
import type { FilterSettings } from './settings.ts'

type QualitySettings = Pick<
  FilterSettings,
  'exclude_saw_gold' | 'exclude_verdicts' | 'max_same_call' | 'unchecked'
>

/** Second stage: only correct answers, reached within the grammar and without repeating calls. Cheap checks first. */
export function poorQuality(examined: Examined, settings: QualitySettings): Drop | undefined {
  return (
    notCorrect(examined, settings) ??
    sawGold(examined, settings) ??
    sawVerdict(examined, settings) ??
    distillProblem(examined) ??
    invalid(examined) ??
    knewAnswer(examined) ??
    repetitive(examined, settings.max_same_call)
  )
}

/** An unchecked answer is not wrong, but nothing says that it should be trained on. */
function notCorrect({ sequence: { verdict } }: Examined, settings: QualitySettings): Drop | undefined {
  if (verdict === undefined)
    return settings.unchecked === 'keep'
      ? undefined
      : { reason: 'unchecked', detail: 'nothing has checked its answer' }
  if (verdict.outcome === 'correct') return undefined
  return {
    reason: verdict.outcome === 'wrong' ? 'wrong answer' : 'undecided answer',
    detail: `${verdict.checker}: ${verdict.evidence}`,
  }
}

/** Problems that the distiller had, such as a tool without an agent, are not visible in the chain. */
function distillProblem({ sequence: { meta } }: Examined): Drop | undefined {
  const problems = meta['problems']
  if (!Array.isArray(problems) || problems.length === 0) return undefined
  const [first] = problems
  return {
    reason: 'distilled with problems',
    detail: typeof first === 'string' ? first : JSON.stringify(first),
  }
}

function sawGold({ sequence }: Examined, settings: QualitySettings): Drop | undefined {
  if (!settings.exclude_saw_gold || sequence.provenance?.sawGold !== true) return undefined
  return { reason: 'saw the gold answer', detail: sequence.provenance.origin }
}

/**
 * An agent with a hint should lead the work to the answer, not give it before any tool has returned anything: a single agent
 * would learn to guess first. An answer that is in the question says nothing.
 */
function knewAnswer({ sequence: { provenance }, question, chain }: Examined): Drop | undefined {
  if (provenance?.sawGold !== true) return undefined
  const { blocks } = chain()
  const found = blocks.findIndex(({ kind }) => kind === 'observation')
  const answer = blocks.findLast(({ kind }) => kind === 'answer')?.text ?? ''
  const wanted = wordsOf(lastBox(answer) ?? answer)
  if (found < 0 || wanted.trim() === '' || wordsOf(question).includes(wanted)) return undefined
  const early = blocks.slice(0, found).find(({ text }) => wordsOf(text).includes(wanted))
  if (early === undefined) return undefined
  return { reason: 'gives the answer before the work found it', detail: `${early.agent}: ${wanted.trim()}` }
}

/** Words and numbers with a space around each; 1,200 is 1200. */
function wordsOf(text: string): string {
  const plain = text.toLowerCase().replace(/(?<=\d),(?=\d{3})/g, '')
  return ` ${(plain.match(/[\p{L}\p{N}]+(?:\.\p{N}+)?/gu) ?? []).join(' ')} `
}

function sawVerdict({ sequence: { meta } }: Examined, settings: QualitySettings): Drop | undefined {
  const verdicts = Number(meta['verdicts'] ?? 0)
  if (!settings.exclude_verdicts || verdicts === 0) return undefined
  return { reason: 'the checker rejected an answer on the way', detail: `${verdicts} times` }
}

function repetitive(examined: Examined, limit: number): Drop | undefined {
  const { agent, times } = mostRepeated(examined.chain().calls)
  if (times <= limit) return undefined
  return { reason: 'repeated tool call', detail: `${agent}: the same input ${times} times` }
}

/** Checks a sequence against its grammar: tags and payloads, order of speakers, spans. */
function invalid({ sequence, grammar, chain: read }: Examined): Drop | undefined {
  if (grammar === undefined) return { reason: 'unknown grammar', detail: sequence.grammar }
  const chain = read()
  const fault = chain.diagnostics[0]
  if (fault !== undefined)
    return { reason: 'malformed chain', detail: `${fault.code} at ${fault.start}: ${fault.message}` }
  const violation = chain.order.violations[0]
  if (violation !== undefined)
    return { reason: 'speaker out of turn', detail: `turn ${violation.index}: ${violation.message}` }
  return spanMismatch(sequence.spans, chain.blocks)
}

/** The mask is derived from the spans. If they disagree with the text, tool output would be trained on. */
function spanMismatch(
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
