/** Tries a list of expressions; any that returns a value is a leak. */
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
