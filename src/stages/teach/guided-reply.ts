import { seedOf } from '../../base/random/index.ts'
import type { Agent } from '../../language/grammar/index.ts'
import { Contribution } from '../../schema/index.ts'
import type { ChatModel, Completion } from '../../world/models/index.ts'
import type { Activation, Reply, Written } from './contract.ts'
import { scoreOf, writeReply } from './reply.ts'

export interface GuidedSettings {
  temperature: number
  /** For thought and contribution together. */
  maxTokens: number
  seed: number
}

/** How often a blank body is sampled again, with another seed. */
const TRIES = 4
const CHOICE_TOKENS = 12
const foreignTag = new RegExp(`</?(?:think|${Contribution.options.join('|')})\\b`)

/**
 * Writes a reply in parts, so that it cannot be malformed: the model continues `<think>`, then the tag is chosen among those
 * allowed, and the model continues that to its closing tag. Only the tags are ours; every word is the model's.
 */
export async function writeGuided(
  model: ChatModel,
  activation: Activation,
  settings: GuidedSettings,
): Promise<Written> {
  const { wants, messages, signal } = activation
  let requests = 0
  let used = 0
  const say = async (prefix: string, maxTokens: number, stop: readonly string[]): Promise<Completion> => {
    const seed = seedOf('guided', settings.seed, messages.length, requests++)
    const { temperature } = settings
    const found = await model.complete({ messages, prefix, maxTokens, stop, seed, temperature, signal })
    used += found.usage.completion
    return found
  }

  // Without the last character: a tokenizer may have merged it with what follows.
  const ends = ['</think', ...wants.map((want) => `<${want}`)]
  const thinking = await say('<think>', Math.ceil(settings.maxTokens / 2), ends)
  const thought = ownPart(untilSentence(thinking)).trim()
  const opened = `<think>${thought}</think>\n<`
  const as = wants.length === 1 ? wants[0]! : await choose(opened, wants, ['>', ' ', '\n'])
  const workers = activation.workers ?? []
  let to: string | undefined
  if (as === 'task') {
    const addressed = `${opened}task for="`
    to = workers.length === 1 ? workers[0]! : await choose(addressed, workers, ['"', '>'])
  }
  const start = `${opened}${as}${to === undefined ? '' : ` for="${to}"`}>`
  const text = await body(start, as)
  const reply: Reply = { thought, as, text, ...(to === undefined ? {} : { to }) }
  return { text: writeReply(reply), ...(text === '' ? {} : { reply }) }

  /** The option whose name the model starts to write; the first one if it writes something else. */
  async function choose<Option extends string>(
    prefix: string,
    options: readonly Option[],
    stop: readonly string[],
  ): Promise<Option> {
    const { text } = await say(prefix, CHOICE_TOKENS, stop)
    const written = text.trim().toLowerCase()
    return options.find((option) => written.startsWith(option.toLowerCase())) ?? options[0]!
  }

  async function body(start: string, as: Contribution): Promise<string> {
    const payload = payloadOf(as, activation)
    if (payload?.syntax === 'code') return program(start, as, payload)
    const opening = payload?.syntax === 'json' ? '{' : ''
    const text = await notBlank(`${start}${opening}`, [`</${as}`])
    const whole = `${opening}${text}`
    if (as !== 'check' || text === '' || scoreOf(whole) !== undefined) return whole
    const scored = `${whole}\nScore: `
    const score = await say(`${start}${scored}`, 2, ['\n', '<'])
    return `${scored}${score.text.trim()}`.trim()
  }

  /** A program in a fence, with its input if it reads any. */
  async function program(
    start: string,
    as: Contribution,
    { languages, stdin }: Extract<Agent['payload'], { syntax: 'code' }>,
  ): Promise<string> {
    const fence = `\n\`\`\`${languages[0]}\n`
    const code = await notBlank(`${start}${fence}`, ['```', `</${as}`])
    if (code === '') return ''
    const block = `${fence}${code}\n\`\`\`\n`
    if (!stdin || !/\binput\(|\bstdin\b/.test(code)) return block.trim()
    const input = await say(`${start}${block}\`\`\`sh\n`, left(), ['```', `</${as}`])
    return `${block}\`\`\`sh\n${input.text.trimEnd()}\n\`\`\``.trim()
  }

  async function notBlank(prefix: string, stop: readonly string[]): Promise<string> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const { text } = await say(prefix, left(), stop)
      const own = ownPart(text)
      if (own.trim() !== '') return trimmed(own)
    }
    return ''
  }

  function left(): number {
    return Math.max(CHOICE_TOKENS, settings.maxTokens - used)
  }
}

function payloadOf(as: Contribution, { tool, answer }: Activation): Agent['payload'] | undefined {
  if (as === 'call') return tool?.payload
  return as === 'suggestion' || as === 'answer' ? answer : undefined
}

/** The text before another agent's tag; all of it if there is nothing before. */
function ownPart(text: string): string {
  const before = text.slice(0, foreignTag.exec(text)?.index ?? text.length)
  return before.trim() === '' ? text : before
}

/** Spaces at the start of a program's first line are significant. */
function trimmed(text: string): string {
  return text.replace(/^(?:[ \t]*\n)+/, '').trimEnd()
}

/** A thought that was cut off by the limit ends with its last full sentence, if it has one. */
function untilSentence({ text, finish }: Completion): string {
  const whole = text.trim()
  if (finish !== 'length') return whole
  const end = Math.max(...['. ', '.\n', '? ', '! ', '\n'].map((mark) => whole.lastIndexOf(mark)))
  return end > 0 ? whole.slice(0, end + 1).trim() : whole
}
