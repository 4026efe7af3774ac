import { addExamples, type Voice, type VoiceOptions, Voices } from '../../language/voice/index.ts'
import type { Contribution } from '../../schema/index.ts'
import type { Turn } from './turn.ts'

/** Payloads and answers are never rewritten. */
const untouched: ReadonlySet<Contribution | undefined> = new Set(['call', 'suggestion', 'answer'])

/** In `meta.voice`: matches left alone because a number would have changed. */
export const LEFT = 'left alone'

/** Rewrites what the agents of one run wrote, and counts how often each rule changed something. */
export class Speaker {
  readonly #voice: Voice
  readonly counts = new Map<string, number>()
  /** Some of what each rule changed. */
  readonly examples = new Map<string, string[]>()

  constructor(voice: Voice) {
    this.#voice = voice
  }

  speak(turn: Turn): Turn {
    const thought = this.#rewrite(turn.thought)
    const words = untouched.has(turn.as) ? turn.words : this.#rewrite(turn.words)
    return thought === turn.thought && words === turn.words ? turn : { ...turn, thought, words }
  }

  #rewrite(written: string): string {
    if (written === '') return written
    const { text, rules, examples, left } = this.#voice.rewrite(written)
    for (const [rule, times] of rules) this.#count(rule, times)
    for (const [rule, texts] of examples) addExamples(this.examples, rule, texts)
    if (left > 0) this.#count(LEFT, left)
    return text
  }

  #count(rule: string, times: number): void {
    this.counts.set(rule, (this.counts.get(rule) ?? 0) + times)
  }
}

const compiled = new WeakMap<VoiceOptions, Voices>()
const builtin: VoiceOptions = {}

/** The speaker for a run. The rules of the same options are compiled once. */
export function speakerOf(
  team: readonly string[],
  question: string,
  options: VoiceOptions = builtin,
): Speaker {
  const voices = compiled.get(options) ?? new Voices(options)
  compiled.set(options, voices)
  return new Speaker(voices.of(team, question))
}
