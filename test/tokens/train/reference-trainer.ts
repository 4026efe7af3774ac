/**
 * Byte-pair encoding by definition, for checking src/language/tokens/train: after each merge every pair of every word
 * is recounted. Words are runs of non-spaces, and runs of spaces.
 */
export function referenceMerges(
  texts: readonly string[],
  options: {
    tokens: readonly string[]
    symbolOfByte: readonly number[]
    size: number
    minimumFrequency: number
  },
): Array<[string, string]> {
  const tokens = [...options.tokens]
  const words = texts
    .flatMap((text) => text.match(/[^ ]+| /g) ?? [])
    .map((word) => [...Buffer.from(word)].map((byte) => options.symbolOfByte[byte]!))
  const merges: Array<[string, string]> = []
  while (tokens.length < options.size) {
    const best = mostFrequentPair(words)
    if (best === undefined || best.count < options.minimumFrequency) break
    const { left, right } = best
    merges.push([tokens[left]!, tokens[right]!])
    const joined = tokens.push(tokens[left]! + tokens[right]!) - 1
    for (const word of words) joinPair(word, left, right, joined)
  }
  return merges
}

function mostFrequentPair(
  words: readonly number[][],
): { left: number; right: number; count: number } | undefined {
  const counts = new Map<string, number>()
  for (const word of words) {
    for (let index = 1; index < word.length; index++) {
      const key = `${word[index - 1]} ${word[index]}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }
  const pairs = [...counts].map(([key, count]) => {
    const [left, right] = key.split(' ').map(Number) as [number, number]
    return { left, right, count }
  })
  pairs.sort((one, other) => other.count - one.count || one.left - other.left || one.right - other.right)
  return pairs[0]
}

function joinPair(word: number[], left: number, right: number, joined: number): void {
  for (let index = 0; index + 1 < word.length; index++) {
    if (word[index] === left && word[index + 1] === right) word.splice(index, 2, joined)
  }
}
