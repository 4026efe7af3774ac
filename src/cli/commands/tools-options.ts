import { type Command, Option } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import { readEnvironment } from '../../settings/index.ts'
import type { McpSection } from '../../world/settings.ts'
import type { Toolbox } from '../../world/tools/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'
import { repeatable } from '../repeatable.ts'

/** Options that configure tools. */
export interface ToolOptions extends GlobalOptions {
  corpus?: string
  provider?: string
  allowHost?: string[]
  mcp?: string[]
}

export function addToolOptions(command: Command): Command {
  return command
    .option('--corpus <file>', 'corpus to search (default: search.corpus, corpus.db)')
    .addOption(
      new Option('--provider <name>', 'search provider (default: search.provider, auto)').choices([
        'auto',
        'corpus',
        'searxng',
        'serper',
        'brave',
        'tavily',
      ]),
    )
    .option(
      '--allow-host <host>',
      'allow reading pages of this host, even if it is not public; repeatable',
      repeatable,
    )
    .option(
      '--mcp <server>',
      'add the tools of an MCP server, given by URL or quoted command; repeatable',
      repeatable,
    )
}

/** The tools that settings and options configure, and the settings. */
export async function toolboxFor(options: ToolOptions): Promise<{ toolbox: Toolbox; config: ProjectConfig }> {
  const { config } = settings(options, {
    'search.corpus': options.corpus,
    // --corpus implies searching it, no matter which provider is configured.
    'search.provider': options.provider ?? (options.corpus === undefined ? undefined : 'corpus'),
    'tools.allow_hosts': options.allowHost,
  })
  const asked = (options.mcp ?? []).map((text, index) => [`--mcp ${index + 1}`, serverOf(text)] as const)
  const mcp = { ...config.tools.mcp, ...Object.fromEntries(asked) }
  // Imported on demand, because the tools load half a second of libraries that other commands do not need.
  const { openToolbox } = await import('../../world/tools/index.ts')
  return { toolbox: openToolbox({ ...config, tools: { ...config.tools, mcp } }, readEnvironment()), config }
}

function serverOf(text: string): McpSection {
  const rest = { env: [], headers: {} }
  if (/^https?:\/\//.test(text)) return { url: text, ...rest }
  const command = words(text)
  if (command.length === 0)
    throw new UsageError('--mcp is empty', {
      fix: "Give a URL or a command, such as --mcp 'npx server'.",
    })
  return { command, ...rest }
}

/** Splits a command line into words; quoted words may contain spaces. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare!,
  )
}
