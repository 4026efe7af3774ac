import { type Command, Option } from 'commander'
import pc from 'picocolors'
import type { BuildName, InstalledBuild } from '../../engine/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { interruptible } from '../interrupt.ts'
import { emit, mark } from '../output.ts'

interface InstallCommandOptions extends GlobalOptions {
  wasm?: boolean
  from?: string
}

export function registerEngineInstall(parent: Command): void {
  parent
    .command('install')
    .description('download the engine to the cache folder now rather than when it is first needed')
    .addOption(
      new Option('--wasm', 'the WebAssembly build, for --device wasm (default: the one this machine uses)'),
    )
    .option('--from <folder>', 'take the archives that `npm pack` has written to this folder')
    .addHelpText(
      'after',
      [
        '\nExamples:',
        '  $ coa engine install',
        '  $ coa engine install --wasm',
        '  $ npm pack onnxruntime-node@1.30.0 onnxruntime-common@1.30.0   # on a machine with network access',
        '  $ coa engine install --from .                                  # where these files have been copied to',
      ].join('\n'),
    )
    .action(async (_options, command: Command) => {
      const options = command.optsWithGlobals<InstallCommandOptions>()
      const { installBuild, neededBuild } = await import('../../engine/index.ts')
      const build: BuildName = neededBuild(options.wasm === true ? 'wasm' : 'cpu')
      const installed: InstalledBuild = await interruptible((signal) =>
        installBuild(build, {
          from: options.from,
          onStatus: (line) => process.stderr.write(`${line}\n`),
          signal,
        }),
      )
      emit(
        options,
        { build, ...installed },
        () =>
          `${mark.good} the ${build === 'native' ? 'native' : 'WebAssembly'} engine is installed ${pc.dim(installed.folder)}`,
      )
    })
}
