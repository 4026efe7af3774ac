import { type Grammar, parseChain } from '../../language/grammar/index.ts'
import { type Stream, streamText, type Trajectory, type Verdict } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import { questionKey } from '../../tasks/index.ts'
import { transcriptOf } from './transcript.ts'

/** Something with an answer to check: a team's run, or a sequence that came without one. */
export interface Attempt {
  id: string
  taskId: string | undefined
  question: string
  answer: string | undefined
  verdict: Verdict | undefined
  /** Why it ended early, if it failed and has no answer. */
  failure: string | undefined
  /** All of it, for a judge. */
  text: () => string
  write: (verdict: Verdict) => void
}

/** The attempts of a run. Writing a verdict changes the trajectory and all sequences distilled from it. */
export class Attempts {
  readonly #run: Run
  readonly #grammars: ReadonlyMap<string, Grammar>
  readonly #distilled = new Map<string, string[]>()
  readonly #alone: string[] = []

  constructor(run: Run, grammars: ReadonlyMap<string, Grammar>) {
    this.#run = run
    this.#grammars = grammars
    for (const { id, provenance } of run.scan('sequence')) {
      const from = provenance?.trajectoryId
      if (from === undefined || !run.has('trajectory', from)) this.#alone.push(id)
      else this.#distilled.set(from, [...(this.#distilled.get(from) ?? []), id])
    }
  }

  get count(): number {
    return this.#run.count('trajectory') + this.#alone.length
  }

  *all(): Generator<Attempt> {
    for (const trajectory of this.#run.scan('trajectory')) yield this.#ofTrajectory(trajectory)
    for (const id of this.#alone) {
      const sequence = this.#run.get('sequence', id)
      if (sequence !== undefined) yield this.#ofSequence(sequence)
    }
  }

  get(id: string): Attempt | undefined {
    const trajectory = this.#run.get('trajectory', id)
    if (trajectory !== undefined) return this.#ofTrajectory(trajectory)
    const sequence = this.#run.get('sequence', id)
    return sequence === undefined ? undefined : this.#ofSequence(sequence)
  }

  #ofTrajectory(trajectory: Trajectory): Attempt {
    const { id, taskId, question, answer, verdict, events } = trajectory
    const failed = events.findLast((event) => event.type === 'failed')
    return {
      id,
      taskId,
      question,
      answer,
      verdict,
      failure: answer === undefined ? failed?.message : undefined,
      text: () => transcriptOf(trajectory),
      write: (made) => {
        this.#run.append('trajectory', { ...trajectory, verdict: made })
        const sequences = (this.#distilled.get(id) ?? []).flatMap(
          (name) => this.#run.get('sequence', name) ?? [],
        )
        this.#run.appendMany(
          'sequence',
          sequences.map((sequence) => ({ ...sequence, verdict: made })),
        )
      },
    }
  }

  #ofSequence(sequence: Stream): Attempt {
    const { id, taskId, prompt, verdict } = sequence
    return {
      id,
      taskId,
      question: prompt.findLast(({ role }) => role === 'user')?.content ?? '',
      answer: this.#answerOf(sequence),
      verdict,
      failure: undefined,
      text: () => streamText(sequence),
      write: (made) => void this.#run.append('sequence', { ...sequence, verdict: made }),
    }
  }

  #answerOf(sequence: Stream): string | undefined {
    const grammar = this.#grammars.get(sequence.grammar)
    // Checkers find an answer in its tags.
    if (grammar === undefined) return sequence.spans.findLast(({ kind }) => kind === 'answer')?.text
    return parseChain(grammar, streamText(sequence)).blocks.findLast(({ kind }) => kind === 'answer')?.text
  }
}

/** Attempts with the same key are attempts at the same task. */
export function groupKey({ taskId, question }: Pick<Attempt, 'taskId' | 'question'>): string {
  return taskId === undefined || taskId === '' ? `question ${questionKey(question)}` : `task ${taskId}`
}
