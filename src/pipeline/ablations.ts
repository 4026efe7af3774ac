import type { SolverKind } from '../stages/eval/index.ts'

/** One way to run the method. */
export interface Variant {
  name: string
  /** Settings by dotted key that differ from those of the original run. */
  set?: Readonly<Record<string, unknown>>
  /** Training stages that are left out. */
  without?: readonly ('sft' | 'rl')[]
}

/** A question about the method, and the variants whose comparison answers it. The first is the reference. */
export interface Ablation {
  question: string
  /**
   * What every variant repeats: everything after the tasks, everything after the team's runs, reinforcement learning
   * alone, from the original run's SFT checkpoint, or only the evaluation of the model that the original run ended with. In
   * evaluations, variants that leave the tools of all tasks as they are are skipped.
   */
  repeats: 'team' | 'training' | 'rl' | 'eval'
  variants: readonly [Variant, ...Variant[]]
}

const rlVariants = (key: string, values: readonly number[]): readonly [Variant, ...Variant[]] => [
  { name: 'as configured' },
  ...values.map((value) => ({ name: `${key} = ${value}`, set: { [key]: value } })),
]

/** Scripts take no hints. */
const unaided = { 'teach.hints': false, 'teach.verdicts': 0 }

/** The paper's questions, by the name that `coa ablate` takes. */
export const ablations: Readonly<Record<string, Ablation>> = {
  masking: {
    question: 'Does it help not to train on tool output?',
    repeats: 'training',
    variants: [
      { name: 'tool output masked', set: { 'sft.mask_observations': true } },
      { name: 'tool output trained on', set: { 'sft.mask_observations': false } },
    ],
  },
  filters: {
    question: 'What does each filter contribute?',
    repeats: 'training',
    variants: [
      { name: 'all filters' },
      {
        name: 'few tool calls kept',
        set: { 'filter.min_interactions': 0, 'filter.min_interactions_by_suite': {} },
      },
      { name: 'repeated calls kept', set: { 'filter.max_same_call': 1_000_000 } },
      {
        name: 'no reflection required',
        set: { 'filter.reflection_required': [], 'filter.keep_unreflected': 1 },
      },
      { name: 'corrections not preferred', set: { 'filter.correction_weight': 1 } },
      { name: 'near-duplicates kept', set: { 'filter.near_duplicates': false } },
    ],
  },
  stages: {
    question: 'Does it take both SFT and RL?',
    repeats: 'training',
    variants: [
      { name: 'SFT and RL' },
      { name: 'SFT only', without: ['rl'] },
      { name: 'RL only', without: ['sft'] },
    ],
  },
  chains: {
    question: 'How many sequences does SFT need?',
    repeats: 'training',
    variants: [
      { name: 'all', without: ['rl'] },
      ...[32, 64, 128, 256, 512, 1024].map((count) => ({
        name: `${count}`,
        set: { 'sft.max_chains': count },
        without: ['rl'] as const,
      })),
    ],
  },
  thoughts: {
    question: 'Does it help to distill what agents thought, and not only what they said?',
    repeats: 'training',
    variants: [
      { name: 'with thoughts', set: { 'distill.thoughts': true } },
      { name: 'without thoughts', set: { 'distill.thoughts': false } },
    ],
  },
  outcome: {
    question: 'Does it help to distill plans, reflections and checks, and not only tool calls and answers?',
    repeats: 'training',
    variants: [
      { name: 'complete chains', set: { 'sft.react_share': 0, 'rollout.react': false, 'rl.replay': 0 } },
      {
        name: 'tool calls and answers',
        // In RL, only complete chains can be replayed.
        set: { 'sft.react_share': 1, 'rollout.react': true, 'rl.replay': 0 },
      },
    ],
  },
  tools: {
    question: 'Does the model adapt if a tool is missing, or new?',
    repeats: 'eval',
    variants: [
      { name: 'as trained' },
      ...['web_search', 'wiki_search', 'crawl_page', 'code'].flatMap((tool) => [
        { name: `without ${tool}`, set: { 'eval.remove_tools': [tool] } },
        { name: `with ${tool}`, set: { 'eval.add_tools': [tool] } },
      ]),
    ],
  },
  team: {
    question: 'What does a better or worse scripted team teach?',
    repeats: 'team',
    variants: [
      { name: 'careful', set: { 'teach.mind': 'careful', ...unaided } },
      { name: 'erring', set: { 'teach.mind': 'erring', ...unaided } },
    ],
  },
  temperature: {
    question: 'At which temperature should rollouts be sampled?',
    repeats: 'rl',
    variants: rlVariants('rollout.temperature', [0.7, 0.85, 1.15]),
  },
  'group-size': {
    question: 'How many rollouts per task?',
    repeats: 'rl',
    variants: rlVariants('rl.group_size', [4, 8, 16, 32]),
  },
  algorithm: {
    question: 'Which objective?',
    repeats: 'rl',
    variants: [
      { name: 'as configured' },
      ...['dapo', 'grpo', 'gspo', 'cispo'].map((name) => ({
        name,
        set: { 'rl.algorithm': name, 'rl.mini_batches': 4 },
      })),
    ],
  },
  anchor: {
    question: 'Does replaying SFT data during RL help against forgetting?',
    repeats: 'rl',
    variants: rlVariants('rl.replay', [0.05, 0.2]),
  },
}

/** The model that a variant ends with. */
export function resultOf({ without = [] }: Variant): SolverKind {
  return without.includes('rl') ? 'sft' : 'rl'
}
