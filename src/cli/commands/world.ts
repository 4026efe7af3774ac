import type { Command } from 'commander'
import pc from 'picocolors'
import { UsageError } from '../../base/errors/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { emit, mark } from '../output.ts'

interface ServeOptions extends GlobalOptions {
  port: string
  host: string
  seed: string
}

export function registerWorld(program: Command): void {
  const world = program.command('world').description('the fictional encyclopedia that search tasks are about')
  world
    .command('serve')
    .description('serve it as a web site, with a search for people and for tools')
    .option('-p, --port <number>', 'port to listen on; 0 takes a free one', '8765')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--seed <number>', 'which encyclopedia; the tasks of `coa tasks` are about 1', '1')
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
      const server = await serveWorld({
        port: whole(options.port, '--port'),
        host: options.host,
        seed: whole(options.seed, '--seed'),
      })
      const pages = server.library.pages.length
      emit(options, { origin: server.origin, pages }, () =>
        [
          `${mark.good} ${pages.toLocaleString('en')} pages at ${pc.bold(server.origin)}`,
          pc.dim(`  search: ${server.origin}/search?q=…&format=json   stop with Ctrl-C`),
        ].join('\n'),
      )
      await new Promise<void>((stopped) => {
        process.once('SIGINT', () => stopped())
        process.once('SIGTERM', () => stopped())
      })
      await server.close()
    })
}

function whole(text: string, option: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isInteger(value) && value >= 0) return value
  throw new UsageError(`${option} ${text} is not a whole number`, {
    fix: `Write ${option} with a number from 0.`,
  })
}
