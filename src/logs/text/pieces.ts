import type { Contribution } from '../../schema/index.ts'
import type { Json, LeftOut, LoggedItem } from '../contract.ts'

/**
 * A part of a text that a model and its tools wrote in turn. Offsets are UTF-16 units; the pieces of a text follow each
 * other, so what is between two of them is only white space.
 */
export type Piece = { start: number; end: number } & (
  | { kind: 'thought'; text: string }
  /** Outside of everything: a thought before a call or an answer, else what the agent says. */
  | { kind: 'words'; text: string }
  | { kind: 'said'; as: Contribution; text: string }
  | { kind: 'call'; tool: string; input: Json }
  | { kind: 'result'; output: string }
  /** Meant as a call, but not written as one. */
  | { kind: 'unreadable'; problem: string }
  | { kind: 'answer'; text: string }
  /** In the text, but not part of the run. */
  | { kind: 'left-out'; text: string; reason: string }
)

type PieceOf<K extends Piece['kind']> = Extract<Piece, { kind: K }>
type OwnPiece = Exclude<Piece, PieceOf<'result'> | PieceOf<'left-out'>>

/**
 * The items of a run that is written as text. Each turn is a thought with calls, words or the answer, and keeps its
 * text verbatim. A result belongs to the first call of the latest turn that has none.
 */
export class PieceItems {
  readonly items: LoggedItem[] = []
  readonly leftOut: LeftOut[] = []
  /** Calls of the latest turn without a result. */
  #waiting: string[] = []
  #calls = 0
  #results = 0

  prompt(agent: string, messages: readonly { role: string; content: string }[]): void {
    const told = messages.filter(({ content }) => content.trim() !== '')
    if (told.length > 0) this.items.push({ type: 'prompted', agent, messages: told })
  }

  add(agent: string, text: string, pieces: readonly Piece[]): void {
    let turn: OwnPiece[] = []
    const close = (): void => {
      if (turn.length > 0) this.#turn(agent, text, turn)
      turn = []
    }
    for (const piece of pieces) {
      if (piece.kind === 'left-out') {
        close()
        this.leaveOut(piece.text, piece.reason)
      } else if (piece.kind === 'result') {
        close()
        this.result(agent, piece.output)
      } else {
        const last = turn.at(-1)?.kind
        const isAct = (kind: Piece['kind'] | undefined): boolean => kind === 'call' || kind === 'unreadable'
        const isOver = last === 'said' || last === 'answer' || (isAct(last) && !isAct(piece.kind))
        if (isOver) close()
        turn.push(piece)
      }
    }
    close()
  }

  get isAnswered(): boolean {
    return this.items.some(({ type }) => type === 'answered')
  }

  leaveOut(text: string, reason: string): void {
    this.leftOut.push({ at: 'text', reason, text })
  }

  result(agent: string, output: string): void {
    // An id that no call has marks a result without one; otherwise it would be paired with an older call.
    const call = this.#waiting.shift() ?? `none-${++this.#results}`
    this.items.push({ type: 'returned', agent, output, call })
  }

  /** If nothing is marked as the answer, the last words are, unless a call follows them. */
  finish(): LoggedItem[] {
    const last = this.items.at(-1)
    if (this.isAnswered || last?.type !== 'wrote' || last.said?.as !== 'report' || last.said.text === '')
      return this.items
    const { text } = last.said
    return [
      ...this.items.slice(0, -1),
      { ...last, said: { as: 'answer', text } },
      { type: 'answered', agent: last.agent, text },
    ]
  }

  #turn(agent: string, text: string, turn: readonly OwnPiece[]): void {
    const calls = turn.filter((piece) => piece.kind === 'call')
    const ending = turn.find((piece) => piece.kind === 'said' || piece.kind === 'answer')
    const unreadable = turn.filter((piece) => piece.kind === 'unreadable')
    const isWords = calls.length === 0 && ending === undefined && unreadable.length === 0
    const thought = turn.flatMap((piece) =>
      piece.kind === 'thought' || (piece.kind === 'words' && !isWords) ? piece.text : [],
    )
    const words = isWords ? turn.flatMap((piece) => (piece.kind === 'words' ? piece.text : [])) : []
    const said =
      ending !== undefined
        ? { as: ending.kind === 'answer' ? ('answer' as const) : ending.as, text: ending.text }
        : isWords
          ? { as: 'report' as const, text: words.join('\n') }
          : {
              as: 'call' as const,
              text: calls.length === 0 ? '' : text.slice(calls[0]!.start, calls.at(-1)!.end),
            }
    this.items.push({
      type: 'wrote',
      agent,
      text: text.slice(turn[0]!.start, turn.at(-1)!.end),
      thought: thought.join('\n'),
      said,
    })
    if (calls.length + unreadable.length > 0) this.#waiting = []
    for (const { problem } of unreadable)
      this.items.push({ type: 'failed', agent, message: problem, unreadable: true })
    for (const { tool, input } of calls) {
      const call = `call-${++this.#calls}`
      this.#waiting.push(call)
      this.items.push({ type: 'called', agent, tool, input, call })
    }
    if (ending?.kind === 'answer') this.items.push({ type: 'answered', agent, text: ending.text })
  }
}
