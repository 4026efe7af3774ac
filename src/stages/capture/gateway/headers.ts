/** Headers that belong to one connection, not to the message. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

type Pairs = [name: string, value: string][]

function pairsOf(raw: readonly string[]): Pairs {
  const pairs: Pairs = []
  for (let index = 0; index < raw.length; index += 2) pairs.push([raw[index]!, raw[index + 1]!])
  return pairs
}

/** The headers to pass on, with their spelling, order and repetitions, as Node takes them. */
export function passedOn(raw: readonly string[], without: readonly string[] = []): string[] {
  const pairs = pairsOf(raw)
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/))
  const left = new Set([...named, ...without])
  return pairs.filter(([name]) => !hopByHop.has(name.toLowerCase()) && !left.has(name.toLowerCase())).flat()
}
