/** Tries a list of expressions; each that gives something with the secret in it, or gives anything, is a leak. */
export const attempts = (lines: string[]): string => `
def attempt(source):
    try:
        print('LEAK', source, '->', repr(eval(source))[:200])
    except BaseException as error:
        print('stopped', type(error).__name__)
import os, sys
for source in ${JSON.stringify(lines)}:
    attempt(source)
print('done')
`
