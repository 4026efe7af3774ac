import { expect, it } from 'vitest'
import { tokenizerNamed } from './tokenizer-named.ts'

it('resolves "bytes", bundled models, and folders', async () => {
  expect((await tokenizerNamed('bytes')).vocabularySize).toBe(259)
  const nano = await tokenizerNamed('nano')
  expect((await tokenizerNamed('models/nano')).encodeIds('<think>a</think>')).toEqual(
    nano.encodeIds('<think>a</think>'),
  )
  await expect(tokenizerNamed('nowhere')).rejects.toThrow('no tokenizer at nowhere')
})
