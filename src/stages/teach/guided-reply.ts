import { seedOf } from '../../base/random/index.ts'
import type { Agent } from '../../language/grammar/index.ts'
import type { Contribution } from '../../schema/index.ts'
import type { ChatModel, Completion } from '../../world/models/index.ts'
import type { Activation, Reply, Written } from './contract.ts'
import { scoreOf } from './reply.ts'

export interface GuidedSettings {
  temperature: number
  maxTokens: number
  seed: number
  /** Whether programs keep lines that are only comments. */
  comments?: boolean
}

/** How often a blank body is sampled again, with another seed. */
const TRIES = 4
const CHOICE_TOKENS = 12
const ANSWER = 'Answer:'

/** How a reply begins if the agent may choose what to write. The model continues the one it starts to write. */
const labels: Partial<Record<Contribution, string>> = {
  suggestion: 'Answer',
  plan: 'Plan',
  task: 'Task',
  report: 'Report',
  call: 'Call',
}

const contents: Record<Contribution, string> = {
  facts: 'in one to three short sentences what is known and what has to be found out',
  plan: 'the plan in one line of at most 25 words: what to compute or to look up, in order, without results',
  task: 'an instruction in one short sentence: what to do next, or all at once if that is possible',
  call: 'the input for your tool and nothing else',
  report: 'the result in one short sentence',
  reflection: 'in one short sentence what the last result says, and whether it answers the question',
  suggestion: 'only the answer to the question: a number, a name or a few words, not a sentence',
  check: 'in one or two sentences whether the suggested answer fits the question and the findings',
  answer: 'only the final answer: a number, a name or a few words, not a sentence',
}

/** The end of a prompt for a guided model, in plain words: it is never shown tags, which small models copy. */
export function guidedRules(
  wants: readonly Contribution[],
  {
    workers,
    answer,
    tool,
    reasons,
  }: {
    workers: readonly string[]
    answer: Agent
    tool?: Agent | undefined
    reasons?: boolean | undefined
  },
): string {
  if (reasons === true)
    return `Think step by step, in short sentences. End with "${ANSWER}" and ${contents.answer}.`
  const contentOf = (want: Contribution): string => {
    if (want === 'call' && tool !== undefined) return input(tool)
    const isProgram = answer.payload.syntax === 'code' && (want === 'suggestion' || want === 'answer')
    return isProgram ? 'the whole program' : contents[want]
  }
  if (wants.length === 1) return `Write ${contentOf(wants[0]!)}.`
  const options = inOrder(wants).map((want) => {
    const whom = want === 'task' && workers.length > 1 ? ` for ${workers.join(' or ')}` : ''
    return `"${labelOf(want)}${whom}:" and ${contentOf(want)}`
  })
  return wants.includes('suggestion')
    ? `If the findings answer the question, write ${options[0]}. Otherwise write ${options.slice(1).join(', or ')}.`
    : `Write ${options.join(', or ')}.`
}

function input({ payload }: Agent): string {
  return payload.syntax === 'code'
    ? 'the program'
    : payload.syntax === 'json'
      ? 'one JSON object'
      : 'one short query'
}

/**
 * Writes a reply in parts, so that it cannot be malformed: whether it is a task or an answer is chosen among those allowed, and so is
 * the agent that a task is for; a program begins inside a code block. Everything else is plain text, as chat models are used
 * to write it.
 */
export async function writeGuided(
  model: ChatModel,
  activation: Activation,
  settings: GuidedSettings,
): Promise<Written> {
  const { wants, messages, suggestion, signal } = activation
  // Asked once more, a small model may give another answer than the one that was accepted.
  if (wants.length === 1 && wants[0] === 'answer' && suggestion !== undefined)
    return { text: suggestion, reply: { thought: '', as: 'answer', text: suggestion }, isCopy: true }
  let requests = 0
  const say = (prefix: string, maxTokens: number, stop: readonly string[]): Promise<Completion> => {
    const seed = seedOf('guided', settings.seed, messages.length, requests++)
    const { temperature } = settings
    return model.complete({ messages, prefix, maxTokens, stop, seed, temperature, signal })
  }

  const { output } = activation
  if (wants.length === 1 && wants[0] === 'report' && output !== undefined)
    return { text: output, reply: { thought: '', as: 'report', text: output }, isCopy: true }
  if (activation.reasons === true) return reasoned()
  const options = inOrder(wants)
  const workers = activation.workers ?? []
  const isPlain = options.every((option) => payloadOf(option, activation)?.syntax !== 'code')
  if (options.length > 1 && isPlain && workers.length <= 1) {
    const whole = await atOnce(options)
    if (whole !== undefined) return whole
  }
  const as = wants.length === 1 ? wants[0]! : await choose('', options, labelOf)
  let to: string | undefined
  if (as === 'task')
    to = workers.length === 1 ? workers[0]! : await choose('Task for ', workers, (name) => name)
  const isLabeled = wants.length > 1 || as === 'task' || as === 'plan'
  const start = isLabeled ? `${labelOf(as)}${as === 'task' && workers.length > 1 ? ` for ${to}` : ''}:` : ''
  const { written, text } = await body(start, as)
  const reply: Reply = { thought: '', as, text, ...(to === undefined ? {} : { to }) }
  return { text: written, ...(text === '' ? {} : { reply }), ...cost() }

  function cost(): Pick<Written, 'isCopy' | 'requests'> {
    return requests === 0 ? { isCopy: true } : { requests }
  }

  /** A one-line reply that begins with the name of an option: most models write it without being led. */
  async function atOnce(options: readonly Contribution[]): Promise<Written | undefined> {
    const { text, finish } = await say('', settings.maxTokens, ['\n'])
    const [, label = '', rest = ''] = /^\W{0,3}(\w+):(.+)$/.exec(text) ?? []
    const as = options.find((option) => labelOf(option).toLowerCase() === label.toLowerCase())
    const said = rest.trim()
    if (
      as === undefined ||
      said === '' ||
      finish === 'length' ||
      payloadOf(as, activation)?.syntax === 'json'
    )
      return undefined
    const to = as === 'task' ? { to: workers[0]! } : {}
    const found = as === 'suggestion' ? (output ?? said) : said
    const written = found === said ? text : `${labelOf(as)}: ${found}`
    return { text: written, reply: { thought: '', as, text: found, ...to }, ...cost() }
  }

  /** An answer after a chain of thought. */
  async function reasoned(): Promise<Written> {
    const thought = await notBlank('', [], (reply) => untilSentence(reply).trim())
    const at = thought.lastIndexOf(ANSWER)
    const lines =
      at === -1
        ? []
        : thought
            .slice(at + ANSWER.length)
            .trim()
            .split('\n')
    const start = at === -1 ? `${thought}\n${ANSWER}` : thought.slice(0, at + ANSWER.length)
    const text = lines[0] || (await notBlank(start, ['\n'], (reply) => reply.text.trim()))
    const before = start.slice(0, -ANSWER.length).trim()
    const reply: Reply = { thought: before, as: wants[0]!, text }
    return { text: `${start} ${text}`, ...(text === '' ? {} : { reply }), ...cost() }
  }

  /** The option whose name the model starts to write; the first one if it writes something else. */
  async function choose<Option extends string>(
    prefix: string,
    choices: readonly Option[],
    name: (option: Option) => string,
  ): Promise<Option> {
    const { text } = await say(prefix, CHOICE_TOKENS, [':', '\n'])
    const written = text.replace(/^\W+/, '').toLowerCase()
    return choices.find((option) => written.startsWith(name(option).toLowerCase())) ?? choices[0]!
  }

  /** What was written, as the conversation has it, and what it says. */
  async function body(start: string, as: Contribution): Promise<{ written: string; text: string }> {
    const payload = payloadOf(as, activation)
    if (payload?.syntax === 'code') {
      const tested = as === 'call' ? undefined : activation.program
      if (tested === undefined) return program(start, payload)
      // Written once more, a program that works may become one that does not.
      const text = `\`\`\`${payload.languages[0]}\n${tested}\n\`\`\``
      return { written: start === '' ? text : `${start}\n${text}`, text }
    }
    // Small models copy a number wrongly.
    if (as === 'suggestion' && output !== undefined && payload?.syntax !== 'json')
      return { written: start === '' ? output : `${start} ${output}`, text: output }
    const opening = payload?.syntax === 'json' ? '{' : ''
    const space = start === '' || opening !== '' ? '' : ' '
    // Without the space, which a tokenizer would merge with what follows.
    const found = await notBlank(`${start}${opening}`, endsOf(as), (reply) => untilSentence(reply).trim())
    const text = `${opening}${found}`
    if (found === '') return { written: start, text: '' }
    if (as !== 'check' || scoreOf(text) !== undefined) return { written: `${start}${space}${text}`, text }
    const score = await say(`${text}\nScore:`, 3, ['\n'])
    const scored = `${text}\nScore: ${score.text.trim()}`
    return { written: scored, text: scored }
  }

  /** A program in a fence, with its input if it reads any. */
  async function program(
    start: string,
    { languages, stdin }: Extract<Agent['payload'], { syntax: 'code' }>,
  ): Promise<{ written: string; text: string }> {
    const before = start === '' ? '' : `${start}\n`
    const fence = `${before}\`\`\`${languages.includes('python') ? 'python' : languages[0]}\n`
    const code = await notBlank(fence, ['```'], ({ text }) =>
      trimmed(settings.comments === false ? withoutComments(text) : text),
    )
    if (code === '') return { written: start, text: '' }
    const block = `\`\`\`${languages[0]}\n${code}\n\`\`\``
    const written = `${fence}${code}\n\`\`\``
    if (!stdin || !/\binput\(|\bstdin\b/.test(code)) return { written, text: block }
    const given = await say(`${written}\n\`\`\`sh\n`, settings.maxTokens, ['```'])
    const more = `\n\`\`\`sh\n${given.text.trimEnd()}\n\`\`\``
    return { written: `${written}${more}`, text: `${block}${more}` }
  }

  async function notBlank(
    prefix: string,
    stop: readonly string[],
    read: (completion: Completion) => string,
  ): Promise<string> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const text = read(await say(prefix, settings.maxTokens, stop))
      if (text !== '') return text
    }
    return ''
  }
}

/** An answer first, so that it is chosen where the model writes neither. */
function inOrder(wants: readonly Contribution[]): Contribution[] {
  return wants.toSorted((one, other) => Number(other === 'suggestion') - Number(one === 'suggestion'))
}

function labelOf(as: Contribution): string {
  return labels[as] ?? as
}

/** Plans, queries and answers are one line; what is said to others is one paragraph. */
function endsOf(as: Contribution): string[] {
  if (as === 'call' || as === 'suggestion' || as === 'answer' || as === 'plan') return ['\n']
  return as === 'facts' ? [] : ['\n\n']
}

function payloadOf(as: Contribution, { tool, answer }: Activation): Agent['payload'] | undefined {
  if (as === 'call') return tool?.payload
  return as === 'suggestion' || as === 'answer' ? answer : undefined
}

/** Without lines that are only comments. In a string of several lines, they might be none. */
function withoutComments(program: string): string {
  if (/"""|'''/.test(program)) return program
  const lines = program.split('\n').filter((line) => !/^\s*#/.test(line))
  return lines.join('\n').replace(/\n{2,}/g, '\n')
}

/** Spaces at the start of a program's first line are significant. */
function trimmed(text: string): string {
  return text.replace(/^(?:[ \t]*\n)+/, '').trimEnd()
}

/** A text that was cut off by the limit ends with its last full sentence or line, if it has one. */
function untilSentence({ text, finish }: Completion): string {
  if (finish !== 'length') return text
  const whole = text.trimEnd()
  const end = Math.max(...['. ', '.\n', '? ', '! ', '\n'].map((mark) => whole.lastIndexOf(mark)))
  return end > 0 ? whole.slice(0, end + 1) : whole
}
