import type { Command } from 'commander'
import pc from 'picocolors'

import type { GlobalOptions } from '../globals.ts'
import { wholeNumber } from '../numbers.ts'
import { emit, mark } from '../output.ts'

interface ServeOptions extends GlobalOptions {
  port: number
  host: string
  seed: number
}

export function registerWorld(program: Command): void {
  const world = program
    .command('world')
    .description('the fictional encyclopedia behind the search tasks')
    .addHelpText('after', '\nExample:\n  $ coa world serve')
  world
    .command('serve')
    .description('serve the encyclopedia as a website with a search page and a search API')
    .option('-p, --port <number>', 'port to listen on; 0 chooses a free one', wholeNumber('--port', 0), 8765)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--seed <number>', 'seed of the encyclopedia; generated tasks use 1', wholeNumber('--seed', 0), 1)
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa world serve',
        '  $ SEARXNG_URL=http://127.0.0.1:8765 coa tools try web_search "Novels by" --provider searxng',
        '  $ coa tools try crawl_page http://127.0.0.1:8765/ --allow-host 127.0.0.1:8765',
      ].join('\n'),
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<ServeOptions>()
      const { serveWorld } = await import('../../tasks/index.ts')
      const { port, host, seed } = options
      const server = await serveWorld({ port, host, seed })
      const pages = server.library.pages.length
      emit(options, { origin: server.origin, pages }, () =>
        [
          `${mark.good} ${pages.toLocaleString('en')} pages at ${pc.bold(server.origin)}`,
          pc.dim(`  search: ${server.origin}/search?q=…&format=json   press Ctrl-C to stop`),
        ].join('\n'),
      )
      await new Promise<void>((stopped) => {
        process.once('SIGINT', () => stopped())
        process.once('SIGTERM', () => stopped())
      })
      await server.close()
    })
}
