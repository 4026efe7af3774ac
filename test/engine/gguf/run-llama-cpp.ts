/** A separate program: continues prompts greedily with llama.cpp and prints the result. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The part of node-llama-cpp that is used here; it is not a dependency. */
interface LlamaCpp {
  getLlama(options: object): Promise<{
    loadModel(options: object): Promise<{
      tokenize(text: string, specialTokens: boolean): number[]
      createContext(options: object): Promise<{
        getSequence(): {
          evaluateWithMetadata(
            tokens: readonly number[],
            metadata: { confidence: true },
            options: object,
          ): AsyncIterable<{ token: number; confidence: number }>
          clearHistory(): Promise<void>
        }
      }>
    }>
  }>
}

export interface LlamaCppJob {
  folder: string
  model: string
  prompts: number[][]
  texts: string[]
  count: number
  /** Default: 128. */
  contextSize?: number
}

export interface LlamaCppAnswer {
  tokens: number[][]
  probabilities: number[][]
  encoded: number[][]
}

const {
  folder,
  model: path,
  prompts,
  texts,
  count,
  contextSize = 128,
} = JSON.parse(readFileSync(0, 'utf8')) as LlamaCppJob
const entry = createRequire(join(folder, 'package.json')).resolve('node-llama-cpp')
const { getLlama } = (await import(pathToFileURL(entry).href)) as LlamaCpp
// Nothing is compiled or downloaded: the binary that npm installed, or a failure.
const llama = await getLlama({
  build: 'never',
  gpu: false,
  skipDownload: true,
  logLevel: 'error',
  maxThreads: 1,
})
const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 })
const context = await model.createContext({ contextSize, threads: 1 })
const sequence = context.getSequence()
const answer: LlamaCppAnswer = {
  tokens: [],
  probabilities: [],
  encoded: texts.map((text) => [...model.tokenize(text, true)]),
}
for (const prompt of prompts) {
  await sequence.clearHistory()
  const tokens: number[] = []
  const probabilities: number[] = []
  const options = { temperature: 0, yieldEogToken: true }
  for await (const { token, confidence } of sequence.evaluateWithMetadata(
    prompt,
    { confidence: true },
    options,
  )) {
    tokens.push(token)
    probabilities.push(confidence)
    if (tokens.length === count) break
  }
  answer.tokens.push(tokens)
  answer.probabilities.push(probabilities)
}
process.stdout.write(`\n${JSON.stringify(answer)}\n`, () => process.exit(0))
