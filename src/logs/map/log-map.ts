import { z } from 'zod'
import { ConfigError, nearestName } from '../../base/errors/index.ts'
import { readToml } from '../../settings/index.ts'

/** Keys from the outside in, separated by dots: `result.text`, `messages.0.content`. */
const Path = z.string().min(1)

/** Where things are in one turn. */
const TurnMap = z.strictObject({
  agent: Path.optional(),
  /** Turns whose role is `user` or `system` are prompts. */
  role: Path.optional(),
  text: Path.optional(),
  thought: Path.optional(),
  tool: Path.optional(),
  input: Path.optional(),
  output: Path.optional(),
  /** The id that a call and its result have in common. */
  call: Path.optional(),
  /** A list of calls within the turn; `tool`, `input`, `output` and `call` are then paths within each. */
  calls: Path.optional(),
  time: Path.optional(),
})

/** Where things are in logs that no format describes. */
const LogMap = z.strictObject({
  id: Path.optional(),
  question: Path.optional(),
  gold: Path.optional(),
  answer: Path.optional(),
  correct: Path.optional(),
  system: Path.optional(),
  /** The list of turns, if a record is a run. */
  turns: Path.optional(),
  /** The id of the run, if a record is a turn. */
  run: Path.optional(),
  turn: TurnMap.optional(),
  /** Fields that a format does not read, such as `messages[].note`, and the key next to it under which it reads them. */
  rename: z.record(Path, Path).optional(),
})
export type LogMap = z.infer<typeof LogMap>

/** Reads a map from a TOML file. */
export function readLogMap(file: string): LogMap {
  const { data, error } = LogMap.safeParse(readToml(file))
  const [issue] = error?.issues ?? []
  if (issue?.code === 'unrecognized_keys') throw unknownKey(file, issue.path.join('.'), issue.keys[0]!)
  const problem = issue === undefined ? incomplete(data!) : `"${issue.path.join('.')}": ${issue.message}`
  if (problem === undefined) return data!
  throw new ConfigError(`${file} is not a map: ${problem}`, {
    fix: 'A map has `turns`, the path of the list of turns, or `run`, that of the id of a run, and a table [turn] with the paths in each turn.',
  })
}

function incomplete({ turns, run, turn, rename }: LogMap): string | undefined {
  const [hasRuns, hasTurn] = [turns !== undefined || run !== undefined, turn !== undefined]
  if (turns !== undefined && run !== undefined) return 'it has both turns and run'
  if (!hasRuns && !hasTurn && rename !== undefined) return undefined
  if (!hasRuns) return 'it has neither turns nor run'
  return hasTurn ? undefined : 'it has no table [turn]'
}

function unknownKey(file: string, section: string, key: string): ConfigError {
  const known = Object.keys(section === 'turn' ? TurnMap.shape : LogMap.shape)
  const near = nearestName(key, known)
  return new ConfigError(`${file}: there is no key "${section === '' ? '' : `${section}.`}${key}"`, {
    fix: near === undefined ? `Known here: ${known.join(', ')}.` : `Did you mean "${near}"?`,
  })
}
