/** A byte-level BPE from tokenizer.json, as small models have: token ids of a text, and the text of token ids. */
export class Tokenizer {
  #ids
  #ranks
  #tokens = []
  #added = new Map()
  #addedPattern
  #patterns

  constructor({ model, added_tokens: added, pre_tokenizer: splitter }) {
    this.#ids = new Map(Object.entries(model.vocab))
    this.#ranks = new Map(
      model.merges.map((merge, rank) => [Array.isArray(merge) ? merge.join(' ') : merge, rank]),
    )
    for (const [token, id] of this.#ids) this.#tokens[id] = token
    for (const { content, id } of added) this.#added.set(content, id)
    const escaped = [...this.#added.keys()]
      .sort((one, other) => other.length - one.length)
      .map((token) => token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    this.#addedPattern = new RegExp(`(${escaped.join('|')})`)
    this.#patterns = patternsOf(splitter).map((pattern) => new RegExp(pattern, 'gu'))
  }

  encode(text) {
    return text
      .split(this.#addedPattern)
      .flatMap((part, index) =>
        index % 2 === 1 ? this.#added.get(part) : this.#words(part).flatMap((word) => this.#merge(word)),
      )
  }

  /** Tokens outside the vocabulary, such as tags, are text; bytes of incomplete characters become �. */
  decode(ids, skipped = new Set()) {
    const bytes = []
    const byId = new Map([...this.#added].map(([content, id]) => [id, content]))
    for (const id of ids) {
      if (skipped.has(id)) continue
      if (byId.has(id)) bytes.push(...new TextEncoder().encode(byId.get(id)))
      else bytes.push(...Array.from(this.#tokens[id] ?? '', (character) => byteOf.get(character)))
    }
    return new TextDecoder().decode(Uint8Array.from(bytes))
  }

  #words(text) {
    return this.#patterns.reduce(
      (pieces, pattern) => pieces.flatMap((piece) => isolated(piece, pattern)),
      text === '' ? [] : [text],
    )
  }

  #merge(word) {
    const parts = Array.from(new TextEncoder().encode(word), (byte) => characterOf[byte])
    for (;;) {
      let [best, at] = [Number.POSITIVE_INFINITY, -1]
      for (let i = 0; i + 1 < parts.length; i++) {
        const rank = this.#ranks.get(`${parts[i]} ${parts[i + 1]}`) ?? Number.POSITIVE_INFINITY
        if (rank < best) [best, at] = [rank, i]
      }
      if (at === -1) return parts.map((part) => this.#ids.get(part))
      parts.splice(at, 2, parts[at] + parts[at + 1])
    }
  }
}

/** The matches of a pattern and what is between them. */
function isolated(text, pattern) {
  const pieces = []
  let from = 0
  for (const { 0: match, index } of text.matchAll(pattern)) {
    if (index > from) pieces.push(text.slice(from, index))
    if (match !== '') pieces.push(match)
    from = index + match.length
  }
  return from < text.length ? [...pieces, text.slice(from)] : pieces
}

const gpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

function patternsOf(splitter) {
  const steps = splitter.type === 'Sequence' ? splitter.pretokenizers : [splitter]
  return steps.flatMap(({ type, pattern, use_regex: useRegex }) => {
    if (type === 'Split') return [pattern.Regex]
    if (type === 'Digits') return ['\\p{N}']
    return useRegex === false ? [] : [gpt2]
  })
}

/** Printable characters stand for themselves, the other bytes for characters from U+0100 on. */
const characterOf = []
for (let byte = 0, next = 256; byte < 256; byte++) {
  const isPrintable = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
  characterOf[byte] = String.fromCodePoint(isPrintable ? byte : next++)
}
const byteOf = new Map(characterOf.map((character, byte) => [character, byte]))
