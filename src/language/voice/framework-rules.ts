import type { VoiceRule } from './voice-rule.ts'

/** A JSON string; `(` and `)` around it make it a group. */
const JSON_TEXT = String.raw`"(?:[^"\\]|\\.){0,2000}"`
const JSON_GROUP = String.raw`"((?:[^"\\]|\\.){0,2000})"`
const LINE = String.raw`(?<=^|\n)`
const END = String.raw`(?=\n|$)`

/** What runtimes and prompts of agent frameworks put around the words of agents. Applied before the other rules. */
export const frameworkRules: readonly VoiceRule[] = [
  {
    name: 'ledger',
    pattern:
      String.raw`(?:Updated Ledger:\s{0,3})?\{\s{0,4}"is_request_satisfied":\s?\{\s{0,8}"reason":\s?${JSON_GROUP}[\s\S]{0,6000}?` +
      String.raw`"instruction_or_question":\s?\{\s{0,8}"reason":\s?${JSON_GROUP},\s{0,8}"answer":\s?${JSON_TEXT}\s{0,8}\}\s{0,4}\}`,
    hint: /"is_request_satisfied"/,
    replacement: '$1\n$2',
    wrapper: true,
    example: [
      'Updated Ledger:\n{"is_request_satisfied": {"reason": "The sum is missing.", "answer": false}, "next_speaker": {"reason": "It has a calculator.", "answer": "coder"}, "instruction_or_question": {"reason": "The sum needs a program.", "answer": "Add them."}}',
      'The sum is missing.\nThe sum needs a program.',
    ],
  },
  {
    name: 'ledger status',
    pattern: `${LINE}(?:Request satisfied\\.|Stalled\\.{2,4} ?Replanning\\.{2,4}|No agent selected\\.|Updated Ledger:|Initial plan:|New plan:)${END}`,
    hint: /satisfied|Stalled|No agent|Ledger|plan:/,
    replacement: '',
    example: ['Stalled.... Replanning...\nFirst, find the river.', 'First, find the river.'],
  },
  {
    name: 'ledger heading',
    pattern: `${LINE}(?:We are working to address the following user request|Here is an initial fact sheet to consider|Here is the updated fact sheet|Here is the plan to follow as best as possible):${END}`,
    hint: /user request|fact sheet|plan to follow/,
    replacement: '',
    example: [
      'Here is an initial fact sheet to consider:\nThe river is long.\nHere is the plan to follow as best as possible:\nFind its length.',
      'The river is long.\nFind its length.',
    ],
  },
  {
    name: 'response from agent',
    pattern: `${LINE}Response from (?:the )?agent(?: ["'(]?[\\w .-]{1,60}["')]?)?:`,
    hint: /Response from/i,
    replacement: '',
    wrapper: true,
    example: ['Response from agent "coder": The sum is 81.', 'The sum is 81.'],
  },
  {
    name: 'solution found',
    pattern: `${LINE}SOLUTION_FOUND:? ?`,
    hint: /SOLUTION_FOUND/,
    replacement: '',
    exactCase: true,
    example: ['SOLUTION_FOUND: The sum is 81.', 'The sum is 81.'],
  },
  {
    name: 'managed agent',
    pattern: `${LINE}Here is the final answer from your managed agent ["'\`][^"'\`\\n]{1,80}["'\`]:`,
    hint: /managed agent/i,
    replacement: '',
    wrapper: true,
    example: [
      "Here is the final answer from your managed agent 'searcher':\nIt is the Osk.",
      'It is the Osk.',
    ],
  },
  {
    name: 'summary of work',
    pattern:
      "(?:For more detail, find below a summary of this agent's work:\\s{0,3})?</?summary_of_work>\\s{0,3}",
    hint: /summary_of_work/,
    replacement: '',
    example: [
      '<summary_of_work>\nI searched for the river.\n</summary_of_work>',
      'I searched for the river.',
    ],
  },
  {
    name: 'new task',
    pattern: `${LINE}(?:New task|Observation):(?=\\s{0,3}\\n)`,
    hint: /New task|Observation/,
    replacement: '',
    exactCase: true,
    example: ['New task:\nFind the river.', 'Find the river.'],
  },
  {
    name: 'calling tools',
    pattern: `${LINE}Calling tools:\\s{0,3}\\[\\{[^\\n]{0,4000}\\}\\]${END}`,
    hint: /Calling tools/,
    replacement: '',
    exactCase: true,
    wrapper: true,
    example: [
      "I search for it.\nCalling tools:\n[{'id': 'call_a', 'type': 'function', 'function': {'name': 'search', 'arguments': 'Osk'}}]",
      'I search for it.',
    ],
  },
  {
    name: 'final answer label',
    pattern: `${LINE}(?:(?:Thought|Final Answer|Current Task):(?= |\\n|$)|Action: Final Answer[ \\t]{0,8}${END})`,
    hint: /Thought:|Final Answer|Current Task:/,
    replacement: '',
    exactCase: true,
    example: ['Thought: I know enough.\nFinal Answer: The sum is 81.', 'I know enough.\nThe sum is 81.'],
  },
  {
    name: 'orders of a crew',
    pattern:
      'START(?:Begin! This is VERY important to you,[^\\n]{0,200}your job depends on it!|' +
      'you MUST return the actual complete content as the final answer, not a summary\\.|' +
      'I now can give a great answer\\.?)',
    hint: /VERY important|MUST return|great answer/,
    replacement: '',
    exactCase: true,
    example: ['I now can give a great answer. The sum is 81.', 'The sum is 81.'],
  },
  {
    name: 'coworker',
    pattern: `${LINE}Action: ?(?:Delegate work to|Ask question to) (?:coworker|co-worker)[^\\n]{0,80}(?:\\nAction Input: ?\\{[^\\n]{0,2000}\\})?${END}`,
    hint: /co-?worker/i,
    replacement: '',
    example: [
      'The river is unknown.\nAction: Delegate work to coworker\nAction Input: {"task": "Find it.", "coworker": "searcher"}',
      'The river is unknown.',
    ],
  },
  {
    name: 'transferred',
    pattern: `${LINE}Successfully transferred (?:back )?to [\\w .-]{1,60}${END}`,
    hint: /Successfully transferred/i,
    replacement: '',
    wrapper: true,
    example: ['Successfully transferred to coder\nI add the numbers.', 'I add the numbers.'],
  },
  {
    name: 'name and content',
    pattern: '<name>[\\w .-]{1,64}</name>\\s{0,3}<content>|</content>(?=\\s{0,3}$)',
    hint: /<\/name>\s{0,3}<content>/,
    replacement: '',
    wrapper: true,
    example: ['<name>coder</name><content>The sum is 81.</content>', 'The sum is 81.'],
  },
  {
    name: 'conversation history',
    pattern:
      '(?:For context, here is the conversation so far between the user and the previous agent:\\s{0,3})?</?CONVERSATION HISTORY>\\s{0,3}',
    hint: /CONVERSATION HISTORY/,
    replacement: '',
    exactCase: true,
    example: ['<CONVERSATION HISTORY>\nThe sum is 81.\n</CONVERSATION HISTORY>', 'The sum is 81.'],
  },
  {
    name: 'several hand-offs',
    pattern: String.raw`START(?:Multiple handoffs detected, ignoring this one\.|\{"assistant": ?"[\w .-]{1,60}"\})`,
    hint: /Multiple handoffs|"assistant"/,
    replacement: '',
    wrapper: true,
    example: ['Multiple handoffs detected, ignoring this one. The sum is 81.', 'The sum is 81.'],
  },
  {
    name: 'next request',
    pattern: 'STARTNext request\\.',
    hint: /Next request\./,
    replacement: '',
    exactCase: true,
    example: ['The sum is 81. Next request.', 'The sum is 81.'],
  },
  {
    name: 'task done',
    pattern: String.raw`<?\b(?:CAMEL_)?TASK_DONE\b>?[.!]?(?=\s{0,2}(?:\n|$))`,
    hint: /TASK_DONE/,
    replacement: '',
    exactCase: true,
    example: ['The sum is 81.\n<CAMEL_TASK_DONE>', 'The sum is 81.'],
  },
  {
    name: 'instruction',
    pattern: `^(?:Instruction|Solution): ?|${LINE}Input: ?None\\.?${END}`,
    hint: /^(?:Instruction|Solution):|\nInput: ?None/,
    replacement: '',
    exactCase: true,
    example: ['Instruction: Add the numbers.\nInput: None', 'Add the numbers.'],
  },
]
