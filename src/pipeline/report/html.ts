import { escapeHtml } from '../../base/text/index.ts'

/** Characters that are invalid in a page, or that could affect a terminal showing its source. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

/** Safe markup. Created only by `html` and `trusted`. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Content of a page: markup is inserted as is, everything else as text. */
export type Content = Html | string | number | undefined | readonly Content[]

/** A piece of a page. Interpolated values are escaped, unless they are such pieces themselves. */
export function html(pieces: TemplateStringsArray, ...contents: Content[]): Html {
  let text = pieces[0]!
  contents.forEach((content, index) => {
    text += textOf(content) + pieces[index + 1]!
  })
  return new Html(text)
}

/** For our own constants, such as a style sheet. Never for external text. */
export function trusted(text: string): Html {
  return new Html(text)
}

function textOf(content: Content): string {
  if (content === undefined) return ''
  if (content instanceof Html) return content.text
  if (typeof content === 'object') return content.map(textOf).join('')
  return escapeHtml(String(content).toWellFormed().replaceAll(controls, '\ufffd'))
}
