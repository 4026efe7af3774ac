/** Characters that a terminal would act on instead of showing, except line breaks and tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern exists to find them
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/g

/** Text from a model, page or file, made safe for a terminal: control characters become U+FFFD. */
export function sanitize(text: string): string {
  return text.replaceAll(controls, '\ufffd')
}
