import { defineConfig } from 'vitest/config'

// Tests read what programs print: a terminal's or a build server's wish for colours must not reach those programs.
delete process.env['FORCE_COLOR']

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    setupFiles: ['test/property-seed.ts'],
    // Two workers: the property suites are CPU-bound and the smallest supported machine has two cores.
    maxWorkers: 2,
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
})
