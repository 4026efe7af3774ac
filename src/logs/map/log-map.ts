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
  /** The list of turns. */
  turns: Path,
  turn: TurnMap,
})
export type LogMap = z.infer<typeof LogMap>

/** Reads a map from a TOML file. */
export function readLogMap(file: string): LogMap {
  const { data, error } = LogMap.safeParse(readToml(file))
  if (data !== undefined) return data
  const [issue] = error.issues
  const at = issue!.path.join('.')
  if (issue!.code === 'unrecognized_keys') throw unknownKey(file, at, issue!.keys[0]!)
  throw new ConfigError(
    `${file}: ${at === '' ? 'the file' : `"${at}"`} is not as expected: ${issue!.message}`,
    {
      fix: 'A map has `turns`, the path of the list of turns, and a table [turn] with the paths in each.',
    },
  )
}

function unknownKey(file: string, section: string, key: string): ConfigError {
  const known = Object.keys(section === 'turn' ? TurnMap.shape : LogMap.shape)
  const near = nearestName(key, known)
  return new ConfigError(`${file}: there is no key "${section === '' ? '' : `${section}.`}${key}"`, {
    fix: near === undefined ? `Known here: ${known.join(', ')}.` : `Did you mean "${near}"?`,
  })
}
