/**
 * Test doubles: models, tools and servers that answer from a script, and a tokenizer that needs no files. With them your teams,
 * tools and grammars can be tested without a network or a model.
 */
import '../settings/require-node.ts'

// Test doubles

export { byteTokenizer } from '../language/tokens/index.ts'
export { type FakeToolCall, fakeTool } from './fake-tool.ts'
export { type OpenAiServer, type Responder, type ScriptedReply, startOpenAiServer } from './openai-server.ts'
export { type ScriptedOptions, scriptedEngine } from './scripted-engine.ts'
export { type ScriptedModel, scriptedModel } from './scripted-model.ts'
