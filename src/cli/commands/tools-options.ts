import { type Command, Option } from 'commander'
import { UsageError } from '../../base/errors/index.ts'
import type { ProjectConfig } from '../../pipeline/settings.ts'
import { readEnvironment } from '../../settings/index.ts'
import type { McpSection } from '../../world/settings.ts'
import type { Toolbox } from '../../world/tools/index.ts'
import { type GlobalOptions, settings } from '../globals.ts'

/** Options that say which tools there are. */
export interface ToolOptions extends GlobalOptions {
  corpus?: string
  provider?: string
  allowHost?: string[]
  mcp?: string[]
}

const collect = (value: string, earlier: string[] = []): string[] => [...earlier, value]

export function addToolOptions(command: Command): Command {
  return command
    .option('--corpus <file>', 'corpus to search (default: search.corpus, corpus.db)')
    .addOption(
      new Option('--provider <name>', 'where to search (default: search.provider, auto)').choices([
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
      'read pages of this host although it is not public; may be given again',
      collect,
    )
    .option(
      '--mcp <server>',
      'tools of an MCP server: an address, or a command in quotes; may be given again',
      collect,
    )
}

/** The tools as settings and options describe them, and the settings. */
export async function toolboxFor(options: ToolOptions): Promise<{ toolbox: Toolbox; config: ProjectConfig }> {
  const { config } = settings(options, {
    'search.corpus': options.corpus,
    // Who names a corpus wants it searched, whatever else is set up.
    'search.provider': options.provider ?? (options.corpus === undefined ? undefined : 'corpus'),
    'tools.allow_hosts': options.allowHost,
  })
  const asked = (options.mcp ?? []).map((text, index) => [`--mcp ${index + 1}`, serverOf(text)] as const)
  const mcp = { ...config.tools.mcp, ...Object.fromEntries(asked) }
  // Loaded here, because the tools bring half a second of libraries that other commands do not need.
  const { openToolbox } = await import('../../world/tools/index.ts')
  return { toolbox: openToolbox({ ...config, tools: { ...config.tools, mcp } }, readEnvironment()), config }
}

function serverOf(text: string): McpSection {
  const rest = { env: [], headers: {} }
  if (/^https?:\/\//.test(text)) return { url: text, ...rest }
  const command = words(text)
  if (command.length === 0)
    throw new UsageError('--mcp is empty', {
      fix: "Write an address or a command, such as --mcp 'npx server'.",
    })
  return { command, ...rest }
}

/** A command line cut into words; quotes keep spaces together. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare!,
  )
}
