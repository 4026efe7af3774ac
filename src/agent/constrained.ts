import { EngineError } from '../base/errors/index.ts'
import type { Grammar } from '../language/grammar/index.ts'
import type { Tokenizer } from '../language/tokens/index.ts'
import { type Constraint, type ConstraintState, createConstraint } from './constrain/index.ts'
import type { Policy } from './contract.ts'

/** Masks are cached per grammar: all rollouts share the same states. */
const known = new WeakMap<Tokenizer, WeakMap<Grammar, Constraint>>()

/** The initial constraint state of a chain. */
export function startConstrained(
  grammar: Grammar,
  { engine, tokenizer, endTokens }: Policy,
): ConstraintState {
  const { missing, driver, vocabularySize } = engine.describe()
  if (missing.allowedTokens !== undefined) {
    throw new EngineError(
      `the ${driver} engine cannot constrain decoding to a grammar: ${missing.allowedTokens}`,
      {
        fix: 'Set rollout.constrained to false, or use another engine.',
      },
    )
  }
  const ofTokenizer = known.get(tokenizer) ?? new WeakMap<Grammar, Constraint>()
  known.set(tokenizer, ofTokenizer)
  const constraint =
    ofTokenizer.get(grammar) ??
    createConstraint(grammar, tokenizer, {
      endTokens,
      ...(vocabularySize > tokenizer.vocabularySize ? { vocabularySize } : {}),
    })
  ofTokenizer.set(grammar, constraint)
  return constraint.start()
}
