import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanEnvironment } from '../cli/coa.ts'
import { freshClone, removeClone } from '../fresh-clone.ts'
import { isFull } from '../how-many.ts'
import { commandsIn, nextCommandsIn } from './readme-commands.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/**
 * The quickstart takes minutes by design. By default its stages, and the commands for one stage, get less data; the test
 * only checks that they are reached.
 */
const less: Record<string, string> = isFull
  ? {}
  : {
      COA_TASKS_COUNT: '3',
      COA_TASKS_TEST_COUNT: '1',
      COA_FILTER_MAX_TOKENS: '0',
      COA_SFT_MAX_STEPS: '1',
      COA_SFT_BATCH_TOKENS: '1000',
      COA_RL_STEPS: '1',
      COA_RL_GROUPS: '2',
      COA_RL_GROUP_SIZE: '2',
      COA_RL_TASK_COUNT: '2',
      COA_RL_MINI_BATCHES: '1',
      COA_RL_DYNAMIC_SAMPLING: 'false',
      COA_ROLLOUT_MAX_TOKENS: '60',
    }

/** Generous for a busy machine; sandboxes that need not be started leave time for other tests. */
const patience = {
  COA_TOOLS_TIMEOUT_S: '300',
  COA_TEACH_CONCURRENCY: '1',
  COA_ROLLOUT_CONCURRENCY: '1',
  COA_EVAL_CONCURRENCY: '1',
  COA_ENGINE_THREADS: '1',
}

/** Like a newcomer's shell: nothing that npm and vitest have set for this process. */
function shellEnvironment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(cleanEnvironment()).filter(
    ([name]) => !/^(npm_|VITEST|NODE_ENV$|INIT_CWD$)/i.test(name),
  )
  const path = process.env['PATH']!.split(':').filter((folder) => !folder.includes('node_modules'))
  return { ...Object.fromEntries(own), PATH: path.join(':'), ...patience, ...more }
}

describe('the commands of the README, in a fresh clone', { timeout: 1_800_000 }, () => {
  let clone: string
  /** The commands under "Next:", by command. */
  const nextCommands: string[][] = []
  beforeAll(() => {
    // `npm start` installs missing dependencies, which is slow: by default nothing is missing.
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
    nextCommands.push(nextCommandsIn(stdout))
    return stdout
  }

  /** The server responds, and stops when asked to. */
  async function serve(command: string): Promise<void> {
    const server = spawn('bash', ['-c', `exec ${command} --port 0`], {
      cwd: clone,
      env: shellEnvironment(),
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    try {
      let said = ''
      for await (const chunk of server.stdout) {
        said += chunk
        const [address] = /http:\/\/[^\s]+/.exec(said) ?? []
        if (address === undefined) continue
        expect((await fetch(address)).status).toBe(200)
        break
      }
      expect(said).toContain('http://')
    } finally {
      const ended = once(server, 'exit')
      // To the whole group, as a terminal sends Ctrl-C.
      process.kill(-server.pid!, 'SIGINT')
      await ended
    }
  }

  const commands = commandsIn(read('README.md'))

  it('are found', () => {
    expect(commands.length).toBeGreaterThan(20)
    expect(commands).toContain('npm start')
  })

  it.each(commands)('%s', async (command) => {
    // This test is part of it; CI runs this line.
    if (command === 'npm ci && npm test') expect(read('.ci/run')).toMatch(/^npm ci\nnpm test$/m)
    // Downloads PyTorch. With a Python that has it, test/cli/trainer.test.ts starts, queries and stops a server.
    else if (/ trainer start /.test(command))
      run(`${command.split(' trainer ')[0]} model inspect models/tiny`)
    else if (/ world serve$/.test(command)) await serve(command)
    // It has the stages of the next line, with other numbers.
    else if (command === 'npm start' && !isFull) run(`${command} -- --help`)
    else if (command.startsWith('npm start')) expect(run(command, less)).toContain('report.html')
    else run(command, less)
  })

  it('print commands under "Next:" that can be pasted as they are', () => {
    const blocks = nextCommands.filter((block) => block.length > 0)
    const all = blocks.flat()
    for (const command of ['solve', 'init', 'mask', 'quickstart', 'distill', 'rl', 'rollout', 'generate'])
      expect(
        all.some((line) => line.split(' ').includes(command)),
        command,
      ).toBe(true)
    const pasted = new Set<string>()
    // Both have run above; by default it is enough that they exist and accept these arguments.
    const shortened = (line: string): string =>
      !isFull && /coa (quickstart|rl .*)$/.test(line) ? `${line} --help` : line
    for (const block of blocks) {
      // A second `coa init my-agents` would correctly fail.
      const fresh = block.filter((line) => !pasted.has(line))
      // A barely trained model may find no answer, which is status 3 and not an error of the command.
      run(`set -e\n${fresh.map((line) => `${shortened(line)} || [ $? = 3 ]`).join('\n')}`, less)
      for (const line of fresh) if (!line.startsWith('cd ')) pasted.add(line)
    }
  })
})
