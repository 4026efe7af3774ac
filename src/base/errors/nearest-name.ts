/** Levenshtein distance, one matrix row at a time. */
function distance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const current = [i]
    for (let j = 1; j <= right.length; j++) {
      const substitution = previous[j - 1]! + (left[i - 1] === right[j - 1] ? 0 : 1)
      current.push(Math.min(previous[j]! + 1, current[j - 1]! + 1, substitution))
    }
    previous = current
  }
  return previous[right.length]!
}

/** The known name that a mistyped one most likely meant, or undefined if none is close. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase().slice(0, 80)
  let best: string | undefined
  // Up to two edits, or a third of a long name; never so many that any name would match.
  let bestDistance = Math.min(Math.max(2, Math.floor(wanted.length / 3)) + 1, wanted.length)
  for (const candidate of known) {
    const candidateDistance = distance(wanted, candidate.toLowerCase())
    if (candidateDistance < bestDistance) {
      best = candidate
      bestDistance = candidateDistance
    }
  }
  return best
}
