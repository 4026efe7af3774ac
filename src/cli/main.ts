import { type Command, CommanderError } from 'commander'
import pc from 'picocolors'
import { CoaError } from '../base/errors/index.ts'
import { exitCodeOf, exitCodes } from './exit-codes.ts'
import { guardOutput } from './guard-output.ts'
import { Interrupted } from './interrupt.ts'
import { harmless } from './live-text.ts'
import { jsonText } from './output.ts'
import { buildProgram } from './program.ts'

/** A reader that went away, as in `coa run list | head`, is no fault. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  process.stderr.write(`coa: cannot write the result: ${error.message}. Check the disk or the pipe.\n`)
  process.exit(exitCodes.input.code)
})
process.stderr.on('error', () => {})
guardOutput(process.stdout)
guardOutput(process.stderr)

/** In our own words, without Node's number of the process and its advice on tracing. */
process.removeAllListeners('warning')
process.on('warning', ({ name, message }) => {
  process.stderr.write(`${pc.yellow('coa:')} ${name === 'RunDamage' ? '' : `${name}: `}${message}\n`)
})

const program = await buildProgram(process.argv.slice(2))
exitThroughUs(program)
try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

/** commander would call process.exit by itself, with a code of its own. */
function exitThroughUs(command: Command): void {
  command.exitOverride()
  command.configureOutput({ outputError: () => {} })
  command.commands.forEach(exitThroughUs)
}

function report(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0 || error.code === 'commander.help')
      return error.exitCode === 0 ? 0 : exitCodes.input.code
    return complain(error.message.replace(/^error: /, ''), 'See `coa --help`.', error, exitCodes.input.code)
  }
  if (error instanceof Interrupted)
    return complain(error.message, 'The same command goes on from there.', error, exitCodes.interrupted.code)
  if (CoaError.isInstance(error)) return complain(error.message, error.fix, error, exitCodeOf(error))
  if (isSystemError(error)) {
    return complain(
      error.message,
      'Check that the path is there, is of the right kind and may be used.',
      error,
      exitCodes.input.code,
    )
  }
  const reason = error instanceof Error ? error.message : String(error)
  return complain(
    `unexpected: ${reason}`,
    'This is a fault in coa; run again with --debug and report it.',
    error,
    exitCodeOf(error),
  )
}

/** A failed system call, such as a folder that cannot be written to: the user's to mend, not a fault in coa. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error
}

/** One line: what is wrong and what to do. JSON for those who asked for JSON. */
function complain(message: string, fix: string | undefined, error: unknown, code: number): number {
  const { json, debug } = program.opts<{ json?: boolean; debug?: boolean }>()
  if (json) process.stderr.write(`${jsonText({ error: { message, fix, code } })}\n`)
  else
    process.stderr.write(
      `${pc.red('coa:')} ${harmless(message)
        .replaceAll(/\s*\n\s*/g, ' ')
        .replace(/\.$/, '')}${fix === undefined ? '' : `. ${fix}`}\n`,
    )
  if (debug && error instanceof Error) process.stderr.write(`${error.stack}\n`)
  return code
}
