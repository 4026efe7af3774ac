import { type Command, Option } from 'commander'
import type { Device, EmbeddedOptions, EngineDescription } from '../../engine/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { wholeNumber } from '../numbers.ts'

/** Options of every command that opens an engine. */
export interface EngineOptions extends GlobalOptions {
  device?: Device
  threads?: number
}

export function addEngineOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--device <name>', 'device to use (default: cpu, or wasm if cpu is not available)').choices([
        'cpu',
        'wasm',
        'webgpu',
      ]),
    )
    .option(
      '--threads <count>',
      'number of threads (default: all cores, at most 8)',
      wholeNumber('--threads'),
    )
}

export function deviceOptions({
  device,
  threads,
}: EngineOptions): Pick<EmbeddedOptions, 'device' | 'threads'> {
  return {
    ...(device === undefined ? {} : { device }),
    ...(threads === undefined ? {} : { threads }),
  }
}

export function describeEngine({ driver, device, parameters }: EngineDescription): string {
  return `${driver} engine on ${device}; ${millions(parameters)} parameters`
}

/** A number of parameters, such as 1.99 M. */
export function millions(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(2)} B`
  if (count >= 1e5) return `${(count / 1e6).toFixed(2)} M`
  return count.toLocaleString('en')
}
