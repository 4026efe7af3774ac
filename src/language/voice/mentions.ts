import { codeRanges, overlapping } from './code-ranges.ts'
import { namesPattern } from './names.ts'

const did =
  'asked|asks|told|tells|says|said|reports|reported|replied|replies|answered|responded|suggests|suggested|wants|wanted|' +
  'instructed|requested|expects|agrees|agreed|disagrees|disagreed|thinks|believes|confirmed|confirms|found|computed|' +
  'calculated|checked|verified|wrote|searched|proposed|should|will|can|could|must|needs to|has to|has|does not|did not|' +
  "doesn't|didn't|is not convinced"

/** Phrases that address or mention teammates, whatever their names. */
const phrases = [
  String.raw`\byou (?:have )?(?:asked|told|instructed) me\b`,
  String.raw`\b(?:as|what) you (?:asked|requested|instructed|ordered|suggested)\b`,
  String.raw`\bnext[ _](?:speaker|agent)\b`,
  String.raw`\b(?:my|our|other|another|fellow) (?:team ?mates?|team members?|agents?)\b`,
  String.raw`\b(?:group|team) members, `,
  String.raw`\b(?:does|do) (?:everyone|everybody|all of you) agree\b`,
  String.raw`\b(?:I|we|let me|let's)(?: will|'ll)?(?: now)? hand(?:ing)? (?:this |it )?(?:over|off) to\b`,
  String.raw`\bhand(?:ing)?[ -]?off to\b`,
  String.raw`\bgroup ?chat\b`,
]
/** With the word "team": only where the question is not about one. */
const teamPhrases = [
  String.raw`\b(?:my|our) team\b`,
  String.raw`\b(?:rest|members?) of (?:the|this|our) team\b`,
  String.raw`\bas a team\b`,
]
const commands = /\bTERMINATE\b(?=["'*.!\])]{0,4}\s{0,2}(?:\n|$))/

/** Finds text that still belongs to a team: a teammate named as a person, a hand-off, routing. */
export class TeamTalk {
  readonly #pattern: RegExp

  constructor(names: readonly string[], question: string) {
    const source = patternOf(names, question)
    this.#pattern = compiled.get(source) ?? new RegExp(source, 'gi')
    // Imported runs may have a team each; a cache of all of them would only grow.
    if (compiled.size > 100) compiled.clear()
    compiled.set(source, this.#pattern)
  }

  /** The first such text, as it was written. Code is not looked at. */
  find(text: string): string | undefined {
    const command = commands.exec(text)
    const isCode = overlapping(codeRanges(text))
    this.#pattern.lastIndex = 0
    for (let match = this.#pattern.exec(text); match !== null; match = this.#pattern.exec(text)) {
      if (!isCode(match.index, match.index + match[0].length)) return match[0].trim()
    }
    return command?.[0]
  }
}

const compiled = new Map<string, RegExp>()

function patternOf(names: readonly string[], question: string): string {
  const asksAboutTeam = /\b(?:teams?|team-?mates?|group ?chat)\b/i.test(question)
  const known = namesPattern(names, question)
  return [
    ...phrases.filter((phrase) => !asksAboutTeam || !/team|group/.test(phrase)),
    ...(asksAboutTeam ? [] : teamPhrases),
    ...(known === undefined ? [] : personal(String.raw`\b${known}(?![\w-])`)),
  ].join('|')
}

/** A name used as that of a person: someone who does something, is spoken to, or owns something. */
function personal(name: string): string[] {
  return [
    String.raw`(?:\bthe )?${name}(?: agent)? (?:${did})\b`,
    String.raw`(?:\bthe )?${name}(?: agent)?'s\b`,
    String.raw`\b(?:ask|tell|instruct|thank|thanks,?|wait for|as|by|from|to|with|for|let|have) (?:the )?${name}(?: agent)?(?=[ ,.:;!?]|$)`,
    String.raw`(?<=^|\n)\*{0,2}${name}\*{0,2}:`,
    `@${name}`,
    String.raw`(?<=^|[\n.!?] ?)${name}, (?:please|can you|could you)\b`,
  ]
}
