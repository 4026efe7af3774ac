import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import * as sdk7 from 'ai'
import * as sdk5 from 'ai-5'
import * as sdk6 from 'ai-6'
import { createOpenAICompatible as createFor5 } from 'openai-compatible-5'
import { createOpenAICompatible as createFor6 } from 'openai-compatible-6'
import { z } from 'zod'
import type { recordAiSdk } from '../../src/stages/teach/index.ts'

type Recorded = ReturnType<typeof recordAiSdk>
type Ask = (recorded: Recorded, baseURL: string, prompt: string) => Promise<string>

const lookup = {
  description: 'Looks up a word.',
  inputSchema: z.object({ word: z.string() }),
  execute: async ({ word }: { word: string }) => {
    if (word === 'nowhere') throw new Error('no such word')
    return { found: `${word}: a town on the Osk` }
  },
}

/** The same tool with preliminary results. */
const slowLookup = {
  ...lookup,
  async *execute({ word }: { word: string }) {
    yield { found: 'looking …' }
    yield await lookup.execute({ word })
  },
}

/** The same small agent for each version of the AI SDK, written out three times so that the types are checked too. */
export const agents: Record<string, Record<'generateText' | 'streamText' | 'agent', Ask>> = {
  'AI SDK 5': {
    generateText: async (recorded, baseURL, prompt) => {
      const model = recorded.model(createFor5({ name: 'test', baseURL }).chatModel('m'))
      const tools = recorded.tools({ lookup: sdk5.tool(lookup) })
      return (await sdk5.generateText({ model, tools, prompt, stopWhen: sdk5.stepCountIs(5) })).text
    },
    streamText: async (recorded, baseURL, prompt) => {
      const model = recorded.model(createFor5({ name: 'test', baseURL }).chatModel('m'))
      const tools = recorded.tools({ lookup: sdk5.tool(slowLookup) })
      return sdk5.streamText({ model, tools, prompt, stopWhen: sdk5.stepCountIs(5) }).text
    },
    agent: async (recorded, baseURL, prompt) => {
      const model = recorded.model(createFor5({ name: 'test', baseURL }).chatModel('m'))
      const tools = recorded.tools({ lookup: sdk5.tool(lookup) })
      const agent = new sdk5.Experimental_Agent({ model, tools, stopWhen: sdk5.stepCountIs(5) })
      return (await agent.generate({ prompt })).text
    },
  },
  'AI SDK 6': {
    generateText: async (recorded, baseURL, prompt) => {
      const model = recorded.model(createFor6({ name: 'test', baseURL }).chatModel('m'))
      const tools = recorded.tools({ lookup: sdk6.tool(lookup) })
      return (await sdk6.generateText({ model, tools, prompt, stopWhen: sdk6.stepCountIs(5) })).text
    },
    streamText: async (recorded, baseURL, prompt) => {
      const model = recorded.model(createFor6({ name: 'test', baseURL }).chatModel('m'))
      const tools = recorded.tools({ lookup: sdk6.tool(slowLookup) })
      return sdk6.streamText({ model, tools, prompt, stopWhen: sdk6.stepCountIs(5) }).text
    },
    agent: async (recorded, baseURL, prompt) => {
      const model = recorded.model(createFor6({ name: 'test', baseURL }).chatModel('m'))
      const tools = recorded.tools({ lookup: sdk6.tool(lookup) })
      const agent = new sdk6.ToolLoopAgent({ model, tools })
      return (await agent.generate({ prompt })).text
    },
  },
  'AI SDK 7': {
    generateText: async (recorded, baseURL, prompt) => {
      const model = recorded.model(createOpenAICompatible({ name: 'test', baseURL }).chatModel('m'))
      const tools = recorded.tools({ lookup: sdk7.tool(lookup) })
      return (await sdk7.generateText({ model, tools, prompt, stopWhen: sdk7.isStepCount(5) })).text
    },
    streamText: async (recorded, baseURL, prompt) => {
      const model = recorded.model(createOpenAICompatible({ name: 'test', baseURL }).chatModel('m'))
      const tools = recorded.tools({ lookup: sdk7.tool(slowLookup) })
      return sdk7.streamText({ model, tools, prompt, stopWhen: sdk7.isStepCount(5) }).text
    },
    agent: async (recorded, baseURL, prompt) => {
      const model = recorded.model(createOpenAICompatible({ name: 'test', baseURL }).chatModel('m'))
      const tools = recorded.tools({ lookup: sdk7.tool(lookup) })
      const agent = new sdk7.ToolLoopAgent({ model, tools })
      return (await agent.generate({ prompt })).text
    },
  },
}
