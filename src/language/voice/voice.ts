import { namesPattern } from './names.ts'
import { ownRules, type VoiceOptions } from './own-rules.ts'
import { addExamples, type CompiledRule, type Rewritten, rewrite } from './rewrite.ts'
import { builtinRules } from './rules.ts'
import type { VoiceRule } from './voice-rule.ts'

/** Each cut may join two halves of another match; a text that needs more passes than this is left alone. */
const PASSES = 5

/**
 * Rewrites what one agent of a team wrote so that a single agent could have written it. The user's rules are applied
 * once, before the built-in ones; those are applied until nothing changes, so that a second time changes nothing.
 */
export class Voice {
  readonly #own: readonly CompiledRule[]
  readonly #builtin: readonly CompiledRule[]
  readonly #names: RegExp | undefined

  constructor(own: readonly CompiledRule[], builtin: boolean, names: string | undefined) {
    this.#own = own
    this.#builtin = builtin ? compile(names) : []
    this.#names = names === undefined ? undefined : new RegExp(names, 'gi')
  }

  rewrite(text: string): Rewritten {
    const first = rewrite(text, this.#own, this.#names)
    const rules = new Map(first.rules)
    const examples = new Map(first.examples)
    let current = first.text
    for (let pass = 0; pass < PASSES; pass++) {
      const next = rewrite(current, this.#builtin, this.#names)
      if (next.rules.size === 0) return { text: current, rules, examples, left: first.left + next.left }
      for (const [rule, times] of next.rules) rules.set(rule, (rules.get(rule) ?? 0) + times)
      for (const [rule, texts] of next.examples) addExamples(examples, rule, texts)
      current = next.text
    }
    return { ...first, left: first.left + 1 }
  }
}

/** Makes voices for teams: rules are compiled once per set of names. */
export class Voices {
  readonly #own: readonly CompiledRule[]
  readonly #builtin: boolean
  readonly #known = new Map<string, Voice>()

  constructor({ builtin = true, cut = [], replace = {} }: VoiceOptions = {}) {
    this.#own = ownRules(cut, replace)
    this.#builtin = builtin
  }

  /** The voice for a team that answers a question. */
  of(names: readonly string[], question: string): Voice {
    const pattern = namesPattern(names, question)
    const key = pattern ?? ''
    const known = this.#known.get(key) ?? new Voice(this.#own, this.#builtin, pattern)
    // Imported runs may have a team each; a cache of all of them would only grow.
    if (this.#known.size > 100) this.#known.clear()
    this.#known.set(key, known)
    return known
  }
}

/** Rules about teammates need names; the others do not. */
function compile(names: string | undefined): CompiledRule[] {
  return builtinRules.flatMap((rule) => {
    const pattern = patternOf(rule, names)
    if (pattern === undefined) return []
    const { name, replacement, wrapper = false } = rule
    const hint = rule.hint ?? (needsNames(rule) && names !== undefined ? new RegExp(names, 'i') : undefined)
    return [{ name, pattern, replacement, wrapper, ...(hint === undefined ? {} : { hint }) }]
  })
}

const START = String.raw`(?<=^|[\n.!?:] ?|\n[ ]{0,4}(?:[-*]|\d{1,2}[.)]) |^(?:[-*]|\d{1,2}[.)]) )`
/** Matches nothing. */
const NOBODY = '(?!)'

/** A rule with a hint also has matches without names. */
const needsNames = ({ pattern, hint }: VoiceRule): boolean => hint === undefined && /WHO|NAME/.test(pattern)

function patternOf(rule: VoiceRule, names: string | undefined): RegExp | undefined {
  if (needsNames(rule) && names === undefined) return undefined
  const name = names === undefined ? NOBODY : String.raw`\b${names}(?![\w-])`
  const who = `(?:(?:the |our |my )?${name}(?: agent)?)`
  const source = rule.pattern.replaceAll('START', START).replaceAll('WHO', who).replaceAll('NAME', name)
  return new RegExp(source, rule.exactCase === true ? 'g' : 'gi')
}
