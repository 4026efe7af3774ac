import { openTokenizer } from '../language/tokens/index.ts'
import { EngineError } from './checkpoint/index.ts'

/** Tokens to text with the tokenizer of a folder; without one a function that says what is missing when it is needed. */
export async function decoder(folder: string | undefined): Promise<(ids: ArrayLike<number>) => string> {
  if (folder === undefined) {
    return () => {
      throw new EngineError('Stopping at a text needs a tokenizer, and the model was opened without one.', {
        fix: 'Open the engine with a tokenizer folder, or stop at tokens.',
      })
    }
  }
  const tokenizer = await openTokenizer(folder)
  return (ids) => tokenizer.decode(ids)
}
