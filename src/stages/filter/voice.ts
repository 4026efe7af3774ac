import { TeamTalk } from '../../language/voice/index.ts'
import type { Drop, Examined } from './examine.ts'

/** Characters of context in the detail of a reason. */
const AROUND = 40

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
    const at = text.indexOf(found)
    const around = text.slice(Math.max(0, at - AROUND), at + found.length + AROUND).trim()
    return {
      reason: `speaks to a team: "${found.toLowerCase().replace(/\s+/g, ' ')}"`,
      detail: `${agent}: ${around}`,
    }
  }
  return undefined
}
