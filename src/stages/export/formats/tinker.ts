import type { TokenFormat } from '../format.ts'

interface Tensor {
  data: number[]
}

/** Input and targets are shifted by one: the weight at a position is that of predicting the next token. */
export const tinker: TokenFormat = {
  name: 'tinker',
  title: 'Tinker datums',
  carries: 'tokens',
  file: 'datums.jsonl',
  guide:
    'One datum per line, as `forward_backward` takes them in `data`, with `loss_fn: "cross_entropy"`. In Python: `types.Datum(**json.loads(line))`.',
  rule: 'The target at a position is trained on if its weight is 1.',
  differences: ['The first token has no context and is never predicted.'],
  toRow: (_sequence, { ids, mask }) => {
    const shape = [ids.length - 1]
    const weights = [...mask.subarray(1)]
    return {
      model_input: { chunks: [{ type: 'encoded_text', tokens: [...ids.subarray(0, -1)] }] },
      loss_fn_inputs: {
        target_tokens: { data: [...ids.subarray(1)], dtype: 'int64', shape },
        weights: { data: weights, dtype: 'float32', shape },
      },
    }
  },
  fromRow: (row) => {
    const { chunks } = row['model_input'] as { chunks: Array<{ tokens: number[] }> }
    const inputs = row['loss_fn_inputs'] as { target_tokens: Tensor; weights: Tensor }
    const input = chunks.flatMap(({ tokens }) => tokens)
    const targets = inputs.target_tokens.data
    // Both halves must agree: a target is the input of the next position.
    const agrees =
      targets.length === input.length && input.every((id, at) => at === 0 || id === targets[at - 1])
    return { ids: agrees ? [...input.slice(0, 1), ...targets] : [], mask: [0, ...inputs.weights.data] }
  },
}
