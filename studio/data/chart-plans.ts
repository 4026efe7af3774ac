/** The charts shown first, for each stage that trains: the same as in the report of a run. */
export interface ChartPlan {
  title: string
  note?: string
  /** Metrics and what they are called. */
  lines: readonly (readonly [string, string])[]
  isShare?: boolean
}

const plans: Record<string, ChartPlan[]> = {
  sft: [
    {
      title: 'Loss',
      note: 'mean over trained tokens; lower is better',
      lines: [
        ['loss', 'training'],
        ['evalLoss', 'held out'],
      ],
    },
    {
      title: 'Rollouts on held-out tasks',
      lines: [
        ['accuracy', 'accuracy'],
        ['wellFormed', 'well formed'],
      ],
      isShare: true,
    },
    { title: 'Gradient norm', lines: [['gradientNorm', 'gradient norm']] },
    { title: 'Learning rate', lines: [['learningRate', 'learning rate']] },
  ],
  rl: [
    { title: 'Reward', note: 'mean over the rollouts of a step', lines: [['reward_mean', 'reward']] },
    {
      title: 'Accuracy',
      lines: [
        ['pass_rate', 'training rollouts'],
        ['eval_accuracy', 'held-out tasks'],
        ['well_formed_share', 'well formed'],
      ],
      isShare: true,
    },
    {
      title: 'Entropy',
      note: 'nats per sampled token; near 0 the model no longer explores',
      lines: [['entropy', 'entropy']],
    },
    {
      title: 'Length',
      note: 'mean tokens per rollout',
      lines: [
        ['tokens_sampled_mean', 'written by the model'],
        ['tokens_inserted_mean', 'inserted by tools'],
      ],
    },
    { title: 'Tool calls', note: 'mean per rollout', lines: [['turns_mean', 'calls']] },
    { title: 'Gradient norm', lines: [['gradient_norm', 'gradient norm']] },
  ],
}

export function plansOf(stage: string): readonly ChartPlan[] {
  return plans[stage] ?? []
}

const shares = /_share|^share|pass_rate|accuracy|wellFormed|^stop\/|^time\//

/** One chart for a metric that has no plan. */
export function planOf(name: string): ChartPlan {
  return { title: name, lines: [[name, name]], isShare: shares.test(name) }
}
