import { z } from 'zod'
import type { Policy, RolloutJob, RolloutSettings, World } from '../../src/agent/index.ts'
import { loadGrammar } from '../../src/language/grammar/index.ts'
import { byteTokenizer } from '../../src/language/tokens/index.ts'
import type { Task } from '../../src/schema/index.ts'
import { type ScriptedOptions, scriptedEngine } from '../../src/testing/scripted-engine.ts'
import type { Tool } from '../../src/world/tools/index.ts'

export const tokenizer = byteTokenizer()

export const settings: RolloutSettings = {
  temperature: 1,
  topP: 1,
  topK: 0,
  maxTurns: 4,
  maxTokens: 4000,
  maxSeconds: 60,
  maxSameCall: 2,
  observationTokens: 0,
  constrained: false,
}

export const task: Task = {
  v: 1,
  id: 'sum',
  suite: 'test',
  domain: 'math',
  question: 'What is 2 + 3?',
  gold: { checker: 'math', answer: '5' },
  level: 1,
  meta: {},
}

export const job: RolloutJob = { task, id: 'r1', groupId: 'g1', seed: 1 }

export function policyOf(
  write: (soFar: string, request: number) => string,
  options?: ScriptedOptions,
): Policy {
  return {
    engine: scriptedEngine(tokenizer, write, options),
    tokenizer,
    endTokens: [256],
    checkpoint: 'scripted',
  }
}

/** A world whose code tool is a given function. */
export function worldOf(execute: Tool['execute'], domain?: string): World {
  const tool: Tool = {
    name: 'code',
    description: 'runs programs',
    payload: { syntax: 'code', languages: ['py'], stdin: true },
    input: z.unknown(),
    fromPayload: (payload) => payload,
    cacheable: false,
    execute,
  }
  return {
    grammarOf: (asked) => loadGrammar(domain ?? asked.domain),
    toolsOf: async () => [tool],
    calling: { timeoutMs: 5000, outputLimit: 10_000 },
    check: {},
    close: async () => {},
  }
}

export const says = (text: string): World => worldOf(async () => ({ text }))
export const fence = '```'
export const callOf = (code: string): string => `<code>\n${fence}py\n${code}\n${fence}\n</code>`

/** A model that writes these pieces, one after each observation, and continues where it was cut off. */
export function writes(pieceOf: (observations: number) => string): (soFar: string) => string {
  return (soFar) => {
    const turns = soFar.split('assistant\n').slice(1).join('assistant\n').split('</observation>\n')
    return pieceOf(turns.length - 1).slice(turns.at(-1)!.length)
  }
}
