import { StoreError } from '../base/errors/index.ts'
import { PathName } from '../schema/index.ts'

/** Returns the id if it is a valid file or folder name; `what` is for the error message. */
export function checkPathName(id: string, what: string): string {
  if (PathName.safeParse(id).success) return id
  throw new StoreError(`${JSON.stringify(id)} cannot be the name of ${what}`, {
    fix: 'Use up to 100 letters, digits, dots, dashes and underscores, starting with a letter or digit.',
    details: { id },
  })
}
