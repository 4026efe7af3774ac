import { type Grammar, renderStep } from '../language/grammar/index.ts'
import type { Tokenizer } from '../language/tokens/index.ts'
import { cutEnd, cutMiddle } from '../world/tools/index.ts'

/** Characters kept of an observation when the context is full. */
const SHORT = 160

/** Tool output as inserted into the stream, as text and tokens. */
export interface Observation {
  text: string
  tokens: Int32Array
  /** The replacement when the context is full. */
  shorter: () => Int32Array
}

/** The line breaks around an observation are part of it: the model writes neither. */
export function observe(
  grammar: Grammar,
  tokenizer: Tokenizer,
  output: string,
  mostTokens: number,
): Observation {
  const write = (body: string): { text: string; tokens: Int32Array } => {
    const text = `\n${renderStep(grammar, { agent: grammar.observation!.name, text: body })}\n`
    return { text, tokens: tokenizer.encodeContinuation(text).ids }
  }
  let body = output
  let written = write(body)
  // A few iterations, because characters per token vary.
  for (
    let share = 1;
    mostTokens > 0 && written.tokens.length > mostTokens && body.length > SHORT;
    share *= 0.9
  ) {
    const room = Math.floor((output.length * share * mostTokens) / write(output).tokens.length)
    body = cutMiddle(output, Math.max(SHORT, room)).text
    written = write(body)
  }
  return { ...written, shorter: () => write(cutEnd(body, SHORT)).tokens }
}
