import { TeamTalk } from '../../language/voice/index.ts'
import type { Drop, Examined } from './examine.ts'

/** Characters of context in the detail of a reason. */
const AROUND = 40

/** What an agent writes that had a hint, or was told that an answer is wrong. */
const told =
  /\bhints?\b|\b(?:reference|annotated|gold|provided|given|official|expected) (?:solution|answer)\b|\b(?:I|we) (?:was|were|am|are|have been) told\b|\bthe checker\b/i

/**
 * A sequence of a team that had a hint or the checker's verdict must not speak of them: a single agent that learned to would
 * refer to what it does not have. What the question itself mentions is left alone.
 */
export function speaksOfHelp({
  sequence,
  chain,
  question,
}: Pick<Examined, 'sequence' | 'chain' | 'question'>): Drop | undefined {
  const { provenance, meta } = sequence
  if (provenance?.sawGold !== true && Number(meta['verdicts'] ?? 0) === 0) return undefined
  for (const { kind, agent, text } of chain().blocks) {
    const found = kind === 'observation' ? null : told.exec(text)
    if (found === null || question.toLowerCase().includes(found[0].toLowerCase())) continue
    return dropFor('speaks of a hint or verdict', found[0], { agent, text })
  }
  return undefined
}

/**
 * A sequence that still speaks to or about a team teaches a single agent to address people who are not there. Only
 * roles are looked at: pages and questions may be about teams. `names` are those of the team's agents.
 */
export function speaksToTeam(
  { chain, question }: Pick<Examined, 'chain' | 'question'>,
  names: readonly string[],
): Drop | undefined {
  const talk = new TeamTalk(names, question)
  for (const { kind, agent, text } of chain().blocks) {
    if (kind !== 'role') continue
    const found = talk.find(text)
    if (found === undefined) continue
    return dropFor('speaks to a team', found, { agent, text })
  }
  return undefined
}

function dropFor(what: string, found: string, { agent, text }: { agent: string; text: string }): Drop {
  const at = text.indexOf(found)
  const around = text.slice(Math.max(0, at - AROUND), at + found.length + AROUND).trim()
  return {
    reason: `${what}: "${found.toLowerCase().replace(/\s+/g, ' ')}"`,
    detail: `${agent}: ${around}`,
  }
}
