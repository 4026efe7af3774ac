/** Values in spans that are no text, each on its own: kinds of parts and objects, and ids of responses. */
const kinds = [
  String.raw`(?:server[_-])?tool[_-](?:call|use|result|error)(?:[_-](?:response|chunk))?`,
  String.raw`function_call(?:_output)?|(?:input|output|summary|reasoning)_text`,
  String.raw`chat\.completion(?:\.chunk)?|(?:chatcmpl|msg|resp|run|lc_run|fp)[-_][\w-]+`,
  String.raw`(?:Human|AI|System|Tool|Function|Chat)Message(?:Chunk)?|ChatGeneration(?:Chunk)?`,
  String.raw`application/json|gen_ai\.[\w.]+`,
]

export const spanMarkup = new RegExp(String.raw`^"?(?:${kinds.join('|')})"?$`)
