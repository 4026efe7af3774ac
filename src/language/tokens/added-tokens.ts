import type { AddedToken } from './tokenizer-json.ts'
import { UnitReader } from './units.ts'

/** A section of text: an added token, or ordinary text if `token` is undefined. */
export interface Section {
  start: number
  end: number
  token?: AddedToken
}

interface TrieNode {
  children: Map<number, TrieNode>
  token?: AddedToken
}

/** Filters matches: false leaves the token as ordinary text. */
export type Accept = (token: AddedToken, start: number, end: number) => boolean

/** Finds added tokens in a text, leftmost and longest first, like the Rust library. */
export class AddedTokenFinder {
  private readonly root: TrieNode = { children: new Map() }
  /** 1 for each UTF-16 unit that starts a token, so most positions need only one lookup. */
  private readonly opens = new Uint8Array(0x10000)
  private readonly reader = new UnitReader()
  /** The first unit, if all tokens share it: searching for it is faster than checking every position. */
  private readonly opening: string | undefined
  readonly size: number

  constructor(tokens: ReadonlyArray<{ content: string; token: AddedToken }>) {
    this.size = tokens.length
    for (const { content, token } of tokens) {
      let node = this.root
      for (let index = 0; index < content.length; index++) {
        const unit = content.charCodeAt(index)
        let child = node.children.get(unit)
        if (child === undefined) {
          child = { children: new Map() }
          node.children.set(unit, child)
        }
        node = child
      }
      node.token = token
      this.opens[content.charCodeAt(0)] = 1
    }
    const openings = new Set(tokens.map(({ content }) => content[0]))
    this.opening = openings.size === 1 ? [...openings][0] : undefined
  }

  split(text: string, accept: Accept): Section[] {
    const sections: Section[] = []
    let open = 0
    let index = 0
    const { opens, opening } = this
    const next = (from: number): number => {
      const position = opening === undefined ? from : text.indexOf(opening, from)
      return position === -1 ? text.length : position
    }
    index = next(0)
    const units = index === text.length ? none : this.reader.read(text)
    while (index < units.length) {
      const found = opens[units[index]!] === 1 ? this.longestAt(units, index) : undefined
      if (found === undefined) {
        index = next(index + 1)
        continue
      }
      const matchEnd = index + found.length
      if (
        index >= open &&
        accept(found.token, index, matchEnd) &&
        fitsAsWord(found.token, text, index, matchEnd)
      ) {
        const start = found.token.lstrip ? Math.max(open, skipSpacesBack(text, index)) : index
        const end = found.token.rstrip ? skipSpaces(text, matchEnd) : matchEnd
        if (open < start) sections.push({ start: open, end: start })
        sections.push({ start, end, token: found.token })
        open = end
      }
      index = next(matchEnd)
    }
    if (open < text.length) sections.push({ start: open, end: text.length })
    return sections
  }

  private longestAt(text: Uint16Array, start: number): { token: AddedToken; length: number } | undefined {
    let node: TrieNode | undefined = this.root
    let best: { token: AddedToken; length: number } | undefined
    for (let index = start; index < text.length; index++) {
      node = node.children.get(text[index]!)
      if (node === undefined) break
      if (node.token !== undefined) best = { token: node.token, length: index + 1 - start }
    }
    return best
  }
}

const none = new Uint16Array(0)

const wordCharacter = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]/u

/** A `single_word` token matches only where it touches no letter. */
function fitsAsWord(token: AddedToken, text: string, start: number, end: number): boolean {
  if (!token.single_word) return true
  const low = text.charCodeAt(start - 1) >= 0xdc00 && text.charCodeAt(start - 1) <= 0xdfff
  const before = start === 0 ? '' : text.slice(start - (low ? 2 : 1), start)
  return !wordCharacter.test(before) && !wordCharacter.test(text.slice(end, end + 2))
}

const whiteSpace = /\p{White_Space}/u

function skipSpaces(text: string, index: number): number {
  let end = index
  while (end < text.length && whiteSpace.test(text[end]!)) end++
  return end
}

function skipSpacesBack(text: string, index: number): number {
  let start = index
  while (start > 0 && whiteSpace.test(text[start - 1]!)) start--
  return start
}
