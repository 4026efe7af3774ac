import { type Command, CommanderError } from 'commander'
import pc from 'picocolors'
import { CoaError, Interrupted } from '../base/errors/index.ts'
import { exitCodeOf, exitCodes } from './exit-codes.ts'
import { guardOutput } from './guard-output.ts'
import { jsonText } from './output.ts'
import { buildProgram } from './program.ts'
import { sanitize } from './sanitize.ts'

/** A closed pipe, as in `coa run list | head`, is not an error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  process.stderr.write(`coa: cannot write the result: ${error.message}. Check the disk or the pipe.\n`)
  process.exit(exitCodes.input.code)
})
process.stderr.on('error', () => {})
guardOutput(process.stdout)
guardOutput(process.stderr)

/** Our own warnings, which need no name. */
const own = ['RunDamage', 'EngineInstall']
/** Without the process id and the advice on tracing that Node adds. */
process.removeAllListeners('warning')
process.on('warning', ({ name, message }) => {
  process.stderr.write(`${pc.yellow('coa:')} ${own.includes(name) ? '' : `${name}: `}${message}\n`)
})

const words = process.argv.slice(2)
const program = await buildProgram(words)
overrideExit(program)
try {
  if (words.length === 0) process.stdout.write(`${(await import('./welcome.ts')).welcome()}\n`)
  else await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

/** commander would call process.exit itself, with its own exit codes. */
function overrideExit(command: Command): void {
  command.exitOverride()
  command.configureOutput({ outputError: () => {} })
  command.commands.forEach(overrideExit)
}

function report(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0 || error.code === 'commander.help')
      return error.exitCode === 0 ? 0 : exitCodes.input.code
    return printError(error.message.replace(/^error: /, ''), 'See `coa --help`.', error, exitCodes.input.code)
  }
  if (error instanceof Interrupted)
    return printError(
      error.message,
      'Run the same command again to resume.',
      error,
      exitCodes.interrupted.code,
    )
  if (CoaError.isInstance(error)) return printError(error.message, error.fix, error, exitCodeOf(error))
  if (isSystemError(error)) {
    return printError(
      error.message,
      'Check that the path exists, is of the expected type, and is accessible.',
      error,
      exitCodes.input.code,
    )
  }
  const reason = error instanceof Error ? error.message : String(error)
  return printError(
    `unexpected error: ${reason}`,
    'This is a bug in coa; run the command again with --debug and report it.',
    error,
    exitCodeOf(error),
  )
}

/** A failed system call, such as a write to a read-only folder: for the user to fix, not a bug in coa. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error
}

/** One line: what is wrong and how to fix it. JSON with --json. */
function printError(message: string, fix: string | undefined, error: unknown, code: number): number {
  const { json, debug } = program.opts<{ json?: boolean; debug?: boolean }>()
  if (json) process.stderr.write(`${jsonText({ error: { message, fix, code } })}\n`)
  else
    process.stderr.write(
      `${pc.red('coa:')} ${sanitize(message)
        .replaceAll(/\s*\n\s*/g, ' ')
        .replace(/\.$/, '')}${fix === undefined ? '' : `. ${fix}`}\n`,
    )
  if (debug && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  return code
}
