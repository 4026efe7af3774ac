import { type EncodedStream, encodeSpans, renderPrompt, type Tokenizer } from '../../language/tokens/index.ts'
import type { Stream } from '../../schema/index.ts'
import type { Findings } from './check-findings.ts'
import type { Row, TextFormat, TokenFormat, TokenReading } from './format.ts'
import type { Prepared } from './prepare.ts'
import { firstDifference, joinSegments, type Reading, readingOf, type Segment } from './segments.ts'

/** Compares a row, read by its trainer's rule, with the original sequence. */
export function compareSequence(
  format: TextFormat | TokenFormat,
  prepared: Prepared,
  row: Row,
  tokenizer: Tokenizer,
  findings: Findings,
): void {
  findings.rows += 1
  const { id } = prepared.sequence
  let problem: string | undefined
  try {
    if (row['id'] !== undefined && row['id'] !== id) problem = `it belongs to ${String(row['id'])}`
    else if (format.carries === 'text') problem = compareText(format, prepared, row, tokenizer, findings)
    else problem = compareTokens(format, prepared, row, tokenizer, findings)
  } catch (error) {
    // A parse error means that the row has another shape.
    problem = `it cannot be read: ${(error as Error).message}`
  }
  if (problem !== undefined) findings.problem(`row ${findings.rows} (${id}): ${problem}`)
}

function compareText(
  format: TextFormat,
  { sequence }: Prepared,
  row: Row,
  tokenizer: Tokenizer,
  findings: Findings,
): string | undefined {
  const wanted = readingOf(sequence)
  const found = format.fromRow(row)
  if (format.trainsObservations === true) {
    const difference = firstDifference(allTrained(wanted), found)
    const observed = wanted.segments.reduce((sum, { text, trained }) => sum + (trained ? 0 : text.length), 0)
    if (difference === undefined && observed === 0) findings.same += 1
    findings.count('characters of observations trained on', observed)
    return difference
  }
  const difference = firstDifference(wanted, found)
  const straddling = format.straddles === true ? countStraddling(tokenizer, sequence) : 0
  if (straddling > 0) findings.count('tokens that straddle parts, masked by the trainer', straddling)
  if (difference === undefined && straddling === 0) findings.same += 1
  return difference
}

/** Tokens that contain both trained and masked text if a trainer encodes the stream in one piece. */
function countStraddling(tokenizer: Tokenizer, { spans }: Pick<Stream, 'spans'>): number {
  return encodeSpans(tokenizer, spans, { spanEncoding: 'whole', continues: true }).straddling
}

function allTrained({ prompt, segments }: Reading): Reading {
  return { prompt, segments: joinSegments(segments.map(({ text }) => ({ text, trained: true }))) }
}

/** Compares ids and mask, and then the text that trained and masked tokens decode to. */
function compareTokens(
  format: TokenFormat,
  prepared: Prepared,
  row: Row,
  tokenizer: Tokenizer,
  findings: Findings,
): string | undefined {
  const encoded = prepared.encoded!
  const found = format.fromRow(row)
  const difference = firstTokenDifference(encoded, found)
  if (difference !== undefined) return difference
  findings.same += 1
  const wanted = wantedText(prepared, tokenizer)
  const decoded = decodedText(tokenizer, found, encoded.mask[0] ?? 0)
  const alike =
    wanted.length === decoded.length &&
    wanted.every(({ text, trained }, at) => text === decoded[at]?.text && trained === decoded[at]?.trained)
  // The ids are equal, so nothing is wrong: some tokenizers normalize and do not round-trip every text.
  findings.count(
    alike ? 'rows that decode to the same text' : 'rows whose text the tokenizer does not round-trip',
    1,
  )
  return undefined
}

function firstTokenDifference({ ids, mask }: EncodedStream, found: TokenReading): string | undefined {
  if (found.ids.length !== ids.length || found.mask.length !== ids.length)
    return `${found.ids.length} tokens and ${found.mask.length} flags, not ${ids.length}`
  for (let at = 0; at < ids.length; at++) {
    if (found.ids[at] !== ids[at]) return `token ${at + 1} is ${found.ids[at]}, not ${ids[at]}`
    // The first token is never a target.
    if (at > 0 && found.mask[at] !== mask[at])
      return `token ${at + 1} is ${found.mask[at] === 1 ? 'trained on' : 'masked'}, and should not be`
  }
  return undefined
}

function wantedText({ sequence, encoded, rendering }: Prepared, tokenizer: Tokenizer): Segment[] {
  const ends = encoded!.spanOf.at(-1) === -1 && encoded!.mask.at(-1) === 1
  const { prompt, segments } = readingOf(sequence)
  return joinSegments([
    { text: prompt.length === 0 ? '' : renderPrompt(tokenizer, prompt, rendering), trained: false },
    ...segments,
    { text: ends ? (tokenizer.eosToken ?? '') : '', trained: true },
  ])
}

function decodedText(tokenizer: Tokenizer, { ids, mask }: TokenReading, first: number): Segment[] {
  const segments: Segment[] = []
  let from = 0
  const flagAt = (at: number): number => (at === 0 ? first : mask[at]!)
  for (let at = 1; at <= ids.length; at++) {
    if (at < ids.length && flagAt(at) === flagAt(from)) continue
    const text = tokenizer.decode(ids.slice(from, at), { continuation: from > 0 })
    segments.push({ text, trained: flagAt(from) === 1 })
    from = at
  }
  return joinSegments(segments)
}
