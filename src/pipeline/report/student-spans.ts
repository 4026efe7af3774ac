import {
  builtinGrammars,
  extendGrammar,
  parseChain,
  spansOf,
  type ToolAgent,
} from '../../language/grammar/index.ts'
import type { Rollout, Span } from '../../schema/index.ts'

export interface StudentSpans {
  /** Undefined where the grammar is not known here: then the text has no parts. */
  spans: Span[] | undefined
  /** As many inserted parts were found as the rollout had. Otherwise borders may be off. */
  isExact: boolean
}

/**
 * A rollout in its parts. The runtime writes behind a completed call and nowhere else, so an observation anywhere else
 * was sampled by the model itself: it looks like one, and was trained on.
 */
export function studentSpans(
  { grammar: name, text, segments }: Pick<Rollout, 'grammar' | 'text' | 'segments'>,
  tools: readonly ToolAgent[] = [],
): StudentSpans {
  const builtin = builtinGrammars.get(name)
  const grammar = builtin === undefined ? undefined : extendGrammar(builtin, tools)
  const inserted = segments.filter(({ origin }) => origin === 'inserted').length
  if (grammar === undefined) return { spans: undefined, isExact: inserted === 0 }
  const spans = spansOf(parseChain(grammar, text)).map((span, index, all) => ({
    ...span,
    trainable: span.kind !== 'observation' || all[index - 1]?.kind !== 'call',
  }))
  return { spans, isExact: spans.filter(({ trainable }) => !trainable).length === inserted }
}
