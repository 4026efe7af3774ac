const PLACE = 'coa-history'
const MOST = 30
/** Characters of a step that are kept. */
const MOST_TEXT = 20_000

/** Earlier questions and their chains, the latest first. */
export function earlier() {
  try {
    const kept = JSON.parse(localStorage.getItem(PLACE) ?? '[]')
    return Array.isArray(kept) ? kept : []
  } catch {
    return []
  }
}

export function remember(result) {
  const steps = result.steps.map((step) => ({ ...step, text: step.text.slice(0, MOST_TEXT) }))
  const kept = [{ ...result, steps }, ...earlier()].slice(0, MOST)
  // If the browser has no more room, the oldest are forgotten.
  while (kept.length > 0) {
    try {
      localStorage.setItem(PLACE, JSON.stringify(kept))
      return
    } catch {
      kept.pop()
    }
  }
}

export const forget = () => localStorage.removeItem(PLACE)
