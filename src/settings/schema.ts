import { z } from 'zod'
import { McpSection, ModelSection, modelSection, serverAddress } from './server-sections.ts'
import { localFolder, nameOrPath, namesOrPaths, range, words } from './text-settings.ts'

/** Where tasks come from, with what a name alone does not say. */
const TaskSourceSection = z.strictObject({
  /** A suite, a pulled benchmark or a file. */
  from: z.string().min(1),
  /** Of a file: a benchmark, verl, plain or coa. Left out: told from its rows. */
  format: z.string().min(1).optional(),
  /** Which column of a file is which field, such as { question = "problem", answer = "gold" }. */
  map: z.record(z.string(), z.string().min(1)).optional(),
  /** How answers of a plain file are checked. Left out: told from the answers. */
  checker: z.enum(['exact', 'math', 'judge']).optional(),
  /** The grammar its tasks are solved in. */
  domain: z.string().min(1).optional(),
  /** The split of rows that name none. Left out: by the file's name, or else by a hash of the question. */
  split: z.enum(['train', 'dev', 'test']).optional(),
})

/** The settings of a project, as in coa.toml. `ProjectConfig.parse({})` gives the defaults of every section. */
export const ProjectConfig = z.strictObject({
  project: z
    .strictObject({
      /** Folder that holds the run folders. */
      runs: localFolder().default('runs'),
      /** Everything random starts from here. */
      seed: z.number().int().nonnegative().default(1),
    })
    .prefault({}),
  language: z
    .strictObject({
      /**
       * A grammar that comes with coa, or the path of a .toml or .ts file: for all tasks that name no other. Left out:
       * math and code for tasks checked in that way, multihop for other files, web for questions without a task.
       */
      grammar: nameOrPath().optional(),
      /** A folder with tokenizer.json, "student" for that of student.model, or "bytes" for one token a byte. */
      tokenizer: nameOrPath().default('bytes'),
    })
    .prefault({}),
  tools: z
    .strictObject({
      /** Folder of tool outputs and judgements that are kept; processes share it. Empty: none are. */
      cache: z.string().meta({ fromRun: 'never' }).default('.coa/tools'),
      /** For all attempts of one call together. */
      timeout_s: z.number().positive().default(30),
      /** Characters of output a model gets to read. */
      output_limit: z.number().int().min(200).default(8000),
      /** Hosts, with port, that may be read although they are not on the public internet. */
      allow_hosts: z.array(z.string().min(1)).default([]),
      /** Servers whose tools every grammar has besides its own, by a name of yours. */
      mcp: z.record(z.string().regex(/^[\w-]+$/), McpSection).default({}),
      /** Files of code with tools of your own, which every grammar has too. */
      own: z.strictObject({ files: z.array(z.string().min(1)).default([]) }).prefault({}),
    })
    .prefault({}),
  tasks: z
    .strictObject({
      /** Suites, pulled benchmarks or files to take tasks from: names, or tables that say more about them. */
      suites: namesOrPaths(z.union([z.string().min(1), TaskSourceSection]), 1).default([
        'math',
        'search',
        'code',
      ]),
      /** How many of each. */
      count: z.number().int().positive().default(10),
      /** How many of each, of split dev, training is measured with by rollouts; 0: not at all. */
      dev_count: z.number().int().nonnegative().default(0),
      /** How many of each, of split test, the quickstart holds team and models against each other with. */
      test_count: z.number().int().positive().default(100),
      /** Levels of suites, such as ["math=1", "search=2..3"]. Left out: all. */
      levels: words().default([]),
      /** Folder of benchmarks fetched with `coa tasks pull`. */
      data: localFolder().default('.coa/benchmarks'),
    })
    .prefault({}),
  /** How a team's runs become one voice. With the address and name of a model it smooths the joints between agents. */
  distill: z
    .strictObject({
      ...modelSection,
      /** Agents, contributions or tools and what they become: "critic=reflection", "report=drop", "search=web_search". */
      map: words().default([]),
      /** Thoughts may quote what a tool returned; otherwise what was said word for word is not said again. */
      quotes: z.boolean().default(false),
      thoughts: z.boolean().default(true),
    })
    .prefault({}),
  /** What is worth learning. Limits of 0 are no limits. */
  filter: z
    .strictObject({
      /** Tool calls a sequence needs. */
      min_interactions: z.number().int().nonnegative().default(5),
      /** Other numbers for some suites, such as ["math=3"]. */
      min_interactions_by_suite: words().default([]),
      /** How often one tool may be called with the same input. */
      max_same_call: z.number().int().positive().default(1),
      /** Leave out what came from a step that had seen the gold answer. */
      exclude_saw_gold: z.boolean().default(false),
      /** Agents whose words count as reflection. */
      reflection_agents: words().default(['reflection']),
      /** Grammars and suites in which a sequence without reflection is left out. */
      reflection_required: words().default(['code', 'math']),
      /** Elsewhere this share of those without is kept. */
      keep_unreflected: z.number().min(0).max(1).default(0.3),
      /** Agents that score a suggested answer. */
      check_agents: words().default(['double_check']),
      /** A first score up to this is low. */
      low_score: z.number().min(0).max(4).default(2),
      /** How often a sequence counts whose first score was low and whose answer is right. */
      correction_weight: z.number().int().positive().default(2),
      /** With language.tokenizer, prompt included. */
      max_tokens: z.number().int().nonnegative().default(32768),
      max_characters: z.number().int().nonnegative().default(0),
      /** Keep one of those that are alike. Holds some 1.4 kB for each sequence that passed all else. */
      near_duplicates: z.boolean().default(true),
      /** Jaccard likeness of the words from which two sequences are alike. */
      duplicate_likeness: z.number().min(0.3).max(1).default(0.8),
      /** Suites, benchmarks or files whose questions must not be trained on; "gsm8k:train" names a split. */
      against: namesOrPaths(z.string().min(1)).default([]),
      /** How many questions of a generated suite. */
      against_count: z.number().int().positive().default(1000),
      /** Words in a row that are looked for in those questions. */
      overlap_words: z.number().int().positive().default(8),
      /** A question with this share of its runs of words in one of these sets is left out. */
      overlap_share: z.number().positive().max(1).default(0.5),
      /** Sequences that come from here are not looked at. */
      skip_origins: words().default(['example']),
    })
    .prefault({}),
  sandbox: z
    .strictObject({
      /** Where programs run. auto: the strongest that works here; pyodide is the quickest to start. */
      driver: z.enum(['auto', 'bubblewrap', 'pyodide']).default('auto'),
    })
    .prefault({}),
  search: z
    .strictObject({
      /** auto: the corpus if it is there, else the first service whose variable is set. */
      provider: z.enum(['auto', 'corpus', 'searxng', 'serper', 'brave', 'tavily']).default('auto'),
      /** File made by `coa corpus build`. */
      corpus: nameOrPath().default('corpus.db'),
      /** Hits a search shows. */
      limit: z.number().int().min(1).max(50).default(5),
    })
    .prefault({}),
  teach: z
    .strictObject({
      /** How the agents of the team work together: manager, pipeline, debate, refine, or a .ts file of your own. */
      topology: nameOrPath().default('manager'),
      /** Who thinks: scripts that know how generated tasks were made, or the model of [teacher]. */
      mind: z.enum(['careful', 'erring', 'model']).default('careful'),
      /** Other chances for scripts than those of the mind, such as ["slip=0.2", "doubt=0"]. */
      dials: words().default([]),
      /** Runs of the team on each task. */
      runs: z.number().int().positive().default(1),
      /** Teams at work at the same time. */
      concurrency: z.number().int().positive().default(4),
      /** Tool calls after which a critic looks back, where the grammar leaves it open. */
      reflect_every: z.number().int().positive().default(3),
      /** Of one run: tool calls, tokens in and out, seconds, money. */
      max_steps: z.number().int().positive().default(30),
      max_tokens: z.number().int().positive().default(2_000_000),
      max_seconds: z.number().positive().default(600),
      max_spend: z.number().nonnegative().default(10),
      /** For a million tokens, to reckon what the team costs. */
      prompt_price: z.number().nonnegative().default(0),
      completion_price: z.number().nonnegative().default(0),
    })
    .prefault({}),
  /** The model that thinks for the team, where teach.mind is "model". */
  teacher: ModelSection.prefault({}),
  /** Compares an answer with the reference where no rule decides. */
  judge: ModelSection.prefault({}),
  /** Shortens the pages that are read to what the question needs. */
  summary: ModelSection.prefault({}),
  /** Turns passages and queries into vectors. */
  embedding: z
    .strictObject({
      ...modelSection,
      /** Longer passages are cut before they are embedded. */
      max_characters: z.number().int().positive().default(2000),
    })
    .prefault({}),
  /** The one model that is to do what the team did. */
  student: z
    .strictObject({
      /** A folder in the Hugging Face layout, or "nano": the small one that comes with coa. */
      model: nameOrPath().default('nano'),
      /** Train small matrices beside the weights instead of the weights; 0 trains everything. */
      lora_rank: z.number().int().nonnegative().default(0),
    })
    .prefault({}),
  /** What holds the student's weights, trains and samples it. */
  engine: z
    .strictObject({
      /** embedded: inside Node. tinker: a server such as `coa trainer start`. openai: any server, sampling only. */
      driver: z.enum(['embedded', 'tinker', 'openai']).default('embedded'),
      url: serverAddress.optional(),
      /** Name of the environment variable that holds the key. */
      key_env: z.string().min(1).default('COA_ENGINE_KEY'),
      /** Of the embedded engine. Left out: cpu, or wasm where that is missing. */
      device: z.enum(['cpu', 'wasm', 'webgpu']).optional(),
      /** Cores; 0: all, at most 8. */
      threads: z.number().int().nonnegative().default(0),
    })
    .prefault({}),
  /** The student at work: how it is sampled, and when it has to stop. */
  rollout: z
    .strictObject({
      temperature: z.number().nonnegative().default(1),
      top_p: z.number().positive().max(1).default(1),
      /** 0: all tokens. */
      top_k: z.number().int().nonnegative().default(0),
      /** Tool calls, malformed ones included. */
      max_turns: z.number().int().positive().default(25),
      /** After the prompt, observations included. */
      max_tokens: z.number().int().positive().default(30_000),
      max_seconds: z.number().positive().default(600),
      /** How often a tool may be called with the same input before the rollout ends. */
      max_same_call: z.number().int().positive().default(3),
      /** Tokens of one observation; a longer one loses its middle. 0: no limit but tools.output_limit. */
      observation_tokens: z.number().int().nonnegative().default(0),
      /** Sample only what the grammar allows, so that format errors cannot happen. */
      constrained: z.boolean().default(false),
      /** Rollouts at work at the same time. */
      concurrency: z.number().int().positive().default(64),
    })
    .prefault({}),
  /** The student learns from the sequences that were kept. */
  sft: z
    .strictObject({
      /** How often every sequence is gone through; parts of a pass too. */
      epochs: z.number().positive().default(3),
      /** Optimiser steps instead of epochs. 0: by epochs. */
      max_steps: z.number().int().nonnegative().default(0),
      /** Chains that are learned from, drawn by the seed from those that were kept. 0: all. */
      max_chains: z.number().int().nonnegative().default(0),
      /** Tokens of one optimiser step, about, prompts and observations included. */
      batch_tokens: z.number().int().positive().default(8192),
      learning_rate: z.number().positive().default(1e-4),
      /** Share of the steps in which the rate rises. */
      warmup: z.number().min(0).max(1).default(0.03),
      /** What is left of the rate at the end, to which it falls along a cosine. */
      final_share: z.number().min(0).max(1).default(0.1),
      weight_decay: z.number().nonnegative().default(0.1),
      beta2: z.number().min(0).lt(1).default(0.95),
      /** Longer gradients are scaled down to this. 0: none are. */
      max_norm: z.number().nonnegative().default(1),
      /** Learn nothing of what tools returned. false is there to see what that is worth. */
      mask_observations: z.boolean().default(true),
      /** Longest sequence from a share of the run on, such as ["0=1024", "0.5=2048"]. None: what the model can see. */
      context: words().default([]),
      /** Share of sequences in which a single agent works ReAct-style. Above 0, distilling makes them. */
      react_share: z.number().min(0).lt(1).default(0),
      /** Share of tasks whose sequences are kept out of training, to measure by; at least eight, or none of fewer than 32. */
      eval_share: z.number().min(0).lt(1).default(0.05),
      /** Steps between two measurements. */
      eval_every: z.number().int().positive().default(50),
      /** Steps between two checkpoints to resume from. */
      save_every: z.number().int().positive().default(100),
      /** Seconds after which there is one in any case. */
      save_seconds: z.number().positive().default(15),
      /** What makes a checkpoint the best: loss on what was kept out, or accuracy of rollouts. */
      keep: z.enum(['loss', 'accuracy']).default('loss'),
    })
    .prefault({}),
  /** The student learns from its own rollouts. What is left out below is as the algorithm has it; docs/79-rl.md lists that. */
  rl: z
    .strictObject({
      /** The model to begin with. Left out: what SFT made in the run, or else student.model. */
      model: z.string().meta({ fromRun: 'names' }).default(''),
      /** Tasks of each suite to practise on: those that follow the ones the team was given. */
      task_count: z.number().int().positive().default(200),
      /** Leave out questions that the run has sequences of. */
      disjoint: z.boolean().default(false),
      /** Leave out tasks that the model solves in more than this share of its tries while all tools refuse; 0.3 in the paper. 1: none. */
      max_without_tools: z.number().min(0).max(1).default(1),
      /** Practise on tasks that the model solves in such a share of its tries at first, such as [0.1, 0.9]. Empty: on all. */
      pass_rate: range().default([]),
      /** Tries at each task to measure that. */
      pass_rate_rollouts: z.number().int().positive().default(8),
      algorithm: z.enum(['dapo', 'grpo', 'reinforce++', 'ppo']).default('dapo'),
      steps: z.number().int().positive().default(40),
      /** Prompts a step learns from, and rollouts of each. */
      groups: z.number().int().positive().default(8),
      group_size: z.number().int().positive().default(8),
      /** Updates of the weights a step; each learns from its share of the groups. */
      mini_batches: z.number().int().positive().optional(),
      /** 1e-6 in the paper, for 7 billion weights; small models need more. */
      learning_rate: z.number().positive().default(1e-5),
      /** Steps in which the learning rate rises to this; the optimizer starts without moments. */
      warmup_steps: z.number().int().nonnegative().default(10),
      /** Share of it that is left at the last step; it falls in a straight line. 1: it stays. */
      final_share: z.number().min(0).max(1).default(1),
      weight_decay: z.number().nonnegative().default(0.1),
      beta2: z.number().positive().max(0.9999999).default(0.999),
      /** Longer gradients are scaled down to this length. 0: they are not. */
      max_norm: z.number().nonnegative().default(1),
      /** How far below and above 1 the ratio to the policy that sampled may go. */
      clip_low: z.number().nonnegative().max(1).optional(),
      clip_high: z.number().nonnegative().optional(),
      /** Bounds what a token with a negative advantage can cost, as a multiple of it. 0: off. */
      dual_clip: z.number().nonnegative().optional(),
      /**
       * Largest weight of a token for what was sampled from not being what is trained. 0: no such weight. Left out: 2 with
       * rollout.constrained or rl.overlap, else 0.
       */
      importance_cap: z.number().nonnegative().optional(),
      /** Where the ratio is measured from: one more pass of the learner over all rollouts, or what the sampler reported. */
      old_logprobs: z.enum(['sampler', 'learner']).default('learner'),
      /** Weight of the distance to the model that training began with. 0: off. */
      kl: z.number().nonnegative().default(0),
      /** What a reward is compared with. */
      advantage: z.enum(['group', 'group-mean', 'leave-one-out', 'batch', 'batch-group']).optional(),
      /** Every token of an update counts the same, or every rollout. */
      normalise: z.enum(['token', 'sequence']).optional(),
      /** Groups whose rollouts are all worth the same are replaced by others. */
      dynamic_sampling: z.boolean().optional(),
      /** What has to differ within a group: correctness alone, or the reward with all that was added to it. */
      variance_of: z.enum(['reward', 'correct']).default('correct'),
      /** A step samples at most this many times rl.groups prompts; if it is not full by then, training stops. */
      max_gen_batches: z.number().int().positive().default(10),
      /** Train on the groups there are when a step cannot be filled. */
      partial_steps: z.boolean().default(false),
      /** Tokens before rollout.max_tokens in which the reward falls. 0: it does not. */
      overlong_buffer: z.number().int().nonnegative().optional(),
      /** How far it falls. */
      overlong_factor: z.number().nonnegative().default(1),
      /** Rollouts cut off by a length limit are excluded from their group: not trained on, not in its baseline. */
      overlong_filter: z.boolean().default(false),
      /** Credit for a part of the answer, where the check knows one. */
      partial: z.boolean().default(false),
      /** What keeping to the grammar adds to the reward, and what not keeping to it takes away. */
      format_bonus: z.number().nonnegative().default(0),
      format_penalty: z.number().nonnegative().default(0),
      /** Added once where a tool was called and gave a result. */
      tool_bonus: z.number().nonnegative().default(0),
      /** Prefer tasks that are solved about half of the time. */
      curriculum: z.boolean().default(false),
      /** 1: the rollouts of the next step are made while this one trains. */
      overlap: z.number().int().min(0).max(1).default(0),
      /** Groups a step whose rollouts are stored with their tokens; of the others only text and figures. 0: all. */
      keep_rollouts: z.number().int().nonnegative().default(0),
      /** Steps between measurements on tasks that are not trained on. 0: none. */
      eval_every: z.number().int().nonnegative().default(10),
      /** Steps between checkpoints, which are what a killed run resumes from. */
      save_every: z.number().int().positive().default(5),
      /** Seconds after which there is one in any case. */
      save_seconds: z.number().positive().default(15),
      /** Which weights the stage ends with: the last, or those that measured best. */
      keep: z.enum(['last', 'best']).default('last'),
    })
    .prefault({}),
  /** Any suite with any solver. The model described here answers as a plain model or a ReAct agent; without one, [teacher] does. */
  eval: z
    .strictObject({
      ...modelSection,
      /** Of each solver at each task. */
      attempts: z.number().int().positive().default(1),
      /** Attempts at the same time. */
      concurrency: z.number().int().positive().default(32),
      /** Of models. Left out: 0 for one attempt, rollout.temperature for several. */
      temperature: z.number().nonnegative().optional(),
      /** Who chooses one of several answers: the most frequent one, the checker (an upper bound), or the model of [judge]. */
      picker: z.enum(['majority', 'verifier', 'judge']).default('majority'),
      /** Tool calls of a ReAct agent. */
      max_turns: z.number().int().positive().default(25),
      /** Of one reply of a plain model or a ReAct agent. */
      max_tokens: z.number().int().positive().default(2048),
      /** Draws behind each interval that is not reckoned directly. */
      resamples: z.number().int().positive().default(2000),
      /** For a million tokens, in and out, by a solver's name or kind: "team=3/15", "rl=0.1/0.4". */
      prices: words().default([]),
    })
    .prefault({}),
})
export type ProjectConfig = z.infer<typeof ProjectConfig>
