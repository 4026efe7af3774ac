import { join } from 'node:path'
import { StoreError } from '../../base/errors/index.ts'
import { writeFileAtomic } from '../../base/files/index.ts'
import type { EvalReport } from '../../schema/index.ts'
import { checkPathName, withJsonChecksum, withTextChecksum } from '../../store/index.ts'
import { describeReport } from './markdown.ts'
import { drawReport } from './page.ts'

export interface ReportFiles {
  json: string
  markdown: string
  page: string
}

function reportFiles(folder: string, id: string): ReportFiles {
  const name = checkPathName(id, 'a report')
  return {
    json: join(folder, `${name}.json`),
    markdown: join(folder, `${name}.md`),
    page: join(folder, `${name}.html`),
  }
}

/** Writes the report in three forms. Each takes the place of the earlier one when it is complete. */
export function writeReport(folder: string, report: EvalReport): ReportFiles {
  const files = reportFiles(folder, report.id)
  replace(files.json, withJsonChecksum(JSON.stringify(report, null, 2)))
  replace(files.markdown, withTextChecksum(describeReport(report), 'html'))
  replace(files.page, withTextChecksum(drawReport(report), 'html'))
  return files
}

function replace(path: string, text: string): void {
  try {
    writeFileAtomic(path, text)
  } catch (cause) {
    throw new StoreError(`cannot write the report ${path}: ${(cause as Error).message}`, {
      fix: 'Check the free space and the rights of the run folder.',
      cause,
    })
  }
}
