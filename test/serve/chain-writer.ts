import { openTokenizer } from '../../src/language/tokens/index.ts'
import { act, scripted } from '../engine/openai/scripted-server.ts'

/** An inference server, as SGLang's, that writes a whole chain for each question in one part. */
export async function chainWriter(
  model: string,
  chainOf: (question: string) => string,
): Promise<{ url: string; close: () => void }> {
  const tokenizer = await openTokenizer(model)
  const end = tokenizer.eosId!
  return scripted({
    '/v1/models': { data: [{ id: 'model', owned_by: 'sglang', max_model_len: 8192 }] },
    '/get_model_info': { model_path: model, is_generation: true },
    '/generate': (body: { input_ids: number[]; sampling_params: { max_new_tokens: number } }) =>
      act((response) => {
        const written = [
          ...tokenizer.encodeIds(chainOf(tokenizer.decode(body.input_ids)), { specials: 'text' }),
          end,
        ]
        const ids = written.slice(0, body.sampling_params.max_new_tokens)
        const isWhole = ids.length === written.length
        const part = {
          output_ids: ids,
          meta_info: {
            prompt_tokens: body.input_ids.length,
            completion_tokens: ids.length,
            cached_tokens: 0,
            output_token_logprobs: ids.map((id) => [-0.25, id, null]),
            finish_reason: isWhole ? { type: 'stop', matched: end } : { type: 'length' },
          },
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(`data: ${JSON.stringify(part)}\n\ndata: [DONE]\n\n`)
      }),
  })
}
