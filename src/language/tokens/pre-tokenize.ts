import { TokenizerError } from '../../base/errors/index.ts'
import { type AlignedText, applyEdits, type Edit, originalStart, withText } from './aligned-text.ts'
import { byteCharacters } from './byte-level.ts'
import { compilePattern } from './normalize.ts'
import { onePiece, type Pieces, type SplitBehavior, scanPieces, splitPieces } from './pieces.ts'
import type { Component } from './tokenizer-json.ts'
import { gpt2Pattern, type WordScanner, wordScanner } from './word-scanner.ts'

export interface PreTokenizer {
  cut(text: AlignedText): Pieces
  /**
   * True if words are passed to the model as bytes; the model does that step itself, so that its cache is keyed by
   * text.
   */
  readonly byteLevel: boolean
  /** Set if `cut` only applies this scanner, so that words can be scanned one by one. */
  readonly scanner: WordScanner | undefined
}

interface Step {
  (pieces: Pieces): Pieces
  scanner?: WordScanner
}

const whiteSpace = /\p{White_Space}+/gu
const punctuation = /[\p{P}!-/:-@[-`{-~]/gu
/** \w+|[^\w\s]+ with the \w of Rust's regex crate, which the Rust library uses. */
const wordsAndOthers =
  /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\p{White_Space}]+/gu

/** Builds the pre-tokenizer of a tokenizer.json. `prefix: false` omits the dummy space before the text. */
export function createPreTokenizer(
  component: Component | null | undefined,
  options: { prefix: boolean },
): PreTokenizer {
  const parts = flatten(component)
  const byteLevel = parts.at(-1)?.type === 'ByteLevel'
  const steps = parts.flatMap((part, index) => createSteps(part, options, index === parts.length - 1))
  const scanner = steps.length === 1 ? steps[0]!.scanner : undefined
  return { byteLevel, scanner, cut: (text) => steps.reduce((pieces, step) => step(pieces), onePiece(text)) }
}

function flatten(component: Component | null | undefined): Component[] {
  if (component === null || component === undefined) return []
  if (component.type !== 'Sequence') return [component]
  return ((component['pretokenizers'] ?? []) as Component[]).flatMap(flatten)
}

function createSteps(component: Component, options: { prefix: boolean }, last: boolean): Step[] {
  const split =
    (pattern: RegExp, behavior: SplitBehavior, invert = false): Step =>
    (pieces) =>
      splitPieces(pieces, pattern, behavior, invert)
  switch (component.type) {
    case 'Split': {
      const pattern = component['pattern'] as { Regex?: string }
      const behavior = behaviorOf(component, 'removed')
      if (behavior === 'isolated' && component['invert'] !== true) return [splitWords(pattern)]
      return [split(compilePattern(pattern), behavior, component['invert'] === true)]
    }
    case 'ByteLevel': {
      const steps: Step[] = []
      if (component['add_prefix_space'] !== false) {
        steps.push((pieces) => addPrefix(pieces, ' ', (piece) => options.prefix || piece.start > 0))
      }
      if (component['use_regex'] !== false) steps.push(splitWords({ Regex: gpt2Pattern }))
      if (!last) steps.push((pieces) => editPieces(pieces, bytesAsCharacters))
      return steps
    }
    case 'Metaspace':
      if ([...markOf(component)].length !== 1)
        throw new TokenizerError(
          `The tokenizer's replacement for spaces is ${JSON.stringify(markOf(component))}.`,
          {
            fix: 'Use a tokenizer whose Metaspace replacement is a single character.',
          },
        )
      return [(pieces) => metaspace(pieces, component, options)]
    case 'Whitespace':
      return [split(wordsAndOthers, 'removed', true)]
    case 'WhitespaceSplit':
      return [split(whiteSpace, 'removed')]
    case 'BertPreTokenizer':
      return [split(whiteSpace, 'removed'), split(punctuation, 'isolated')]
    case 'Punctuation':
      return [split(punctuation, behaviorOf(component, 'isolated'))]
    case 'Digits':
      return [split(/\p{N}/gu, component['individual_digits'] === true ? 'isolated' : 'contiguous')]
    case 'CharDelimiterSplit':
      return [split(compilePattern({ String: String(component['delimiter']) }), 'removed')]
    default:
      throw new TokenizerError(`The tokenizer's pre-tokenizer "${component.type}" is not supported.`, {
        fix: 'Use a tokenizer with a Split, ByteLevel, Metaspace, Whitespace, Bert, Punctuation or Digits pre-tokenizer.',
      })
  }
}

/**
 * Uses a scanner if it supports the pattern; in a compiled pattern, \s means Unicode whitespace, as in the Rust
 * library.
 */
function splitWords(pattern: { Regex?: string }): Step {
  const scanner = pattern.Regex === undefined ? undefined : wordScanner(pattern.Regex)
  if (scanner !== undefined)
    return Object.assign((pieces: Pieces) => scanPieces(pieces, scanner), { scanner })
  const compiled = compilePattern(pattern)
  return (pieces) => splitPieces(pieces, compiled, 'isolated', false)
}

function behaviorOf(component: Component, fallback: SplitBehavior): SplitBehavior {
  return String(component['behavior'] ?? fallback).toLowerCase() as SplitBehavior
}

function markOf(component: Component): string {
  return String(component['replacement'] ?? '▁')
}

/** As in SentencePiece: spaces become ▁, a word may get one in front, and text is split before each ▁. */
function metaspace(pieces: Pieces, component: Component, options: { prefix: boolean }): Pieces {
  const mark = markOf(component)
  const scheme = component['prepend_scheme'] ?? (component['add_prefix_space'] === false ? 'never' : 'always')
  const marked: Pieces = {
    source: withText(pieces.source, pieces.source.text.replaceAll(' ', mark)),
    starts: pieces.starts,
    texts: pieces.texts.map((text) => text.replaceAll(' ', mark)),
  }
  const prefixed = addPrefix(marked, mark, ({ start, original }) => {
    // A word in the middle of a text (after WhitespaceSplit) keeps its mark even if the text continues another.
    if (scheme === 'never' || (!options.prefix && start === 0)) return false
    return scheme === 'always' || original === 0
  })
  if (component['split'] === false) return prefixed
  return splitPieces(prefixed, new RegExp(`${mark}?[^${mark}]+|${mark}`, 'gu'), 'isolated', false)
}

function addPrefix(
  pieces: Pieces,
  prefix: string,
  wanted: (piece: { start: number; original: number }) => boolean,
): Pieces {
  return editPieces(pieces, (text, start) =>
    !text.startsWith(prefix) && wanted({ start, original: originalStart(pieces.source, start) })
      ? [{ start: 0, end: 0, text: prefix }]
      : [],
  )
}

/** As in Falcon: bytes first, further splits later. Each character is replaced by its byte characters. */
function bytesAsCharacters(text: string): Edit[] {
  const edits: Edit[] = []
  let start = 0
  for (const character of text) {
    const end = start + character.length
    const bytes = byteCharacters(character)
    if (bytes !== character) edits.push({ start, end, text: bytes })
    start = end
  }
  return edits
}

/** Applies edits within pieces; positions are relative to the piece. */
function editPieces(pieces: Pieces, editsOf: (text: string, start: number) => Edit[]): Pieces {
  const edits: Edit[] = []
  const starts: number[] = []
  const lengths: number[] = []
  let shift = 0
  pieces.texts.forEach((text, index) => {
    const start = pieces.starts[index]!
    starts.push(start + shift)
    let length = text.length
    for (const edit of editsOf(text, start)) {
      edits.push({ start: start + edit.start, end: start + edit.end, text: edit.text })
      length += edit.text.length - (edit.end - edit.start)
    }
    lengths.push(length)
    shift += length - text.length
  })
  if (edits.length === 0) return pieces
  const source = applyEdits(pieces.source, edits)
  return {
    source,
    starts,
    texts: starts.map((start, index) => source.text.slice(start, start + lengths[index]!)),
  }
}
