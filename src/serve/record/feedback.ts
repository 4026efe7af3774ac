import { z } from 'zod'
import { lastBox } from '../../reward/index.ts'
import { MARK_TEXT_LIMIT, type Mark, type Rollout, Verdict } from '../../schema/index.ts'
import { ApiError } from '../api-error.ts'
import { readFields } from '../read-fields.ts'
import type { Recorder } from './recorder.ts'

const Text = z.string().max(MARK_TEXT_LIMIT)

/** It becomes part of an id. */
const Name = z
  .string()
  .min(1)
  .max(200)
  .refine((name) => name.isWellFormed(), 'it is not valid Unicode')

const Fields = z.looseObject({
  /** Of a chat completion or a response. */
  id: z.string().min(1).max(200),
  verdict: z.union(
    [
      z.enum(['good', 'bad', 'none']),
      Verdict.extend({
        checker: Name.default('client'),
        evidence: Text.default(''),
      }),
    ],
    { error: 'it must be "good", "bad" or "none", or the result of a check, such as {"outcome": "correct"}' },
  ),
  note: Text.nullish(),
  /** What the right answer is. */
  answer: Text.nullish(),
  /** Which of several choices. */
  choice: z.number().int().nonnegative().nullish(),
  /** Who says so. */
  user: Name.nullish(),
})
type Fields = z.infer<typeof Fields>

const ratings = { correct: 'good', wrong: 'bad', undecided: 'none' } as const

/** Stores what a client thinks of a chain, and returns what was stored. */
export function takeFeedback(
  body: unknown,
  recorder: Recorder | undefined,
  most: number,
): { rating: Mark['rating'] } & Record<string, unknown> {
  const fields = readFields(Fields, body)
  if (recorder === undefined)
    throw new ApiError(409, 'this server does not record its chains; start it with --record', {
      code: 'not_recording',
    })
  const rollout = chainOf(fields, recorder, most)
  const { verdict, note, user } = fields
  const checked = typeof verdict === 'string' ? undefined : verdict
  const rating = typeof verdict === 'string' ? verdict : ratings[verdict.outcome]
  const gold = goldOf(fields, rollout, recorder)
  const given = fields.answer?.trim()
  const mark: Omit<Mark, 'v' | 'id' | 'at'> = {
    of: { kind: 'rollout', id: rollout.id },
    rating,
    by: user ?? checked?.checker ?? 'user',
    ...(note == null || note.trim() === '' ? {} : { note }),
    ...(checked === undefined ? {} : { verdict: checked }),
    ...(given === undefined || given === '' ? {} : { answer: given }),
  }
  const isRepeated = recorder.mark(mark, gold)
  return {
    object: 'feedback',
    id: fields.id,
    rollout: rollout.id,
    task: rollout.taskId,
    rating,
    /** What answers to this question are compared with from now on. */
    answer: gold?.answer ?? null,
    replaced: isRepeated,
  }
}

/** The chain that was the reply, or the choice. */
function chainOf({ id, choice }: Fields, recorder: Recorder, most: number): Rollout {
  const request = /^(?:chatcmpl-|resp_)([0-9a-f]{32})(?:_\d+)?$/.exec(id)?.[1]
  const chains = request === undefined ? new Map<number, Rollout>() : recorder.chainsOf(request, most)
  if (chains.size === 0)
    throw new ApiError(
      404,
      `there is no recorded reply ${JSON.stringify(id)} in run ${recorder.run}: the id is wrong, its chain has not ended, or it was sent with "store": false`,
      { code: 'reply_not_found', param: 'id' },
    )
  const reply = [...chains.values()].find(({ meta }) => meta['isReply'] === true)
  const found =
    choice == null ? (reply ?? (chains.size === 1 ? [...chains.values()][0] : undefined)) : chains.get(choice)
  if (found !== undefined) return found
  throw new ApiError(
    400,
    `the reply has the choices ${[...chains.keys()].join(', ')}; name one of them with "choice"`,
    {
      code: 'invalid_value',
      param: 'choice',
    },
  )
}

/**
 * What later answers to the question are compared with: the answer that was given, or one that a verifier found correct.
 * Programs are not compared with each other: two that differ can both be correct.
 */
function goldOf(
  { answer, verdict }: Fields,
  rollout: Rollout,
  recorder: Recorder,
): Parameters<Recorder['mark']>[1] {
  const { task, isOpen } = recorder.taskOf(rollout)
  const given = answer?.trim() ?? ''
  if (given !== '') {
    if (task !== undefined && isOpen) return { task, answer: given }
    throw new ApiError(
      409,
      `run ${recorder.run} has a gold answer to this question already: leave out "answer"`,
      {
        code: 'answer_known',
        param: 'answer',
      },
    )
  }
  if (typeof verdict === 'string' || verdict.outcome !== 'correct') return undefined
  const own = (lastBox(rollout.answer ?? '') ?? rollout.answer ?? '').trim()
  const isComparable = own !== '' && own.length <= MARK_TEXT_LIMIT && task?.domain !== 'code'
  return task?.gold.checker === 'none' && isComparable ? { task, answer: own } : undefined
}
