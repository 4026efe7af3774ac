import type { LogFormat, LoggedRun, LogRecord, Unreadable } from '../contract.ts'
import { type ConsoleDialect, consoleDialects } from '../text/console-text.ts'
import { ag2 } from './ag2.ts'
import { autogen } from './autogen.ts'
import { langchain } from './langchain.ts'

const readers = { autogen, langchain, ag2 }

/** What frameworks print on a console while their agents work, saved as text. */
export const consoleText: LogFormat = {
  name: 'console',
  title: 'What AutoGen, AG2 and LangChain print on a console',
  matches: (value) => typeof value === 'string' && dialectOf(value) !== undefined,
  read,
  markup: new RegExp(consoleDialects.map(([, { markup }]) => markup.source).join('|'), 'gm'),
}

function dialectOf(text: string): { format: LogFormat; dialect: ConsoleDialect } | undefined {
  const found = consoleDialects.find(([, dialect]) => dialect.isOwn(text))
  return found === undefined ? undefined : { format: readers[found[0]], dialect: found[1] }
}

async function* read(records: AsyncIterable<LogRecord>): AsyncGenerator<LoggedRun | Unreadable> {
  for await (const { value, where } of records) {
    const text = String(value)
    const found = dialectOf(text)
    if (found === undefined) {
      yield { where, problem: 'it is nothing that a known framework prints' }
      continue
    }
    const runs = found.dialect.messages(text)
    async function* messages(): AsyncGenerator<LogRecord> {
      for (const [index, run] of runs.entries())
        yield { where: runs.length === 1 ? where : `${where} run ${index + 1}`, value: run }
    }
    // What is in no message is compared with the whole text; that of one run is not that of another.
    const source = (run: LoggedRun): readonly unknown[] => (runs.length === 1 ? [text] : run.source)
    for await (const run of found.format.read(messages()))
      yield 'problem' in run ? run : { ...run, where, source: source(run) }
  }
}
