import { type Grammar, renderStep } from '../language/grammar/index.ts'
import type { Tokenizer } from '../language/tokens/index.ts'
import { cutEnd, cutMiddle } from '../world/tools/index.ts'

/** Characters that remain of an observation when the context has become too long. */
const SHORT = 160

/** Tool output as the runtime writes it into the stream, in text and in tokens. */
export interface Observation {
  text: string
  tokens: Int32Array
  /** What takes its place when the context is full. */
  shorter: () => Int32Array
}

/** The line breaks around an observation belong to it: the model writes neither. */
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
  // A few tries: how many characters a token has differs from text to text.
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
