/** A program in a message, in the order of its blocks, and the words around it. */
export interface Program {
  tool: 'code' | 'shell'
  code: string
  words: string
}

/** What an executor reported. */
export interface Execution {
  output: string
  ok: boolean
}

const languages: ReadonlyMap<string, Program['tool']> = new Map([
  ['python', 'code'],
  ['python3', 'code'],
  ['py', 'code'],
  ['sh', 'shell'],
  ['bash', 'shell'],
  ['shell', 'shell'],
])

/** How smolagents marks a program. */
const TAGGED = /^<code>\n?([\s\S]*?)\n?(?:<\/code>|(?![\s\S]))/gm

/** A fenced block that starts a line, with its language. An open block reaches to the end. */
const BLOCK =
  /^[ \t]{0,12}```([\w+#-]{0,20})[^\n]{0,80}\n([\s\S]*?)(?:^[ \t]{0,12}```[ \t]{0,20}$\n?|(?![\s\S]))/gm

/**
 * The program in a message: its fenced blocks of Python or shell. Executors run all of them in order and report one
 * output, so blocks of one language are one program. If there are both languages, the shell only prepares what Python
 * needs, so its commands stay among the words.
 */
export function programIn(written: string): Program | undefined {
  const text = written.replace(TAGGED, '```python\n$1\n```')
  if (!text.includes('```')) return undefined
  const blocks = [...text.matchAll(BLOCK)].flatMap(([whole, language = '', code = '']) => {
    const tool = language === '' ? guessed(code) : languages.get(language.toLowerCase())
    return tool === undefined || code.trim() === '' ? [] : [{ whole, tool, code: code.trimEnd() }]
  })
  const tool = blocks.some((block) => block.tool === 'code') ? 'code' : 'shell'
  const run = blocks.filter((block) => block.tool === tool)
  if (run.length === 0) return undefined
  let words = text
  for (const { whole } of run) words = words.replace(whole, () => '\n')
  return {
    tool,
    code: run.map(({ code }) => code).join('\n\n'),
    words: words.replace(/\n{3,}/g, '\n\n').trim(),
  }
}

/** A block without a language is a program if it has a statement that only programs have. */
function guessed(code: string): Program['tool'] | undefined {
  return /^(?:import |from \w+ import|def \w+\(|print\(|for \w+ in |\w+ = )/m.test(code) ? 'code' : undefined
}

/** A message that is a program as a whole, without a fence. Only its execution shows that it is one. */
export function bareProgram(text: string, { output, ok }: Execution): Program | undefined {
  const ran = ok || output.includes('Traceback (most recent call last)') || output.includes('SyntaxError')
  return ran && guessed(text) !== undefined ? { tool: 'code', code: text.trim(), words: '' } : undefined
}

/** How executors of agent frameworks begin: AutoGen and AG2, and Magentic-One's terminal. */
const reports = [
  /^\s{0,20}exitcode: (-?\d{1,6})(?: \([^)\n]{0,40}\))?\s{0,4}(?:Code output:)? ?\n?/,
  /^\s{0,20}The script ran, then exited with Unix exit code: (-?\d{1,6})\s{0,4}(?:Its output was:)?\n?/,
  /^\s{0,20}The script ran, then exited with an error \(POSIX exit code: (-?\d{1,6})\)\s{0,4}(?:Its output was:)?\n?/,
  /^\s{0,20}The script ran but produced no output to console\. The Unix exit code was: (-?\d{1,6})\.?[^\n]{0,200}/,
]

/** The words of such reports, which are nobody's. */
export const executorMarkup =
  /exitcode: -?\d{1,6}(?: \([^)\n]{0,40}\))?|Code output:|The script ran, then exited with Unix exit code: -?\d{1,6}|The script ran, then exited with an error \(POSIX exit code: -?\d{1,6}\)|Its output was:/g

/** A message that reports an execution, whoever sends it. */
export function executionIn(text: string): Execution | undefined {
  for (const report of reports) {
    const match = report.exec(text)
    if (match !== null) return { output: text.slice(match[0].length).trimEnd(), ok: Number(match[1]) === 0 }
  }
  return undefined
}

/** Output without a report around it, as of an executor that sends nothing else. */
export const bareOutput = (text: string): Execution => ({
  output: text.trimEnd(),
  ok: !/^\s{0,20}(?:Error\b|Traceback )/.test(text),
})

/** What executors say if they find nothing to run. */
export const nothingToRun = (text: string): boolean =>
  /^\s{0,20}(?:There is no code (?:from|in) the last |No code blocks? (?:was |were )?(?:detected|found) in )/.test(
    text,
  )
