const COUNT = 7
/** The usual speakers have fixed colors, so that an agent looks the same on every screen. */
const usual = ['think', 'plan', 'code', 'reflection', 'answer', 'search', 'verification']
const others = new Map<string, number>()

/** The class that gives an agent its color. The name is always shown too. */
export function hueOf(agent: string): string {
  const known = usual.indexOf(agent)
  if (known >= 0) return `hue${known}`
  let index = others.get(agent)
  if (index === undefined) {
    index = others.size % COUNT
    others.set(agent, index)
  }
  return `hue${index}`
}
