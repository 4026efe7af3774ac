/** Words that end the name of a role: what follows describes it, as "helpful" describes any assistant. */
const END =
  /^(?:helpful|who|that|which|in|of|for|with|on|and|or|at|to|from|by|working|whose|a|an|the|is|agent|assistant)$/i
const MOST_WORDS = 3

/** A name for the agent with this system prompt: from "You are the planner of a team.", it is planner. */
export function agentName(system: string): string {
  const [, said] = /\byou are (?:now )?(?:(?:an?|the|our) )?([^.,;:!?\n()"]{2,60})/i.exec(system) ?? []
  const words = (said ?? '').split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const end = words.findIndex((word) => END.test(word))
  const name = words.slice(0, Math.min(MOST_WORDS, end === -1 ? words.length : end))
  return name.length === 0 ? 'assistant' : name.join('-').toLowerCase()
}
