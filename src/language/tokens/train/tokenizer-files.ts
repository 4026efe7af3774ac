import { byteAlphabet } from '../byte-level.ts'
import { addedToken, byteLevelJson } from '../byte-level-json.ts'
import type { LearnedMerges } from './learn-merges.ts'
import type { TrainingPlan } from './training-options.ts'

/** tokenizer.json and tokenizer_config.json, parsed. */
export interface TokenizerFiles {
  json: Record<string, unknown>
  config: Record<string, unknown>
}

/**
 * The initial tokens, in the order of the Rust library: control tokens, then the bytes sorted by the code of the
 * character that represents them, which is not byte order.
 */
export function initialTokens(plan: TrainingPlan): string[] {
  return [...plan.controlTokens, ...byteAlphabet.toSorted()]
}

/** Tags come last, as if added to a finished Rust tokenizer: outside the model's vocabulary. */
export function tokenizerFiles(plan: TrainingPlan, { tokens, merges }: LearnedMerges): TokenizerFiles {
  return {
    json: byteLevelJson({
      pattern: plan.pattern,
      addedTokens: [
        ...plan.controlTokens.map((token, index) => addedToken(token, index, true)),
        ...plan.tags.map((token, index) => addedToken(token, tokens.length + index, false)),
      ],
      vocabulary: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges,
    }),
    config: tokenizerConfig(plan),
  }
}

function tokenizerConfig(plan: TrainingPlan): Record<string, unknown> {
  const named: Array<string | null> = [plan.bosToken, plan.eosToken, plan.padToken]
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: plan.bosToken,
    eos_token: plan.eosToken,
    pad_token: plan.padToken,
    unk_token: null,
    additional_special_tokens: plan.controlTokens.filter((token) => !named.includes(token)),
    clean_up_tokenization_spaces: false,
    model_max_length: plan.modelMaxLength,
    ...(plan.chatTemplate === null ? {} : { chat_template: plan.chatTemplate }),
  }
}
