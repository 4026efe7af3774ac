import { UsageError } from '../../base/errors/index.ts'

/** The settings, by dotted key, that make a folder or a server's URL the model that is sampled. */
export function modelSettings(
  model: string | undefined,
  tokenizer: string | undefined,
): Record<'student.model' | 'engine.url' | 'engine.driver', string | undefined> {
  const isUrl = model !== undefined && URL.canParse(model) && /^https?:/.test(model)
  if (!isUrl && tokenizer !== undefined)
    throw new UsageError('a tokenizer is given, but the model is not a URL', {
      fix: 'Omit it: a model folder has its own tokenizer. Or give a URL, such as --model http://localhost:8080.',
    })
  return isUrl
    ? { 'student.model': tokenizer, 'engine.url': model, 'engine.driver': 'openai' }
    : { 'student.model': model, 'engine.url': undefined, 'engine.driver': undefined }
}
