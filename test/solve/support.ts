import { z } from 'zod'
import { defineTool } from '../../src/index.ts'
import type { OpenedModel } from '../../src/pipeline/solve/chain-model.ts'
import { type ScriptedOptions, scriptedEngine } from '../../src/testing/scripted-engine.ts'
import { tokenizer, writes } from '../rollout/fixtures.ts'

export const findOrder = defineTool({
  name: 'find_order',
  description: 'Look up an order by its number.',
  input: z.object({ number: z.number().int() }),
  execute: ({ number }) => (number === 4711 ? 'two lamps, shipped on Monday' : 'There is no such order.'),
})

export const beginning =
  '<think>Look <b>it</b> up, <code> is not needed.</think>\n<find_order>{"number": 4711}</find_order>'
export const ending =
  '<reflection>It says when.</reflection>\n<think>Done.</think>\n<answer> On Monday \n</answer>'

/** A model that looks up an order, then answers. */
export function orderModel(options?: ScriptedOptions): OpenedModel {
  return modelThat(
    writes((observations) => (observations === 0 ? beginning : ending)),
    options,
  )
}

export function modelThat(
  write: (soFar: string, request: number) => string,
  options?: ScriptedOptions,
): OpenedModel {
  return {
    engine: scriptedEngine(tokenizer, write, options),
    tokenizer,
    endTokens: [256],
    checkpoint: 'scripted',
  }
}

export const question = 'When was order 4711 shipped?'
export const own = { grammar: 'math', tools: [findOrder], seed: 1 }
