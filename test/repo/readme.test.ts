import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanEnvironment } from '../cli/coa.ts'
import { freshClone, removeClone } from '../fresh-clone.ts'
import { isFull } from '../how-many.ts'
import { commandsIn, nextCommandsIn } from './readme-commands.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** The quickstart takes minutes. Usually it runs with a tiny configuration: this tests whether every stage is reached. */
const tiny: Record<string, string> = isFull
  ? {}
  : {
      COA_TASKS_COUNT: '3',
      COA_TASKS_TEST_COUNT: '1',
      COA_FILTER_MAX_TOKENS: '0',
      COA_SFT_MAX_STEPS: '1',
      COA_RL_STEPS: '1',
      COA_RL_GROUPS: '2',
      COA_RL_GROUP_SIZE: '2',
      COA_RL_TASK_COUNT: '2',
      COA_RL_MINI_BATCHES: '1',
      COA_RL_DYNAMIC_SAMPLING: 'false',
      COA_ROLLOUT_MAX_TOKENS: '60',
    }

/** The machine may be busy, and fewer concurrent sandboxes leave more of it to other tests. */
const gentle = {
  COA_TOOLS_TIMEOUT_S: '300',
  COA_TEACH_CONCURRENCY: '1',
  COA_ROLLOUT_CONCURRENCY: '1',
  COA_EVAL_CONCURRENCY: '1',
  COA_ENGINE_THREADS: '1',
}

/** The environment of a new shell, without what npm and vitest have set for this process. */
function shellEnvironment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(cleanEnvironment()).filter(
    ([name]) => !/^(npm_|VITEST|NODE_ENV$|INIT_CWD$)/i.test(name),
  )
  const path = process.env['PATH']!.split(':').filter((folder) => !folder.includes('node_modules'))
  return { ...Object.fromEntries(own), PATH: path.join(':'), ...gentle, ...more }
}

describe('the commands of the README, in a fresh clone', { timeout: 1_800_000 }, () => {
  let clone: string
  /** The commands under "Next:", for each command. */
  const suggested: string[][] = []
  beforeAll(() => {
    // `npm start` installs missing dependencies, which takes a long time; usually none are missing.
    clone = freshClone({ dependencies: !isFull })
  })
  afterAll(() => removeClone(clone))

  function run(command: string, more: Record<string, string> = {}): string {
    const { status, stdout, stderr } = spawnSync('bash', ['-c', command], {
      cwd: clone,
      encoding: 'utf8',
      env: shellEnvironment(more),
    })
    expect(status, `${command}\n${stdout}\n${stderr}`).toBe(0)
    suggested.push(nextCommandsIn(stdout))
    return stdout
  }

  /** Starts a server, waits for a response, and stops it. */
  async function serve(command: string): Promise<void> {
    const server = spawn('bash', ['-c', `exec ${command} --port 0`], {
      cwd: clone,
      env: shellEnvironment(),
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    try {
      let output = ''
      for await (const chunk of server.stdout) {
        output += chunk
        const [url] = /http:\/\/[^\s]+/.exec(output) ?? []
        if (url === undefined) continue
        expect((await fetch(url)).status).toBe(200)
        break
      }
      expect(output).toContain('http://')
    } finally {
      const ended = once(server, 'exit')
      // To the whole group, as a terminal sends Ctrl-C.
      process.kill(-server.pid!, 'SIGINT')
      await ended
    }
  }

  const commands = commandsIn(read('README.md'))

  it('exist', () => {
    expect(commands.length).toBeGreaterThan(20)
    expect(commands).toContain('npm start')
  })

  it.each(commands)('%s', async (command) => {
    // Running it would run this test; check that CI runs the same line.
    if (command === 'npm ci && npm test') expect(read('.ci/run')).toMatch(/^npm ci\nnpm test$/m)
    // Downloads PyTorch. test/cli/trainer.test.ts tests a trainer if there is a Python with PyTorch.
    else if (/ trainer start /.test(command))
      run(`${command.split(' trainer ')[0]} model inspect models/tiny`)
    else if (/ world serve$/.test(command)) await serve(command)
    // The next line runs the same stages, with other settings.
    else if (command === 'npm start' && !isFull) run(`${command} -- --help`)
    else if (command.startsWith('npm start')) expect(run(command, tiny)).toContain('report.html')
    else run(command)
  })

  it('print commands under "Next:" that work when pasted', () => {
    const blocks = suggested.filter((block) => block.length > 0)
    const all = blocks.flat()
    for (const command of ['solve', 'init', 'mask', 'quickstart', 'distill', 'rl', 'rollout', 'generate'])
      expect(
        all.some((line) => line.split(' ').includes(command)),
        command,
      ).toBe(true)
    const pasted = new Set<string>()
    // Both have run above; usually it is enough that the command line is valid.
    const shortened = (line: string): string =>
      !isFull && /coa (quickstart|rl .*)$/.test(line) ? `${line} --help` : line
    for (const block of blocks) {
      // A second `coa init my-agents` would correctly fail.
      const fresh = block.filter((line) => !pasted.has(line))
      // A barely trained model may give no answer, which is exit code 3.
      run(`set -e\n${fresh.map((line) => `${shortened(line)} || [ $? = 3 ]`).join('\n')}`, tiny)
      for (const line of fresh) if (!line.startsWith('cd ')) pasted.add(line)
    }
  })
})
