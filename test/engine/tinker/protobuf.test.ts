import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Datum } from '../../../src/engine/tinker/datums.ts'
import { decodePass, encodePass, readPassOutput } from '../../../src/engine/tinker/protobuf/messages.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Generated with the protocol's own code (tinker 0.24.1). */
const theirRequest =
  '0a036d3a3110071a670a100a0e0a0c05000000060000007011010012210a0a616476616e746167657312130a0c000000000000003f0000a0bf180122010312300a0d7461726765745f746f6b656e73121f0a180600000000000000701101000000000008000000000000001802220103220370706f2a1d0a12636c69705f6c6f775f7468726573686f6c64119a9999999999e93f'
const theirOutput =
  '0a067363616c617212450a0178123e0a086c6f6770726f627312320a14000080bf000000c0000060c0000080be00000000121800000000000000000c000000000000001400000000000000180118021a130a086c6f73733a73756d110000000000002940'

const float = fc.float({ noNaN: true, noDefaultInfinity: true })
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const tensor = fc.oneof(
  fc.array(fc.maxSafeInteger()).map((data) => ({ data, dtype: 'int64' as const, shape: [data.length] })),
  fc.array(float).map((data) => ({ data, dtype: 'float32' as const, shape: [data.length] })),
)
const datum: fc.Arbitrary<Datum> = fc.record({
  model_input: fc.record({
    chunks: fc.array(fc.record({ type: fc.constant('encoded_text' as const), tokens: fc.array(int32) })),
  }),
  loss_fn_inputs: fc.dictionary(fc.string({ unit: 'grapheme' }), tensor, { noNullPrototype: true }),
})

describe('the protobuf encoding', () => {
  it('round-trips every pass', () => {
    const pass = fc.record({
      modelId: fc.string({ unit: 'grapheme' }),
      seqId: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
      data: fc.array(datum, { maxLength: 4 }),
      loss_fn: fc.string(),
      loss_fn_config: fc.dictionary(fc.string(), fc.double({ noNaN: true }), {
        minKeys: 1,
        maxKeys: 3,
        noNullPrototype: true,
      }),
      forwardOnly: fc.boolean(),
    })
    fc.assert(
      fc.property(pass, (request) => {
        expect(decodePass(encodePass(request))).toEqual(request)
      }),
      { numRuns: 2000 },
    )
  })

  it("writes the same bytes as the protocol's own code", () => {
    const request = {
      modelId: 'm:1',
      seqId: 7,
      loss_fn: 'ppo',
      loss_fn_config: { clip_low_threshold: 0.8 },
      forwardOnly: false,
      data: [
        {
          model_input: { chunks: [{ type: 'encoded_text' as const, tokens: [5, 6, 70_000] }] },
          loss_fn_inputs: {
            advantages: { data: [0, 0.5, -1.25], dtype: 'float32' as const, shape: [3] },
            target_tokens: { data: [6, 70_000, 8], dtype: 'int64' as const, shape: [3] },
          },
        },
      ],
    }
    expect(hex(encodePass(request))).toBe(theirRequest)
    expect(decodePass(Buffer.from(theirRequest, 'hex'))).toEqual(request)
  })

  it("reads a response of the protocol's own code", () => {
    expect(readPassOutput(Buffer.from(theirOutput, 'hex'))).toEqual({
      loss_fn_outputs: [{ logprobs: { data: [-1, -2, -3.5] } }, { logprobs: { data: [-0.25, 0] } }],
      metrics: { 'loss:sum': 12.5 },
    })
  })

  it('rejects a truncated response', () => {
    const whole = Buffer.from(theirOutput, 'hex')
    for (const length of [1, 5, 20, whole.length - 1])
      expect(() => readPassOutput(whole.subarray(0, length))).toThrow(/truncated or corrupted/)
  })
})
