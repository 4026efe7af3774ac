import { CoaError, ConfigError, nearestName, UsageError } from '../../base/errors/index.ts'
import { modelFromSettings } from '../models/index.ts'
import { openSandbox } from '../sandbox/index.ts'
import type { WorldConfig } from '../settings.ts'
import { codeTool } from './code/code-tool.ts'
import type { Tool } from './contract.ts'
import { mcpServerOf } from './mcp/from-settings.ts'
import { openMcp } from './mcp/open-mcp.ts'
import { loadUserTools } from './own-tools.ts'
import { readPageTool } from './read-page/read-page-tool.ts'
import { type OpenProvider, openProvider } from './search/open-provider.ts'
import type { ReadDocument } from './search/provider.ts'
import { searchTool } from './search/search-tool.ts'

export type ToolboxSettings = Pick<WorldConfig, 'tools' | 'sandbox' | 'search' | 'summary' | 'embedding'>

/** A tool and whether it works on this machine with these settings. */
export interface ToolState {
  name: string
  /** Undefined if the tool is not available. */
  tool?: Tool
  /** What it uses, such as the sandbox driver or the corpus; or why it is not available. */
  how: string
  fix?: string
}

export interface Toolbox {
  /** All tools, available or not. */
  states(): Promise<ToolState[]>
  /** Tools added in the settings: user-defined tools and those of MCP servers. */
  added(): Promise<Tool[]>
  /** One tool. Throws if it does not exist or is not available. */
  open(name: string): Promise<Tool>
  close(): Promise<void>
}

interface Opened {
  tool: Tool
  how: string
}

/**
 * The tools that the settings describe. Each is opened when it is first requested. `environment` supplies keys, as `process.env`
 * does.
 *
 * @example
 * import { openToolbox, projectConfig } from 'chain-of-agents'
 *
 * const toolbox = openToolbox(projectConfig({}).config, process.env)
 * for (const { name, how } of await toolbox.states()) console.log(name, how)
 * await toolbox.close()
 */
export function openToolbox(
  settings: ToolboxSettings,
  environment: Record<string, string | undefined>,
): Toolbox {
  const closing: (() => unknown)[] = []
  const memo = new Map<string, Promise<unknown>>()
  const shared = <T>(key: string, make: () => Promise<T>): Promise<T> => {
    const known = (memo.get(key) as Promise<T> | undefined) ?? make()
    memo.set(key, known)
    return known
  }

  const provider = (): Promise<OpenProvider> =>
    shared('provider', async () => {
      const opened = openProvider(settings, environment)
      closing.push(opened.close)
      return opened
    })
  /** Pages can be read without a search provider; then there are no documents. */
  const documents = (): Promise<ReadDocument | undefined> =>
    provider().then(
      (opened) => opened.provider.read,
      (error: unknown) => {
        if (CoaError.isInstance(error)) return undefined
        throw error
      },
    )
  const search = async (name: 'web_search' | 'wiki_search'): Promise<Opened> => {
    const { provider: found, how } = await provider()
    return { tool: searchTool({ provider: found, name, limit: settings.search.limit }), how }
  }
  const readPage = async (): Promise<Opened> => {
    const summarizer = modelFromSettings('summary', settings.summary, environment)
    const allowHosts = settings.tools.allow_hosts
    const readDocument = await documents()
    const tool = readPageTool({
      allowHosts,
      ...(readDocument === undefined ? {} : { readDocument }),
      ...(summarizer === undefined ? {} : { summarizer }),
    })
    const parts = [
      ...(readDocument === undefined ? [] : [`documents of ${settings.search.corpus}`]),
      'the public internet',
      ...allowHosts,
      ...(summarizer === undefined ? [] : [`summaries by ${summarizer.name}`]),
    ]
    return { tool, how: parts.join(', ') }
  }
  const code = (): Promise<Opened> =>
    shared('sandbox', async () => {
      const sandbox = await openSandbox(settings.sandbox)
      closing.push(() => sandbox.close())
      const python = sandbox.describe().find(({ language }) => language === 'python')
      return { tool: codeTool(sandbox), how: `${python?.driver}: ${python?.why}` }
    })
  const builtin: Record<string, () => Promise<Opened>> = {
    web_search: () => search('web_search'),
    wiki_search: () => search('wiki_search'),
    crawl_page: readPage,
    code,
  }
  const added = (): Promise<Opened[]> =>
    shared('added', async () => {
      const opened: Opened[] = []
      const { own, mcp: servers } = settings.tools
      for (const file of own.files) {
        for (const tool of await loadUserTools(file)) {
          if (opened.some((other) => other.tool.name === tool.name))
            throw new ConfigError(`two of your tools are named "${tool.name}"`, { fix: 'Rename one.' })
          opened.push({ tool, how: file })
        }
      }
      for (const [name, server] of Object.entries(servers)) {
        const mcp = await openMcp(mcpServerOf(name, server, environment), {
          taken: opened.map(({ tool }) => tool.name),
        })
        closing.push(mcp.close)
        opened.push(...mcp.tools.map((tool) => ({ tool, how: `MCP server ${mcp.server}` })))
      }
      return opened
    })

  return {
    async states() {
      const own = Object.entries(builtin).map(([name, open]) => stateOf(name, open))
      const others = (await added()).map(({ tool, how }) => ({ name: tool.name, tool, how }))
      return [...(await Promise.all(own)), ...others]
    },
    added: async () => (await added()).map(({ tool }) => tool),
    async open(name) {
      const open = Object.hasOwn(builtin, name) ? builtin[name] : undefined
      if (open !== undefined) return (await open()).tool
      const others = await added()
      const found = others.find(({ tool }) => tool.name === name)
      if (found !== undefined) return found.tool
      const names = [...Object.keys(builtin), ...others.map(({ tool }) => tool.name)]
      const nearest = nearestName(name, names)
      throw new UsageError(`there is no tool named "${name}"`, {
        fix: nearest === undefined ? `Use one of ${names.join(', ')}.` : `Did you mean "${nearest}"?`,
      })
    },
    async close() {
      for (const end of closing.splice(0).reverse()) await end()
    },
  }
}

/** One unavailable tool does not hide the others. */
async function stateOf(name: string, open: () => Promise<Opened>): Promise<ToolState> {
  try {
    return { name, ...(await open()) }
  } catch (error) {
    if (!CoaError.isInstance(error)) throw error
    return { name, how: error.message, ...(error.fix === undefined ? {} : { fix: error.fix }) }
  }
}
