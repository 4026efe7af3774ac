import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { entryPoints } from './scripts/surface/entry-points.ts'

// Tests read what programs print: a terminal's or a build server's wish for colours must not reach those programs.
delete process.env['FORCE_COLOR']

/** Minutes long: begun last, each would run alone beside an idle core. */
const long = [
  'test/trainer/python.test.ts',
  'test/engine/learning/learns.test.ts',
  'test/sandbox/hostile.test.ts',
  'test/repo/readme.test.ts',
  'test/settings/every-setting.test.ts',
  'test/cli/packed.test.ts',
]

class LongOnesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification): number =>
      long.some((name) => moduleId.endsWith(name)) ? 0 : 1
    return sorted.toSorted((left, right) => rank(left) - rank(right))
  }
}

/** Tests that keep to themselves, so that they may share what they load: a third faster. */
const sharing = ['src/**/*.test.ts', 'test/!(sandbox)/**/*.test.ts']
/** They replace modules, change the process or measure its memory, which others must not get to see. */
const alone = [
  'src/engine/checkpoint/save-failures.test.ts',
  'test/engine/wasm.test.ts',
  'test/tools/mcp.test.ts',
]

export default defineConfig({
  // Examples import the package by its names.
  resolve: {
    alias: entryPoints().map(({ name, file }) => ({ find: new RegExp(`^${name}$`), replacement: file })),
  },
  test: {
    setupFiles: ['test/property-seed.ts'],
    sequence: { sequencer: LongOnesFirst },
    // The smallest supported machine has two cores; two more workers have work for them while others wait for a process or a clock.
    maxWorkers: 4,
    // Of Python's: the models of tests are so small that a second thread only waits, and does so by spinning. Where modules
    // may not be kept compiled, as in many container images, PyTorch would be compiled for each of a hundred processes.
    env: { OMP_NUM_THREADS: '1', PYTHONDONTWRITEBYTECODE: '' },
    testTimeout: 900_000,
    hookTimeout: 900_000,
    projects: [
      { extends: true, test: { name: 'shared', include: sharing, exclude: alone, isolate: false } },
      {
        extends: true,
        test: { name: 'alone', include: ['test/sandbox/**/*.test.ts', ...alone] },
      },
    ],
  },
})
