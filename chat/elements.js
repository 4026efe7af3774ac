/**
 * Makes an element. Children are elements or text; text never becomes HTML.
 * @param {string} tag
 * @param {Record<string, unknown>} properties
 * @param {(Node | string)[]} children
 */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}

/** A button that does something. */
export function button(text, onclick, className = '') {
  return element('button', { type: 'button', className, onclick }, text)
}

const HIDDEN = /(?![\n\r\t])[\p{Cc}\p{Bidi_Control}]/gu

/** Text in which characters that are invisible, or that reorder others, can be seen. */
export function visible(text) {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')
    return `⟨U+${code}⟩`
  })
}
