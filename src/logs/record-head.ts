import type { Json, LoggedRun, LoggedTool } from './contract.ts'
import { asJson, asText, at, isObject, listOf, parsedOr, textOf } from './json.ts'
import { fromLlamaIndex } from './messages/llama-index.ts'
import { fromSemanticKernel } from './messages/semantic-kernel.ts'
import { fromShareGpt } from './messages/sharegpt.ts'
import { fromSmolagents } from './messages/smolagents.ts'

/** Longer fields are texts of the run or of its prompt, which have to be read as such. */
const LONGEST_FIELD = 200

const keysOf = {
  id: ['id', 'task_id', 'question_id', 'instance_id', 'example_id', 'uid', 'idx'],
  question: ['question', 'task', 'query', 'problem'],
  /** Only ever gold. */
  gold: ['gold', 'ground_truth', 'golden_answer', 'golden_answers', 'true_answer', 'gt', 'gts', 'target'],
  correct: ['correct', 'is_correct', 'reward', 'em'],
  answer: ['prediction', 'pred', 'model_answer'],
} as const

type Head = Pick<LoggedRun, 'id' | 'question' | 'gold' | 'correct' | 'answer' | 'meta'>

/**
 * What files keep next to the messages or the text of a run. An `answer` is taken for the gold answer, unless there is
 * another, or it repeats what the run answered and nothing says whether that is correct.
 */
export function headOf(value: unknown, answered?: string): Head {
  if (!isObject(value)) return {}
  const first = (names: readonly string[]): unknown =>
    names.map((name) => value[name]).find((found) => found !== undefined && found !== null)
  const id = first(keysOf.id)
  const question = keysOf.question.map((key) => textOf(value[key])).find(isQuestion)
  const correct = verdictOf(first(keysOf.correct))
  const said = first(keysOf.answer)
  const gold = goldIn(first(keysOf.gold) ?? answerIn(value, answered, correct))
  const meta = fieldsOf(value)
  return {
    ...(typeof id === 'string' || typeof id === 'number' ? { id: String(id) } : {}),
    ...(question === undefined ? {} : { question }),
    ...(gold.length === 0 ? {} : { gold }),
    ...(correct === undefined ? {} : { correct }),
    ...(typeof said === 'string' && said !== '' ? { answer: said } : {}),
    ...(Object.keys(meta).length === 0 ? {} : { meta: { log: meta } }),
  }
}

/** Some name the kind of task there, or its id. */
const isQuestion = (text: string | undefined): boolean => text !== undefined && /\S\s+\S/.test(text)

function answerIn(value: unknown, answered: string | undefined, correct: boolean | undefined): unknown {
  const answer = at(value, 'answer')
  const repeats = typeof answer === 'string' && answered !== undefined && answer.trim() === answered.trim()
  return repeats && correct === undefined ? undefined : answer
}

/** One answer, or several, also as a list of lists. */
export function goldIn(value: unknown): string[] {
  if (typeof value === 'number' || (typeof value === 'string' && value !== '')) return [String(value)]
  return listOf(value).flatMap(goldIn)
}

/** 1 and true are correct, 0 and false are wrong; scores in between say neither. */
export function verdictOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value === 'string')
    return verdictOf(parsedOr(value.toLowerCase().trim().replace(/\.$/, '')) ?? '')
  return value === 1 ? true : value === 0 ? false : undefined
}

/** Short fields of the record, such as its kind or source, for `meta.log`. */
function fieldsOf(value: Record<string, unknown>): Record<string, Json> {
  const taken = new Set<string>([...Object.values(keysOf).flat(), 'answer'])
  if (!isQuestion(textOf(value['task']))) taken.delete('task')
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]): [string, Json][] => {
      const isShort =
        typeof field === 'number' ||
        typeof field === 'boolean' ||
        (typeof field === 'string' && field !== '' && field.length <= LONGEST_FIELD)
      return isShort && !taken.has(key) ? [[key, field]] : []
    }),
  )
}

/** The messages of a record: a list, alone or under one of the usual names. */
export function messagesOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return usual(value)
  const key = ['messages', 'traj', 'trajectory', 'conversation', 'conversations'].find(
    (name) => listOf(at(value, name)).length > 0,
  )
  if (key !== undefined) return usual(listOf(at(value, key)))
  // A prompt and what was written after it, each as messages.
  const [prompt, completion] = [listOf(at(value, 'prompt')), listOf(at(value, 'completion'))]
  return prompt.length > 0 && completion.length > 0 ? [...prompt, ...completion] : []
}

/** Messages of libraries that keep them in a form of their own, in the usual one. */
const usual = (messages: readonly unknown[]): readonly unknown[] =>
  fromSmolagents(messages).flatMap((message) =>
    fromSemanticKernel(message).map((one) => fromLlamaIndex(fromShareGpt(one))),
  )

/** Tools as they are offered to a model, such as `{ type: "function", function: { name, description, parameters } }`. */
export function toolsOf(tools: unknown): LoggedTool[] {
  return listOf(tools).flatMap((tool) => {
    const definition = at(tool, 'function') ?? tool
    const name = textOf(at(definition, 'name')) ?? textOf(at(definition, 'name_for_model'))
    const description = at(definition, 'description') ?? at(definition, 'description_for_model')
    const parameters = ['parameters', 'input_schema', 'inputSchema', 'parametersJsonSchema']
      .map((key) => at(definition, key))
      .find((found) => found !== undefined)
    return name === undefined
      ? []
      : {
          name,
          ...(description === undefined ? {} : { description: asText(description) }),
          ...(parameters === undefined ? {} : { parameters: asJson(parameters) }),
        }
  })
}
