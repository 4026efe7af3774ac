import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callTool } from '../world/tools/index.ts'
import { fakeTool } from './fake-tool.ts'
import { scriptedModel } from './scripted-model.ts'

const json = (value: Record<string, unknown>) => ({ syntax: 'json', value }) as const

describe('fakeTool', () => {
  it('answers from a table, by its only value or the whole input, and keeps its calls', async () => {
    const tool = fakeTool('weather', { Oslo: 'rain', '{"city":"Rome","day":2}': 'sun' })
    expect(await callTool(tool, json({ city: 'Oslo' }))).toMatchObject({ ok: true, text: 'rain' })
    expect(await callTool(tool, json({ city: 'Rome', day: 2 }))).toMatchObject({ ok: true, text: 'sun' })
    expect(tool.calls).toEqual([{ city: 'Oslo' }, { city: 'Rome', day: 2 }])
  })

  it('fails where nothing is scripted, even for names that every object has', async () => {
    const tool = fakeTool('weather', { Oslo: 'rain' })
    const result = await callTool(tool, json({ city: 'constructor' }))
    expect(result).toMatchObject({ ok: false, text: expect.stringContaining('no answer is scripted') })
  })

  it('answers from a function', async () => {
    const tool = fakeTool('double', ({ number }) => String(Number(number) * 2))
    expect(await callTool(tool, json({ number: 21 }))).toMatchObject({ ok: true, text: '42' })
  })
})

describe('scriptedModel', () => {
  it('answers from a list, whose last reply repeats, and keeps its requests', async () => {
    const model = scriptedModel(['one two', 'three'])
    const texts = []
    for (const prompt of ['a', 'b', 'c']) texts.push((await model.complete({ prompt })).text)
    expect(texts).toEqual(['one two', 'three', 'three'])
    expect(model.requests).toEqual([{ prompt: 'a' }, { prompt: 'b' }, { prompt: 'c' }])
  })

  it('answers from a function, counts words, streams, and reads objects', async () => {
    const pieces: string[] = []
    const model = scriptedModel((_, index) => `{"index": ${index}}`)
    const { object, usage } = await model.complete({
      messages: [{ role: 'user', content: 'which one is it' }],
      schema: z.object({ index: z.number() }),
      onText: (piece) => pieces.push(piece),
    })
    expect(object).toEqual({ index: 0 })
    expect(usage).toEqual({ prompt: 4, completion: 2 })
    expect(pieces).toEqual(['{"index": 0}'])
  })

  it('fails without a reply, and stops for its caller', async () => {
    await expect(scriptedModel([]).complete({ prompt: 'a' })).rejects.toMatchObject({ boundary: 'model' })
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(scriptedModel(['a']).complete({ prompt: 'a', signal })).rejects.toThrow('enough')
  })
})
