import { openTokenizer } from '../language/tokens/index.ts'
import { EngineError } from './checkpoint/index.ts'

/** Decodes tokens with the tokenizer in a folder; without one, a function that throws when it is called. */
export async function decoder(folder: string | undefined): Promise<(ids: ArrayLike<number>) => string> {
  if (folder === undefined) {
    return () => {
      throw new EngineError('Stop strings need a tokenizer, but the model was opened without one.', {
        fix: 'Open the engine with a tokenizer folder, or use stop tokens.',
      })
    }
  }
  const tokenizer = await openTokenizer(folder)
  return (ids) => tokenizer.decode(ids)
}
