import fc from 'fast-check'

/**
 * Properties are tried on the same cases in every run, so that a failure is the change's and not the day's.
 * `COA_TEST_SEED=random npm test` looks at new cases; a number looks at the cases of that seed.
 */
const wish = process.env['COA_TEST_SEED']

if (wish !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(wish ?? 1) })
