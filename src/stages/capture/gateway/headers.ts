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

/** The keys in a request's headers. They are passed on and never stored. */
export function keysIn(headers: Readonly<Record<string, string | string[] | undefined>>): string[] {
  return ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']
    .flatMap((name) => headers[name] ?? [])
    .map((value) => value.replace(/^\w+ /, ''))
}
