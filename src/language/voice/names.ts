/** Shorter names, such as "p", are words or variables more often than people. */
const SHORTEST = 3
/** Alternatives of one pattern; larger teams are cut off, longest names first. */
const MOST = 50
/** The person who asks, and words that a text needs for other things. */
const notTeammates = new Set(['user', 'human', 'system', 'tool', 'tools', 'agent', 'model', 'team', 'code'])

/** Everyone who takes part in a run, judging by its events. */
export function agentNames(events: Iterable<{ agent: string; to?: string }>): string[] {
  const names = new Set<string>()
  for (const { agent, to } of events) {
    names.add(agent)
    if (to !== undefined) names.add(to)
  }
  return [...names]
}

/**
 * A pattern for the names of a team, or undefined if none of them can be recognized. `solver_a` is also written
 * "Solver A", and `WebSurfer` "web surfer". A name that the question itself uses is left out: in a question about a
 * film critic, "the critic" is not a teammate.
 */
export function namesPattern(names: readonly string[], question: string): string | undefined {
  const asked = ` ${wordsOf(question).join(' ')} `
  const usable = names
    .filter((name) => name.length >= SHORTEST && !notTeammates.has(name.toLowerCase()))
    .filter((name) => {
      const words = wordsOf(name)
      return words.length > 0 && !asked.includes(` ${words.join(' ')} `)
    })
    .sort((left, right) => right.length - left.length || (left < right ? -1 : 1))
    .slice(0, MOST)
  if (usable.length === 0) return undefined
  const alternatives = new Set(usable.map((name) => wordsOf(name).map(escaped).join('[ _-]?')))
  return `(?:${[...alternatives].join('|')})`
}

/** The words of a name or a text, in lower case: "WebSurfer" and "web_surfer" both have two. */
function wordsOf(text: string): string[] {
  const spaced = text.replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, ' ')
  return spaced.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

const escaped = (word: string): string => word.replace(/[^\p{L}\p{N}]/gu, '\\$&')
