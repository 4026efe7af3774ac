import type { FilterSettings } from './config.ts'
import type { Drop, Examined } from './examine.ts'
import { misfit } from './misfit.ts'
import { mostRepeated } from './repeated-calls.ts'

type QualitySettings = Pick<FilterSettings, 'exclude_saw_gold' | 'max_same_call'>

/** Second stage: only right answers, reached within the language and without going in circles. Cheap checks first. */
export function poorQuality(examined: Examined, settings: QualitySettings): Drop | undefined {
  return (
    notRight(examined) ??
    cheated(examined, settings) ??
    illTold(examined) ??
    misfit(examined) ??
    repetitive(examined, settings.max_same_call)
  )
}

/** An answer that could not be checked is not wrong, but nothing says that it is worth learning. */
function notRight({ sequence: { verdict } }: Examined): Drop | undefined {
  if (verdict === undefined) return { reason: 'answer never checked', detail: '' }
  if (verdict.outcome === 'correct') return undefined
  return {
    reason: verdict.outcome === 'wrong' ? 'wrong answer' : 'undecided answer',
    detail: `${verdict.checker}: ${verdict.evidence}`,
  }
}

/** What the distiller could not tell within the grammar, such as a tool without an agent, shows in no chain. */
function illTold({ sequence: { meta } }: Examined): Drop | undefined {
  const problems = meta['problems']
  if (!Array.isArray(problems) || problems.length === 0) return undefined
  const [first] = problems
  return { reason: 'not told in full', detail: typeof first === 'string' ? first : JSON.stringify(first) }
}

function cheated({ sequence }: Examined, settings: QualitySettings): Drop | undefined {
  if (!settings.exclude_saw_gold || sequence.provenance?.sawGold !== true) return undefined
  return { reason: 'saw the gold answer', detail: sequence.provenance.origin }
}

function repetitive(examined: Examined, limit: number): Drop | undefined {
  const { agent, times } = mostRepeated(examined.chain().calls)
  if (times <= limit) return undefined
  return { reason: 'repeated tool call', detail: `${agent}: the same input ${times} times` }
}
