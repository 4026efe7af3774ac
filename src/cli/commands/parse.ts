import type { Command } from 'commander'
import pc from 'picocolors'
import {
  type Block,
  type Chain,
  ChainParser,
  collectChain,
  isWellFormed,
  projectGrammar,
} from '../../language/grammar/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { readInput } from '../input.ts'
import { emit, jsonText, mark } from '../output.ts'
import { paintKind } from '../paint.ts'
import { sanitize } from '../sanitize.ts'

interface ParseOptions extends GlobalOptions {
  grammar?: string
  strict?: boolean
  events?: boolean
}

export function registerParse(program: Command): void {
  program
    .command('parse')
    .argument('<file>', 'text file with a chain, or - for standard input')
    .description('parse a chain: its blocks, tool calls, answer and problems')
    .option('-g, --grammar <name>', 'grammar of the chain (default: language.grammar)')
    .option('--strict', 'do not repair anything')
    .option('--events', "print the parser's events, one JSON object per line")
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa parse chain.txt -g math\n  $ cat chain.txt | coa parse - --strict --json',
    )
    .action(async (file: string, _options, command: Command) => {
      const options = command.optsWithGlobals<ParseOptions>()
      const { config } = settings(options, { 'language.grammar': options.grammar })
      const grammar = await projectGrammar(config.language)
      const raw = readInput(file)
      const parser = new ChainParser(grammar, { strict: options.strict ?? false })
      const events = [...parser.push(raw), ...parser.end()]
      const chain = collectChain(grammar, raw, events)
      const ok = isWellFormed(chain)
      if (options.events) for (const event of events) process.stdout.write(`${jsonText(event)}\n`)
      else {
        const { blocks, calls, answer, diagnostics, order } = chain
        const violations = order.violations
        emit(options, { ok, grammar: grammar.name, blocks, calls, answer, diagnostics, violations }, () =>
          describe(chain),
        )
      }
      if (!ok) process.exitCode = exitCodes.findings.code
    })
}

const SHOWN_PROBLEMS = 100

function describe(chain: Chain): string {
  const place = positions(chain.raw)
  const problems = [
    ...chain.diagnostics.map(({ start, code, message, repair }) => ({ at: start, code, message, repair })),
    ...chain.order.violations.map(({ index, message }) => {
      return { at: chain.blocks[index]?.start ?? chain.raw.length, code: 'order', message, repair: null }
    }),
  ].sort((left, right) => left.at - right.at)
  return [
    ...chain.blocks.map((block) => line(block)),
    '',
    `${chain.blocks.length} blocks, ${chain.calls.length} calls, ${chain.answer === null ? 'no answer' : 'answered'}`,
    ...(problems.length === 0 ? [`${mark.good} well formed`] : []),
    ...problems.slice(0, SHOWN_PROBLEMS).map(({ at, code, message, repair }) => {
      const repaired = repair === null ? '' : pc.dim(` (${sanitize(repair)})`)
      return `${repair === null ? mark.bad : mark.open} ${place(at)} ${pc.bold(code)}: ${sanitize(message)}${repaired}`
    }),
    ...(problems.length > SHOWN_PROBLEMS
      ? [`… ${problems.length - SHOWN_PROBLEMS} more; use --json to see all`]
      : []),
  ].join('\n')
}

function line(block: Block): string {
  const kind = block.kind === 'tool' ? 'call' : block.kind
  const text = sanitize(block.text.trim().replaceAll(/\s+/g, ' '))
  return `${pc.dim(`${block.start}–${block.end}`.padEnd(11))} ${paintKind(kind, block.agent.padEnd(16))} ${text.length > 80 ? `${text.slice(0, 79)}…` : text}`
}

/** Converts offsets to line and column, counted from 1 as in editors. */
function positions(text: string): (at: number) => string {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (at) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (starts[middle]! <= at) low = middle
      else high = middle - 1
    }
    return `${low + 1}:${at - starts[low]! + 1}`
  }
}
