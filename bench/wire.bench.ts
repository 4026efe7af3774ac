/**
 * Encoding and decoding the tokens of a training step and of a sample, as JSON and as binary columns: both directions, as the
 * client and a server written in JavaScript would do it.
 */
import { decodeColumns, encodeColumns } from '../src/engine/tinker/columns.ts'
import { columnsOf, datumOf, inputOf, type PassExample } from '../src/engine/tinker/datums.ts'
import { type BenchResult, raceMs } from './bench-result.ts'

const ROUNDS = 7
const [ROLLOUTS, LENGTH, SAMPLED] = [256, 660, 190]
const GOAL = 20

export async function run(): Promise<BenchResult[]> {
  return [pass(), sample()]
}

function result(name: string, tokens: number, { left, right }: { left: number; right: number }): BenchResult {
  const perMillion = (ms: number): string => `${(ms / (tokens / 1e6)).toFixed(ms < 1 ? 2 : 0)} ms`
  return {
    name: `${name}: JSON takes`,
    value: left / right,
    unit: '× the time of columns',
    goal: `≥ ${GOAL}`,
    met: left / right >= GOAL,
    note: `per million tokens: JSON ${perMillion(left)}, columns ${perMillion(right)}`,
  }
}

/** A policy pass with four inputs per token, and its log-probabilities. */
function pass(): BenchResult {
  const floats = (): Float32Array => Float32Array.from({ length: LENGTH }, () => -Math.random())
  const data = Array.from({ length: ROLLOUTS }, (): PassExample => {
    const inputs = {
      weights: floats(),
      advantages: floats(),
      logprobs: floats(),
      sampled_logprobs: floats(),
    }
    return { tokens: randomTokens(LENGTH), inputs }
  })
  const json = (): void => {
    JSON.parse(JSON.stringify({ data: data.map(datumOf), loss_fn: 'ppo' }))
    const outputs = data.map(({ inputs }) => ({ logprobs: { data: Array.from(inputs['logprobs']!) } }))
    JSON.parse(JSON.stringify({ loss_fn_outputs: outputs }))
  }
  const columns = (): void => {
    decodeColumns(columnsOf({ loss_fn: 'ppo' }, data))
    const parts = data.map(({ inputs }) => inputs['logprobs']!)
    decodeColumns(encodeColumns({}, { logprobs: { type: 'float32', parts } }))
  }
  return result(
    `a pass over ${ROLLOUTS} rollouts of ${LENGTH} tokens`,
    ROLLOUTS * LENGTH,
    raceMs(ROUNDS, json, columns),
  )
}

/** The request and the result of many samples. */
function sample(): BenchResult {
  const prompt = randomTokens(LENGTH)
  const tokens = randomTokens(SAMPLED)
  const logprobs = Float32Array.from({ length: SAMPLED }, () => -Math.random())
  const json = (): void => {
    for (let each = 0; each < ROLLOUTS; each++) {
      JSON.parse(JSON.stringify({ prompt: inputOf(prompt) }))
      const [ids, floats] = [Array.from(tokens), Array.from(logprobs)]
      JSON.parse(JSON.stringify({ tokens: ids, logprobs: floats, model_logprobs: floats }))
    }
  }
  const columns = (): void => {
    for (let each = 0; each < ROLLOUTS; each++) {
      decodeColumns(encodeColumns({}, { prompt: { type: 'int32', parts: [prompt] } }))
      const found = { type: 'float32' as const, parts: [logprobs] }
      decodeColumns(
        encodeColumns(
          {},
          { tokens: { type: 'int32', parts: [tokens] }, logprobs: found, model_logprobs: found },
        ),
      )
    }
  }
  return result(
    `${ROLLOUTS} samples of ${SAMPLED} tokens after a prompt of ${LENGTH}`,
    ROLLOUTS * (LENGTH + SAMPLED),
    raceMs(ROUNDS, json, columns),
  )
}

function randomTokens(length: number): Int32Array {
  return Int32Array.from({ length }, () => Math.floor(Math.random() * 150_000))
}
