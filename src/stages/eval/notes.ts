import type { EvalReport } from '../../schema/index.ts'

/** What a reader has to know about the figures. */
export function notes({ settings, solvers }: EvalReport): string[] {
  const several = solvers.some(({ attempts }) => attempts > 1)
  return [
    'Right of all: every attempt counts. No answer is wrong; what could not be decided, and what failed outside of the solver twice, is not right. Right of decided: only attempts with a verdict.',
    'Once: each token is counted once, as on a server that remembers prefixes. Billed: the whole prompt of every request again, and what was written. Attempts that failed are not part of these means.',
    `Intervals are of 95 %: Wilson's where a task is solved or not, and otherwise by drawing tasks anew ${settings.resamples.toLocaleString('en')} times (seed ${settings.seed}).`,
    'McNemar: exact, on first attempts that were decided for both.',
    ...(several
      ? [
          'pass@k is without bias: the chance that one of k attempts drawn from all is right. avg@k is the mean of all attempts, which is pass@1.',
          ...(settings.picker === 'oracle' || settings.picker === 'verifier'
            ? ['Best: the checker picks, which knows the gold answer. No picker can do better.']
            : []),
        ]
      : []),
    ...(new Set(solvers.map(({ tokenizer }) => tokenizer)).size > 1
      ? ['Different tokenizers counted, so the tokens of these solvers must not be compared.']
      : []),
    ...(solvers.some(({ kind }) => kind === 'scripted team')
      ? [
          'The team is scripted: its mind knows how the tasks were made. What it gets right says nothing about a model in its place.',
        ]
      : []),
  ]
}
