/**
 * Normalizes notation. Nothing here changes a value: it only removes typography, so that the tokenizer sees few
 * symbols. Text inside \text{…} is kept between « and », except for letters that are variables.
 */

const vulgarFractions: Record<string, string> = {
  '¼': '1/4', '½': '1/2', '¾': '3/4', '⅐': '1/7', '⅑': '1/9', '⅒': '1/10', '⅓': '1/3', '⅔': '2/3',
  '⅕': '1/5', '⅖': '2/5', '⅗': '3/5', '⅘': '4/5', '⅙': '1/6', '⅚': '5/6', '⅛': '1/8', '⅜': '3/8',
  '⅝': '5/8', '⅞': '7/8',
} // biome-ignore format: a table

const symbols: Record<string, string> = {
  '−': '-', '–': '-', '—': '-', '‐': '-', '‑': '-', '×': '*', '·': '*', '⋅': '*', '∙': '*', '÷': '/', '∕': '/',
  '⁄': '/', π: '\\pi ', '∞': '\\infty ', '≤': '<=', '≥': '>=', '≠': '!=', '≈': '≈', '°': '\\degree ',
  '∪': '\\cup ', '∩': '\\cap ', '∈': '\\in ', '±': '\\pm ', '∓': '\\mp ', '∅': '\\emptyset ', 'ℝ': '\\reals ',
  α: '\\alpha ', β: '\\beta ', γ: '\\gamma ', θ: '\\theta ', λ: '\\lambda ', μ: '\\mu ', φ: '\\phi ',
  ω: '\\omega ', '’': "'", '′': "'", '€': '\\currency ', '£': '\\currency ', '∶': ':', '，': ',', '⌊': '\\lfloor ',
  '⌋': '\\rfloor ', '⌈': '\\lceil ', '⌉': '\\rceil ', '¥': '\\currency ', '₹': '\\currency ', '¢': ' cents ',
  '→': '\\to ', '⇒': '\\to ', '∴': '\\to ', '“': ' ', '”': ' ', '\u00a0': ' ', '\u2009': ' ', '\u202f': ' ',
} // biome-ignore format: a table

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹'

const spacing =
  /(?<!\\)\\(?:[,;:!> ]|quad|qquad|thinspace|displaystyle|textstyle|limits|nolimits|hspace\{[^{}]*\})|~|\u200b/g
const sizing = /\\(?:left|right|big|Big|bigg|Bigg|bigl|bigr|Bigl|Bigr|middle)(?![a-zA-Z])\.?/g
const textCommand =
  /\\(?:text|textbf|textit|textrm|textsf|texttt|mbox|hbox|mathrm|mathbf|mathit|mathsf|mathtt|boldsymbol|bm|underline|operatorname|rm|bf)\*?\s*\{([^{}]*)\}/g
const functionName = /^(?:arc)?(?:sin|cos|tan|cot|sec|csc)h?$|^(?:ln|log|lg|exp|sqrt|abs|max|min|gcd|lcm)$/

/** The content of \text{…}: a letter, a number or a function is math; everything else is words. */
function textContent(content: string): string {
  const inner = content.replace(/~/g, ' ').trim()
  if (functionName.test(inner)) return `\\${inner} `
  if (inner === 'or' || inner === 'and') return ` ${inner} `
  if (/^[ei]$/.test(inner) || /^[\d().,\s+\-*/=]*$/.test(inner)) return inner
  // 18 dollars, 5 cm: only the number matters.
  if (/^[-\d.,]*\d/.test(inner)) return ` ${inner} `
  return ` «${inner}» `
}

function unicodeToLatex(text: string): string {
  let result = ''
  let raised = ''
  for (const character of text) {
    const digit = superscripts.indexOf(character)
    if (digit >= 0) {
      raised += digit
      continue
    }
    if (raised !== '') result += `^{${raised}}`
    raised = ''
    const fraction = vulgarFractions[character]
    if (fraction !== undefined) {
      const [top, bottom] = fraction.split('/')
      result += `\\frac{${top}}{${bottom}}`
    } else if (/[\uff01-\uff5e]/.test(character)) {
      result += character.normalize('NFKC')
    } else {
      result += symbols[character] ?? character
    }
  }
  return raised === '' ? result : `${result}^{${raised}}`
}

const ordinalWrap = '(?:\\\\(?:text|textrm|mathrm|rm|mbox|textbf)\\s*)?\\{?\\s*'

const replacements: [RegExp, string][] = [
  // Thousands separators: 1{,}234, 11,\! 111, 118\,000.
  [/(\d)\s*(?:\{,\}|,\\[!,;: ]|\\[!,;: ],?)\s*(?=\d{3}(?!\d))/g, '$1\u0001'],
  // 12th, 12^{th}, 12^{\mathrm{th}}.
  [
    new RegExp(
      `(\\d)\\s*\\^?\\s*${ordinalWrap}${ordinalWrap}(?:st|nd|rd|th)(?![a-zA-Z])(?:\\s*\\}){0,2}`,
      'g',
    ),
    '$1 ',
  ],
  [/\\(?:implies|Rightarrow|rightarrow|Longrightarrow|longrightarrow|therefore)(?![a-zA-Z])/g, '\\to '],
  [/\\(?:textcolor|color)\s*\{[^{}]*\}/g, ''],
  [/\\(?:textdollar|pounds|euro)(?![a-zA-Z])(?:\{\})?/g, '\\currency '],
  [/\\currency\s*(\d[\d.,]*)/g, '$1 \\currency '],
  // 48{grams}: \text{grams} with the command stripped.
  [/^([-\d.,\s]*\d)\s*\{\s*([a-zA-Z][a-zA-Z ]+)\}/g, '$1 «$2» '],
  [/(?<=[\d})]|\\pi)\{\s*([a-zA-Z ]{5,})\}(?=(?:\^\{?\d\}?)?$)/g, ' «$1» '],
  [/(\d) and (?=\d+\/\d)/g, '$1 '],
  [/(\d) and (?:a|one)[- ]half\b/g, '$1 1/2'],
  [/\\[dtc]frac(?![a-zA-Z])/g, '\\frac'],
  [/\\[dt]binom(?![a-zA-Z])/g, '\\binom'],
  [/\\(?:cdot|times|ast|bullet)(?![a-zA-Z])/g, '*'],
  [/\*\*/g, '^'],
  [/\\div(?![a-zA-Z])/g, '/'],
  [/\\(?:leq|leqslant|le)(?![a-zA-Z])|=</g, '<='],
  [/\\(?:geq|geqslant|ge)(?![a-zA-Z])|=>/g, '>='],
  [/\\(?:neq|ne)(?![a-zA-Z])/g, '!='],
  [/\\lt(?![a-zA-Z])/g, '<'],
  [/\\gt(?![a-zA-Z])/g, '>'],
  [/==/g, '='],
  [/\\approx(?![a-zA-Z])|\\sim(?![a-zA-Z])|(?<![~\w])~(?=\s*\d)/g, '≈'],
  [/\^\s*\{\s*\\circ\s*\}|\^\s*\\circ(?![a-zA-Z])|\\circ(?![a-zA-Z])/g, '\\degree '],
  [/\\(?:varnothing|empty|oslash)(?![a-zA-Z])/g, '\\emptyset '],
  // n \equiv 5 \pmod{17} gives 5.
  [/\\equiv(?![a-zA-Z])/g, '='],
  [/\\pmod\s*\{[^{}]*\}|\(?\\b?mod\s*\{?\w+\}?\)?$/g, ''],
  [/(\d)\s*\\(min|sec)(?![a-zA-Z])/g, '$1 «$2» '],
  // 4:30 p.m., in two letters.
  [/(:\s*\d\d)\s*([aApP])\.?\s*[mM](?![a-zA-Z])\.?/g, '$1 «$2m» '],
  [/\\mathbb\s*\{?\s*R\s*\}?/g, '\\reals '],
  [/\\(?:lvert|rvert|vert|mid)(?![a-zA-Z])/g, '|'],
  [/\\(?:lbrace|\{)/g, '\\{'],
  [/\\(?:rbrace|\})/g, '\\}'],
  [/\\begin\s*\{(?:p|b|B|small)?matrix\}|\\begin\s*\{array\}\s*\{[^{}]*\}/g, '\\matrix '],
  [/\\end\s*\{(?:(?:p|b|B|small)?matrix|array)\}/g, '\\endmatrix '],
  [/\\lor(?![a-zA-Z])|\\vee(?![a-zA-Z])/g, ' or '],
  [/\\land(?![a-zA-Z])|\\wedge(?![a-zA-Z])/g, ' and '],
  [/√\s*(\d+(?:\.\d+)?|[a-zA-Z])/g, '\\sqrt{$1}'],
  [/√/g, '\\sqrt '],
  [/\\(?:varphi)(?![a-zA-Z])/g, '\\phi '],
  [/\\%/g, '%'],
]

export function cleanMath(text: string): string {
  let result = text.replace(/\\(?:boxed|fbox)\s*(?=\{)/g, '')
  // Double escaping; in a matrix two backslashes end a row.
  if (!result.includes('\\begin')) result = result.replace(/\\\\(?=[a-zA-Z])/g, '\\')
  result = result.replace(/\\\\(?=[$%])/g, '\\')
  // Before dollar signs are dropped: `\$5` and `$5` are both the number 5, but only the first is surely money.
  result = result.replace(/\\\$\s*([\d.,]*\d)/g, '$1 \\currency ').replace(/\\\$|(?<!\\)\\[()[\]]|\$/g, ' ')
  result = unicodeToLatex(result)
  for (const [pattern, replacement] of replacements) result = result.replace(pattern, replacement)
  // One of two backslashes was lost.
  if (result.includes('\\matrix')) result = result.replace(/(?<!\\)\\(?=-?\d)/g, '\\\\')
  result = result.replace(/(\d*)\.(\d*)\\overline\s*\{(\d+)\}/g, repeating)
  result = result.replace(/(\d*)\.(\d{0,9}?)(\d{1,6}?)\3{2,}\s*(?:\.\.\.|…|\\[lc]?dots)/g, repeating)
  result = result.replace(textCommand, (_, content: string) => textContent(content))
  result = result.replace(sizing, '').replace(spacing, ' ')
  result = exactPart(lastImplied(ungrouped(result)))
  return result
    .replace(/^\s*(?:USD|US|Rs\.?|INR|EUR|AUD|CAD)\s*(?=-?\s*\d)/, '')
    .replace(/\\degree\s*[CFK](?![a-zA-Z])/g, '\\degree ')
    .replace(/^\s*["']+|["']+\s*$/g, '')
    .replace(/\s+/g, ' ')
    .replace(/[\s.,;:!]+$/, trailing)
    .trim()
}

/** A trailing exclamation mark is a factorial; any other trailing punctuation belongs to the sentence. */
function trailing(marks: string): string {
  return marks.trimStart().startsWith('!') ? '!' : ''
}

/** Converts 0.1\overline{6} to a fraction: all digits minus the non-repeating ones, over as many nines and zeros. */
function repeating(whole: string, before: string, fixed: string, cycle: string): string {
  if (whole.length > 60) return whole
  const top = BigInt(`0${before}${fixed}${cycle}`) - BigInt(`0${before}${fixed}`)
  return `\\frac{${top}}{${'9'.repeat(cycle.length)}${'0'.repeat(fixed.length)}}`
}

/** 118 000 is one number. */
function ungrouped(text: string): string {
  return text
    .replaceAll('\u0001', '')
    .replace(/(?<![\w.,]|\d )\d{1,3}(?: \d{3})+(?![\d/.]| \/)/g, (digits) => digits.replaceAll(' ', ''))
}

/** Keeps the last conclusion: 2x = 10 ⇒ x = 5 means x = 5. */
function lastImplied(text: string): string {
  const last = text.lastIndexOf('\\to ')
  return last < 0 ? text : text.slice(last + 4)
}

/** 3/56 ≈ 0.0536 means 3/56; x ≈ 3 is treated as x = 3. */
function exactPart(text: string): string {
  const at = text.indexOf('≈')
  if (at < 0) return text
  const exact = text.slice(0, at)
  return /\d/.test(exact) ? exact : text.replaceAll('≈', exact.trim() === '' ? ' ' : '=')
}
