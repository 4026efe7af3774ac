/**
 * The usual normalization for question answering: compatibility forms, lower case, no punctuation, no articles,
 * single spaces. Exceptions, because they would make different answers equal: a decimal point between digits, a minus
 * before a number and the signs in names such as C++ and C# are kept.
 */
export function normalizeText(text: string): string {
  return (
    text
      .normalize('NFKC')
      // Private-use characters mark signs that must survive; none may come from the input.
      .replace(/[\ue000-\ue003]/g, '')
      .toLowerCase()
      .replace(/(\d),(?=\d{3}(?!\d))/g, '$1')
      .replace(/(\d)\.(?=\d)/g, '$1\ue000')
      .replace(/(^|[\s(])[-\u2212](?=\d)/g, '$1\ue001')
      .replace(
        /(\p{L})([+#]+)(?=$|[\s,.;:!?)])/gu,
        (_, letter: string, signs: string) =>
          letter + signs.replaceAll('+', '\ue002').replaceAll('#', '\ue003'),
      )
      .replace(/[\p{P}\p{S}]/gu, '')
      .replace(/\b(?:a|an|the)\b/g, ' ')
      .replace(/[\ue000-\ue003]/g, (mark) => '.-+#'[mark.charCodeAt(0) - 0xe000]!)
      .replace(/\s+/g, ' ')
      .trim()
  )
}
