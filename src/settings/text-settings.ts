import { z } from 'zod'

/*
 * Settings that are texts, by what a run folder of somebody else may say about them (see from-run.ts). A text made
 * without these is never taken from a run.
 */

/** Words that only coa reads, such as levels or the names of agents: taken from a run. */
export const words = () => z.array(z.string().min(1)).meta({ fromRun: 'always' })

/** Values by names that only coa reads, such as suites or agents: taken from a run. */
export const table = <Value extends z.ZodType>(value: Value) =>
  z.record(z.string().min(1), value).meta({ fromRun: 'always' })

/** The lowest and the highest share, or none. */
export const range = () =>
  z
    .array(z.number().min(0).max(1))
    .refine(
      (shares) => shares.length === 0 || (shares.length === 2 && shares[0]! <= shares[1]!),
      'it takes the lowest and the highest share, such as [0.1, 0.9]',
    )
    .meta({ fromRun: 'always' })

/** A name, or a file or folder: from a run only the name is taken. */
export const nameOrPath = () => z.string().min(1).meta({ fromRun: 'names' })

/** Several of them, or tables that say more about them. */
export const namesOrPaths = <T extends z.ZodType>(item: T, atLeast = 0) =>
  z.array(item).min(atLeast).meta({ fromRun: 'names' })

/** Where this machine keeps things, which is no matter of a run's. */
export const localFolder = () => z.string().min(1).meta({ fromRun: 'never' })

/** Settings are kept with every run, so an address must not carry what is secret; it would not be sent either. */
export const serverAddress = z.url({ protocol: /^https?$/ }).refine((address) => {
  const url = URL.parse(address)
  return url === null || (url.username === '' && url.password === '' && url.search === '')
}, 'the address has a user name, a password or a query; put the key into the variable that key_env names')
