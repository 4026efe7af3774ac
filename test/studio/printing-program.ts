/** Stands for coa in tests of jobs: prints its arguments; with `--events`, a chain; as `sft`, it waits for Ctrl-C. */
const words = process.argv.slice(2)
process.stderr.write(`called with ${JSON.stringify(words)}\n`)
if (words[0] === 'solve') {
  for (const event of [
    { type: 'role', agent: 'think', turn: 0, text: 'Adding.' },
    { type: 'answer', text: '5' },
    { type: 'done', answer: '5', stop: 'answer', tokens: 9, seconds: 0.1 },
  ])
    process.stdout.write(`${JSON.stringify(event)}\n`)
} else if (words[0] === 'sft') {
  const timer = setInterval(() => {}, 1000)
  process.on('SIGINT', () => {
    clearInterval(timer)
    process.stderr.write('saved\n')
    process.exitCode = 130
  })
  process.stderr.write('waiting\n')
} else if (words[0] === 'rl') process.exitCode = 1
