import { escapeHtml } from '../../base/text/index.ts'

/** What a page cannot hold, or what would act on whoever reads its source in a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

/** Text that is part of a page as it is. Made only by `html` and `trusted`. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** What may stand in a page: markup as it is, everything else as text. */
export type Content = Html | string | number | undefined | readonly Content[]

/** A piece of a page. Whatever is put into it is escaped, unless it is such a piece itself. */
export function html(pieces: TemplateStringsArray, ...contents: Content[]): Html {
  let text = pieces[0]!
  contents.forEach((content, index) => {
    text += textOf(content) + pieces[index + 1]!
  })
  return new Html(text)
}

/** For constants of our own, such as a style sheet. Never for text that came from anywhere. */
export function trusted(text: string): Html {
  return new Html(text)
}

function textOf(content: Content): string {
  if (content === undefined) return ''
  if (content instanceof Html) return content.text
  if (typeof content === 'object') return content.map(textOf).join('')
  return escapeHtml(String(content).toWellFormed().replaceAll(controls, '\ufffd'))
}
