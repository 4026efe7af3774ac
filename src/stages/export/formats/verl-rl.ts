import type { Gold, Message, Task } from '../../../schema/index.ts'
import type { Row, TaskFormat } from '../format.ts'

export const verlRl: TaskFormat = {
  name: 'verl-rl',
  title: 'verl, prompts for reinforcement learning',
  carries: 'tasks',
  file: ({ split }) => `${split ?? 'train'}.parquet`,
  columns: {
    data_source: 'string',
    prompt: { list: { fields: { role: 'string', content: 'string' } } },
    ability: 'string',
    reward_model: { fields: { style: 'string', ground_truth: 'string' } },
    extra_info: {
      fields: {
        split: 'string',
        index: 'integer',
        id: 'string',
        question: 'string',
        answer: 'string',
        gold: 'string',
      },
    },
  },
  guide:
    '`data.train_files=train.parquet data.val_files=dev.parquet data.prompt_key=prompt`, with your own reward function (`custom_reward_function.path`). `extra_info.gold` is the complete gold answer as JSON; `reward_model.ground_truth` is the answer as one string. Tools are called by the agent loop, not by the data.',
  rule: 'Nothing is trained on directly: the model answers `prompt`, and the answer is checked against `ground_truth`.',
  differences: [
    'Contains only the questions and gold answers of the run; how answers are checked is up to the reward function.',
  ],
}

/** `index` counts within the file. */
export function taskRow(task: Task, index: number, prompt: Message[]): Row {
  const answer = answerOf(task.gold)
  return {
    data_source: task.suite,
    prompt,
    ability: task.domain,
    reward_model: { style: task.gold.checker === 'judge' ? 'model' : 'rule', ground_truth: answer },
    extra_info: {
      split: task.split ?? 'train',
      index,
      id: task.id,
      question: task.question,
      answer,
      gold: JSON.stringify(task.gold),
    },
  }
}

/** One string, because a column has one type: the answer if there is a single one, else JSON. */
function answerOf(gold: Gold): string {
  switch (gold.checker) {
    case 'exact':
      return gold.answers.length === 1 ? gold.answers[0]! : JSON.stringify(gold.answers)
    case 'code':
      return JSON.stringify({ setup: gold.setup ?? '', tests: gold.tests })
    case 'none':
      return ''
    default:
      return gold.answer
  }
}
