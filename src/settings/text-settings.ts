import { z } from 'zod'

/*
 * Text settings, by how far a run folder from someone else is trusted with them (see from-run.ts). Text without one of
 * these annotations is never taken from a run.
 */

/** Words that only coa interprets, such as levels or agent names: taken from a run. */
export const words = () => z.array(z.string().min(1)).meta({ fromRun: 'always' })

/** Values by names that only coa interprets, such as suites or agents: taken from a run. */
export const table = <Value extends z.ZodType>(value: Value) =>
  z.record(z.string().min(1), value).meta({ fromRun: 'always' })

/** A minimum and a maximum share, or none. */
export const range = () =>
  z
    .array(z.number().min(0).max(1))
    .refine(
      (shares) => shares.length === 0 || (shares.length === 2 && shares[0]! <= shares[1]!),
      'expected a minimum and a maximum share, such as [0.1, 0.9]',
    )
    .meta({ fromRun: 'always' })

/** A name, or a file or folder: only names are taken from a run. */
export const nameOrPath = () => z.string().min(1).meta({ fromRun: 'names' })

/** A list of names or paths, or of tables. */
export const namesOrPaths = <T extends z.ZodType>(item: T, atLeast = 0) =>
  z.array(item).min(atLeast).meta({ fromRun: 'names' })

/** A local folder: never taken from a run. */
export const localFolder = () => z.string().min(1).meta({ fromRun: 'never' })

/** Settings are stored with every run, so a URL must not contain secrets; they would not be sent either. */
export const serverAddress = z.url({ protocol: /^https?$/ }).refine((address) => {
  const url = URL.parse(address)
  return url === null || (url.username === '' && url.password === '' && url.search === '')
}, 'the URL has a user name, a password or a query; put the key in the variable named by key_env')
