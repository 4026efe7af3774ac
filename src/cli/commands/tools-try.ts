import type { Command } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import { defineGrammar, extendGrammar, type Payload, parsePayload } from '../../language/grammar/index.ts'
import type { Tool, ToolResult } from '../../world/tools/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { readInput } from '../input.ts'
import { interruptible } from '../interrupt.ts'
import { emit, mark } from '../output.ts'
import { sanitize } from '../sanitize.ts'
import { addToolOptions, type ToolOptions, toolboxFor } from './tools-options.ts'

interface TryOptions extends ToolOptions {
  question?: string
  cache: boolean
}

export function registerToolsTry(parent: Command): void {
  addToolOptions(parent.command('try'))
    .argument('<name>', 'a tool from `coa tools list`')
    .argument('<payload>', 'the text between its tags in a chain, or - for standard input')
    .description('call a tool as a model would, and show its output')
    .option('--question <text>', 'the question being solved, for summaries and to flag leaks')
    .option('--no-cache', 'do not read or write the cache of tool outputs')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        "  $ coa tools try web_search 'lighthouse of Varnholm' --corpus corpus.db",
        '  $ coa tools try crawl_page http://localhost:8080/ --allow-host localhost:8080',
        "  $ echo 'print(6 * 7)' | coa tools try code -",
        '  $ coa tools try add_numbers \'{"a": 1, "b": 2}\' --mcp \'node server.js\'',
      ].join('\n'),
    )
    .action(async (name: string, body: string, _options, command: Command) => {
      const options = command.optsWithGlobals<TryOptions>()
      const { toolbox, config } = await toolboxFor(options)
      const { callTool, ToolCache } = await import('../../world/tools/index.ts')
      try {
        const result = await interruptible(async (signal) => {
          const tool = await toolbox.open(name)
          const payload = await readPayload(tool, body === '-' ? readInput('-') : body)
          return callTool(tool, payload, {
            signal,
            timeoutMs: Math.ceil(config.tools.timeout_s * 1000),
            outputLimit: config.tools.output_limit,
            ...(options.cache && config.tools.cache !== ''
              ? { cache: new ToolCache(config.tools.cache) }
              : {}),
            ...(options.question === undefined ? {} : { question: options.question }),
          })
        })
        emit(options, result, () => describe(result))
        if (!result.ok) process.exitCode = exitCodes.outside.code
      } finally {
        await toolbox.close()
      }
    })
}

/** Parses the payload as if it were between the tool's tags in a chain. */
async function readPayload(tool: Tool, body: string): Promise<Payload> {
  const bare = defineGrammar({
    name: 'try',
    description: 'One tool.',
    start: ['answer'],
    agents: [{ name: 'answer', kind: 'answer', description: 'The end.' }],
  })
  const { payload, problems } = parsePayload(extendGrammar(bare, [tool]).agents.get(tool.name)!, body)
  if (payload === undefined) {
    throw new UsageError(`invalid payload for ${tool.name}: ${problems.at(-1)?.message}`, {
      fix: `It takes ${expected(tool)}.`,
    })
  }
  for (const { message, repair } of problems) process.stderr.write(pc.dim(`${message}; ${repair}\n`))
  return payload
}

function expected({ payload }: Tool): string {
  switch (payload.syntax) {
    case 'text':
      return 'plain text'
    case 'list':
      return 'a list of items separated by |'
    case 'code':
      return 'code, with or without a fence'
    case 'json':
      return payload.schema === undefined
        ? 'a JSON object'
        : `JSON matching ${JSON.stringify(payload.schema)}`
  }
}

function describe(result: ToolResult): string {
  const facts = [
    result.tool,
    `${result.ms} ms`,
    ...(result.cached ? ['from the cache'] : [counted(result.attempts, 'attempt')]),
    counted(result.text.length, 'character'),
    ...(result.truncated ? ['truncated in the middle'] : []),
    ...result.flags.map((flag) => pc.yellow(flag)),
  ]
  return [
    sanitize(result.text),
    '',
    `${result.ok ? mark.good : mark.bad} ${facts.join(', ')}`,
    ...Object.entries(result.provenance).map(([key, value]) => pc.dim(`  ${key}: ${shown(value)}`)),
    ...(result.fix === undefined ? [] : [sanitize(result.fix)]),
  ].join('\n')
}

function counted(number: number, thing: string): string {
  return `${number.toLocaleString('en')} ${thing}${number === 1 ? '' : 's'}`
}

function shown(value: unknown): string {
  return sanitize(typeof value === 'string' ? value : JSON.stringify(value))
}
