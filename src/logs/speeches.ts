import type { Contribution } from '../schema/index.ts'
import type { Usage } from '../schema/usage.ts'
import type { ChatCall, ChatResult } from './chat-turn.ts'
import type { LeftOut, LoggedItem } from './contract.ts'
import {
  bareProgram,
  type Execution,
  executionIn,
  nothingToRun,
  type Program,
  programIn,
} from './executed-code.ts'
import { handOffTo, withHandOffs } from './hand-offs.ts'
import { pageViewIn } from './page-views.ts'
import { contributionOf } from './roles.ts'
import { endsWork, markedAnswer, withoutRouting } from './routing.ts'

/** One message of a team that talks: who says it, with the calls and results that the log tells apart. */
export interface Speech {
  agent: string
  text: string
  thought?: string
  calls?: readonly ChatCall[]
  results?: readonly ChatResult[]
  /** Addressed to the agents: a task, a person's reply, an introduction. */
  role?: 'user' | 'system'
  /** The output of a program, where the log says so; otherwise its text may begin like a report. */
  execution?: Execution
  at?: number
  usage?: Usage
  /** What it is for, where the log says so. */
  said?: { as: Contribution; text: string }
}

export interface SpokenRun {
  items: LoggedItem[]
  leftOut: LeftOut[]
  /** The last words, if nothing is still to be done. */
  answer?: string
}

/**
 * What happened in a team's conversation. Calls are found by content as well as by name: a program in a fenced block is
 * called if an execution is reported after it, by whichever agent. A report without a program is left out, and so are
 * messages that only say who speaks next.
 */
export function itemsOfSpeeches(speeches: readonly Speech[], at = 'messages'): SpokenRun {
  return new Conversation(speeches, at).read()
}

interface Executed {
  program: Program
  report: number
}

class Conversation {
  readonly #speeches: readonly Speech[]
  readonly #at: string
  readonly #items: LoggedItem[] = []
  readonly #leftOut: LeftOut[] = []
  /** By the index of the message with the program. */
  readonly #executed = new Map<number, Executed>()
  /** By the index of the report: the index of the message with the program. */
  readonly #reported = new Map<number, number>()
  readonly #outputs = new Set<string>()

  constructor(speeches: readonly Speech[], at: string) {
    this.#speeches = speeches
    this.#at = at
  }

  read(): SpokenRun {
    this.#pairPrograms()
    const end = this.#ending()
    for (const [index, speech] of this.#speeches.entries()) {
      const from = this.#items.length
      this.#read(speech, index, index === end)
      if (index === end) this.#answer(speech)
      if (speech.at !== undefined) for (const item of this.#items.slice(from)) item.at = speech.at
    }
    const answered = this.#items.findLast((item) => item.type === 'answered')
    const { items, leftOut } = withHandOffs(this.#items)
    return {
      items,
      leftOut: [...this.#leftOut, ...leftOut],
      ...(answered?.type === 'answered' ? { answer: answered.text } : {}),
    }
  }

  /** Every report belongs to the latest program that has none yet. */
  #pairPrograms(): void {
    let latest: { index: number; program: Program } | undefined
    for (const [index, speech] of this.#speeches.entries()) {
      const execution = executionOf(speech)
      if (execution === undefined) {
        if (nothingToRun(speech.text)) latest = undefined
        const program = isWords(speech) || isTask(speech) ? programIn(speech.text) : undefined
        // Only what directly follows a task can be the output of a program in it.
        if (program !== undefined) latest = { index, program }
        else if (latest !== undefined && isTask(this.#speeches[latest.index]!)) latest = undefined
        continue
      }
      const before = this.#speeches[index - 1]
      const refused = /^\s{0,20}unknown language/.test(execution.output)
      if (latest === undefined && before !== undefined && isWords(before) && !this.#executed.has(index - 1)) {
        const program = bareProgram(before.text, execution)
        if (program !== undefined) latest = { index: index - 1, program }
      }
      if (latest === undefined || (refused && latest.index !== index - 1)) continue
      this.#executed.set(latest.index, { program: latest.program, report: index })
      this.#reported.set(index, latest.index)
      latest = undefined
    }
  }

  /** The message with the final answer: the last words, unless something happened after them. */
  #ending(): number | undefined {
    for (let index = this.#speeches.length - 1; index >= 0; index--) {
      const speech = this.#speeches[index]!
      if (speech.role !== undefined || isRoutingOnly(speech) || nothingToRun(speech.text)) continue
      const isOpen = programIn(speech.text) !== undefined && !endsWork(speech.text)
      const isAnswer =
        isWords(speech) && speech.said === undefined && executionOf(speech) === undefined && !isOpen
      return isAnswer && pageViewIn(speech.text) === undefined ? index : undefined
    }
    return undefined
  }

  #read(speech: Speech, index: number, ends: boolean): void {
    const { agent, text, role, results = [] } = speech
    for (const result of results) this.#returned(agent, result)
    if (results.length > 0 && text === '' && speech.calls === undefined) return
    const execution = executionOf(speech)
    if (role !== undefined) {
      if (text.trim() !== '') this.#prompted(text, role, index)
    } else if (execution !== undefined) this.#reportedBy(agent, execution, index)
    else if (nothingToRun(text)) this.#leave(index, 'an executor that found nothing to run', text)
    else if (!ends && this.#repeatsResult(text)) return
    else if (isRoutingOnly(speech))
      this.#leave(index, 'only says who speaks next or that the work is over', text)
    else if (text !== '' || speech.thought !== undefined || (speech.calls ?? []).length > 0)
      this.#wrote(speech, index)
  }

  /** A message that only passes on what a tool returned just before is nobody's words; a page may be opened again. */
  #repeatsResult(text: string): boolean {
    const follows = this.#items.at(-1)?.type === 'returned' && this.#outputs.has(text.trim())
    return follows && pageViewIn(text) === undefined
  }

  #prompted(content: string, role: 'user' | 'system', index: number): void {
    const next = this.#speeches.slice(index + 1).find((speech) => speech.role === undefined)
    const agent = next?.agent ?? this.#speeches[index]!.agent
    this.#items.push({ type: 'prompted', agent, messages: [{ role, content }] })
  }

  #wrote(speech: Speech, index: number): void {
    const { agent, text, thought, usage, calls = [] } = speech
    const spent = usage === undefined ? {} : { usage }
    const page = pageViewIn(text)
    const executed = this.#executed.get(index)
    if (page !== undefined) {
      const { tool, input, output } = page
      const call = `page ${index}`
      this.#items.push(
        { type: 'wrote', agent, text: '', said: { as: 'call', text: '' }, ...spent },
        { type: 'called', agent, tool, input, call },
      )
      this.#returned(agent, { id: call, output })
    } else if (executed !== undefined) {
      const { tool, code, words } = executed.program
      const before = [thought, withoutRouting(words)].filter((part) => part !== undefined && part !== '')
      this.#items.push(
        {
          type: 'wrote',
          agent,
          text,
          thought: before.join('\n'),
          said: { as: 'call', text: code },
          ...spent,
        },
        { type: 'called', agent, tool, input: code, call: `program ${index}` },
      )
    } else {
      const isCall = calls.some(({ tool, input }) => handOffTo(tool, undefined, input) === undefined)
      const said = speech.said ?? { as: contributionOf(agent) ?? 'report', text: withoutRouting(text) }
      const words = speech.said === undefined && (isCall || said.text === text.trim()) ? {} : { said }
      const thoughts = thought === undefined ? {} : { thought }
      if (text !== '' || thought !== undefined || isCall)
        this.#items.push({ type: 'wrote', agent, text, ...thoughts, ...words, ...spent })
      for (const { id, tool, input } of calls)
        this.#items.push({ type: 'called', agent, tool, input, ...(id === undefined ? {} : { call: id }) })
    }
  }

  #returned(agent: string, { id, tool, output, ok }: ChatResult): void {
    this.#outputs.add(output.trim())
    this.#items.push({
      type: 'returned',
      agent,
      output,
      ...(id === undefined ? {} : { call: id }),
      ...(tool === undefined ? {} : { tool }),
      ...(ok === undefined ? {} : { ok }),
    })
  }

  #reportedBy(agent: string, { output, ok }: Execution, index: number): void {
    const program = this.#reported.get(index)
    if (program !== undefined) {
      if (isTask(this.#speeches[program]!)) {
        const { tool, code } = this.#executed.get(program)!.program
        this.#items.push(
          { type: 'wrote', agent, text: '', said: { as: 'call', text: '' } },
          { type: 'called', agent, tool, input: code, call: `program ${program}` },
        )
      }
      this.#returned(agent, { id: `program ${program}`, output, ok })
    }
    // A report that is passed on is no second result.
    else if (!this.#outputs.has(output.trim()))
      this.#leave(index, 'output of a program that is not in the log', output)
  }

  /** Everything but the answer is the thought that led to it. */
  #answer({ agent, text, thought }: Speech): void {
    const wrote = this.#items.at(-1)
    const answer = markedAnswer(text)
    if (wrote?.type !== 'wrote' || answer === '') return
    const words = withoutRouting(text)
    const before = [thought, words === answer ? undefined : words].filter((part) => part !== undefined)
    wrote.said = { as: 'answer', text: answer }
    if (before.length > 0) wrote.thought = before.join('\n')
    this.#items.push({ type: 'answered', agent, text: answer })
  }

  #leave(index: number, reason: string, text: string): void {
    if (text.trim() !== '') this.#leftOut.push({ at: `${this.#at}[${index}]`, reason, text })
  }
}

const isTask = ({ role }: Speech): boolean => role === 'user'

const isWords = ({ role, calls, execution }: Speech): boolean =>
  role === undefined && execution === undefined && (calls === undefined || calls.length === 0)

const executionOf = ({ role, text, execution }: Speech): Execution | undefined =>
  execution ?? (role === undefined ? executionIn(text) : undefined)

function isRoutingOnly({ text, thought, calls = [] }: Speech): boolean {
  return thought === undefined && calls.length === 0 && text.trim() !== '' && withoutRouting(text) === ''
}
