import { buildPrompt, builtinGrammars, exampleChains, parseChain, render, spansOf } from '../grammar/index.ts'
import { byteTokenizer, encodeSequence, openTokenizer } from '../tokens/index.ts'
import type { StageContext } from './stage.ts'

/**
 * Takes the example chain of every grammar through the language: rendered, read back, checked, cut into spans,
 * stored, and encoded with its mask.
 */
export async function makeSequences({
  run,
  config,
  observe,
  signal,
}: StageContext): Promise<Record<string, number>> {
  const name = config.language.tokenizer
  const tokenizer = name === 'bytes' ? byteTokenizer() : await openTokenizer(name)
  const figures = { sequences: 0, tokens: 0, trained: 0, masked: 0 }
  for (const grammar of builtinGrammars.values()) {
    signal.throwIfAborted()
    const { question, steps } = exampleChains.get(grammar.name)!
    const chain = parseChain(grammar, render(grammar, steps), { strict: true })
    const spans = spansOf(chain)
    const prompt = buildPrompt(grammar, question)
    run.append('sequence', {
      v: 1,
      id: `example-${grammar.name}`,
      grammar: grammar.name,
      prompt,
      spans,
      provenance: { origin: 'example' },
    })
    const { ids, mask, promptLength } = encodeSequence(tokenizer, { prompt, spans })
    const trained = mask.reduce((sum, bit) => sum + bit, 0)
    figures.sequences++
    figures.tokens += ids.length - promptLength
    figures.trained += trained
    figures.masked += ids.length - promptLength - trained
    observe({ stage: 'sequences', done: figures.sequences, total: builtinGrammars.size, unit: 'grammars' })
  }
  return figures
}
