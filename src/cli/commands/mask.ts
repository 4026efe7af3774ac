import type { Command } from 'commander'
import pc from 'picocolors'
import { projectGrammar } from '../../language/grammar/index.ts'
import {
  type EncodedStream,
  encodeStream,
  type Tokenizer,
  tokenizerNamed,
} from '../../language/tokens/index.ts'
import { isTrained } from '../../schema/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { jsonText, mark } from '../output.ts'
import { paintMask } from '../paint.ts'
import { showProgress } from '../progress.ts'
import { type InputSequence, readSequences } from '../read-sequences.ts'
import { sanitize } from '../sanitize.ts'

interface MaskOptions extends GlobalOptions {
  grammar?: string
  tokenizer?: string
  question?: string
  whole?: boolean
}

export function registerMask(program: Command): void {
  program
    .command('mask')
    .argument('<file>', 'text file with a chain, sequences as .json or .jsonl, or - for standard input')
    .description('show what is trained on and what is masked, with token counts')
    .option('-g, --grammar <name>', 'grammar of a text file (default: language.grammar)')
    .option(
      '-t, --tokenizer <folder>',
      'folder with tokenizer.json, or "bytes" (default: language.tokenizer)',
    )
    .option('-q, --question <text>', 'prepend the prompt for this question to a text file')
    .option(
      '--whole',
      'tokenize the stream in one piece, as other trainers do; tokens that straddle a boundary are masked',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa mask chain.txt -g web\n  $ coa mask sequences.jsonl -t models/qwen --json' +
        '\n  $ coa run show latest --kind sequence --jsonl | coa mask -',
    )
    .action(async (file: string, _options, command: Command) => {
      const options = command.optsWithGlobals<MaskOptions>()
      const flags = { 'language.grammar': options.grammar, 'language.tokenizer': options.tokenizer }
      const { language } = settings(options, flags).config
      const tokenizer = await tokenizerNamed(language.tokenizer)
      const sequences = readSequences(file, await projectGrammar(language), options.question)
      const observe = showProgress()
      const spanEncoding = options.whole === true ? 'whole' : 'separate'
      // Written one by one, so that files of any size work.
      if (options.json) process.stdout.write('[')
      for (const [index, sequence] of sequences.entries()) {
        observe({ stage: 'mask', done: index, total: sequences.length, unit: 'sequences' })
        const encoded = encodeStream(tokenizer, sequence, { spanEncoding })
        if (options.json) writeJson(sequence, encoded, index === 0)
        else process.stdout.write(`${index === 0 ? '' : '\n'}${describe(sequence, encoded, tokenizer)}\n`)
      }
      if (options.json) process.stdout.write(']\n')
      observe.done()
      if (sequences.some((sequence) => sequence.problems.length > 0))
        process.exitCode = exitCodes.findings.code
    })
}

function count({ ids, mask, promptLength, straddling }: EncodedStream): Record<string, number> {
  const trained = mask.reduce((sum, bit) => sum + bit, 0)
  return {
    tokens: ids.length,
    prompt: promptLength,
    trained,
    masked: ids.length - promptLength - trained,
    straddling,
  }
}

const ARRAY_PIECE = 100_000

/** Long arrays are written in pieces, because strings have a maximum length. */
function writeJson({ id, problems }: InputSequence, encoded: EncodedStream, first: boolean): void {
  const head = jsonText({ id, problems, ...count(encoded) })
  process.stdout.write(`${first ? '' : ','}\n${head.slice(0, -1)}`)
  for (const name of ['ids', 'mask', 'spanOf'] as const) {
    process.stdout.write(`,"${name}":[`)
    for (let from = 0; from < encoded[name].length; from += ARRAY_PIECE) {
      process.stdout.write(
        (from === 0 ? '' : ',') + encoded[name].subarray(from, from + ARRAY_PIECE).join(','),
      )
    }
    process.stdout.write(']')
  }
  process.stdout.write('}')
}

/** The stream with each span colored by its mask, its problems, and token counts. */
function describe({ spans, problems }: InputSequence, encoded: EncodedStream, tokenizer: Tokenizer): string {
  const { tokens = 0, prompt = 0, trained = 0, masked = 0, straddling = 0 } = count(encoded)
  const ends = encoded.mask.at(-1) === 1 && encoded.spanOf.at(-1) === -1
  const share = tokens === prompt ? 0 : Math.round((100 * trained) / (tokens - prompt))
  const counts = [
    `${paintMask(true, 'trained')} ${trained} tokens (${share}% of the stream)`,
    `${paintMask(false, 'masked')} ${masked}`,
    `prompt ${prompt}`,
    `total ${tokens}`,
    ...(straddling > 0 ? [`straddling (masked) ${straddling}`] : []),
    ...(ends ? [pc.dim(`including ${tokenizer.eosToken} at the end`)] : []),
  ]
  return [
    spans.map((span) => paintMask(isTrained(span), sanitize(span.text))).join(''),
    '',
    ...(problems.length === 0
      ? []
      : [`${mark.bad} the chain is malformed, so the mask may be wrong; see \`coa parse\`:`]),
    ...problems.slice(0, 10).map((problem) => `  - ${sanitize(problem)}`),
    ...(problems.length > 10 ? [`  … ${problems.length - 10} more`] : []),
    counts.join('   '),
  ].join('\n')
}
