import type { Command } from 'commander'
import { z } from 'zod'
import { UsageError } from '../../errors/index.ts'
import { buildPrompt, type Grammar, loadGrammar, parseChain, spansOf } from '../../grammar/index.ts'
import { CoaSequence } from '../../schema/index.ts'
import {
  byteTokenizer,
  type EncodedSequence,
  encodeSequence,
  openTokenizer,
  type Tokenizer,
} from '../../tokens/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { readInput } from '../input.ts'
import { emit } from '../output.ts'
import { paintMask } from '../paint.ts'

interface MaskOptions extends GlobalOptions {
  grammar?: string
  tokenizer?: string
  question?: string
  whole?: boolean
}

type Sequence = Pick<CoaSequence, 'id' | 'prompt' | 'spans'>

export function registerMask(program: Command): void {
  program
    .command('mask')
    .argument(
      '<file>',
      'a text with a chain, sequences as .json or .jsonl, or - for a text on standard input',
    )
    .description('show what a model is trained on: the chain with observations masked, and token counts')
    .option('-g, --grammar <name>', 'grammar of a text (default: language.grammar)')
    .option(
      '-t, --tokenizer <folder>',
      'folder with tokenizer.json, or "bytes" (default: language.tokenizer)',
    )
    .option('-q, --question <text>', 'put the prompt for this question before a text')
    .option('--whole', 'encode the stream in one piece, as other trainers do; straddling tokens are masked')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa mask chain.txt -g web\n  $ coa mask sequences.jsonl -t models/qwen --json',
    )
    .action(async (file: string, _options, command: Command) => {
      const options = command.optsWithGlobals<MaskOptions>()
      const flags = { 'language.grammar': options.grammar, 'language.tokenizer': options.tokenizer }
      const { language } = settings(options, flags).config
      const tokenizer =
        language.tokenizer === 'bytes' ? byteTokenizer() : await openTokenizer(language.tokenizer)
      const sequences = readSequences(file, await loadGrammar(language.grammar), options.question)
      const masked = sequences.map((sequence) => {
        const encoded = encodeSequence(tokenizer, sequence, {
          joints: options.whole === true ? 'whole' : 'cut',
        })
        return { sequence, encoded, counts: count(encoded) }
      })
      const data = masked.map(({ sequence, encoded, counts }) => {
        const { ids, mask, spanOf } = encoded
        return { id: sequence.id, ...counts, ids: [...ids], mask: [...mask], spanOf: [...spanOf] }
      })
      emit(options, data, () =>
        masked.map((item) => describe(item.sequence, item.encoded, item.counts, tokenizer)).join('\n\n'),
      )
    })
}

function readSequences(file: string, grammar: Grammar, question: string | undefined): Sequence[] {
  const text = readInput(file)
  if (!/\.jsonl?$/.test(file)) {
    const prompt = question === undefined ? [] : buildPrompt(grammar, question)
    return [{ id: file, prompt, spans: spansOf(parseChain(grammar, text)) }]
  }
  const items = file.endsWith('.json') ? [text] : text.split('\n').filter((line) => line.trim() !== '')
  return items.map((item, index) => {
    const where = file.endsWith('.json') ? file : `${file}:${index + 1}`
    try {
      return CoaSequence.parse(JSON.parse(item))
    } catch (cause) {
      const reason =
        cause instanceof z.ZodError ? z.prettifyError(cause).split('\n')[0] : (cause as Error).message
      throw new UsageError(`${where} is not a sequence: ${reason}`, {
        fix: 'Give CoaSequence records, such as `coa run show RUN --kind sequence --jsonl` prints.',
        cause,
      })
    }
  })
}

function count({
  ids,
  mask,
  promptLength,
  straddling,
}: EncodedSequence): Record<'tokens' | 'prompt' | 'trained' | 'masked' | 'straddling', number> {
  const trained = mask.reduce((sum, bit) => sum + bit, 0)
  return {
    tokens: ids.length,
    prompt: promptLength,
    trained,
    masked: ids.length - promptLength - trained,
    straddling,
  }
}

/** The stream, coloured token by token where a token's own characters can be shown, by span otherwise. */
function describe(
  sequence: Sequence,
  encoded: EncodedSequence,
  counts: ReturnType<typeof count>,
  tokenizer: Tokenizer,
): string {
  const { tokens, prompt, trained, masked, straddling } = counts
  const end =
    encoded.mask.at(-1) === 1 && encoded.spanOf.at(-1) === -1
      ? ` ${tokenizer.eosToken} is trained at the end.`
      : ''
  const share = tokens === prompt ? 0 : Math.round((100 * trained) / (tokens - prompt))
  return [
    sequence.spans.map((span) => paintMask(span.trainable, span.text)).join(''),
    '',
    `${paintMask(true, 'trained')} ${trained} tokens (${share} % of the stream)   ${paintMask(false, 'masked')} ${masked}` +
      `   prompt ${prompt}   all ${tokens}${straddling > 0 ? `   straddling, masked ${straddling}` : ''}${end && `.${end}`}`,
  ].join('\n')
}
