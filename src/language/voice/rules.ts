import { frameworkRules } from './framework-rules.ts'
import type { VoiceRule } from './voice-rule.ts'

const talk =
  'reports?|reported|says|said|replies|replied|answers|answered|writes|wrote|responds|responded|notes|noted|states|stated|' +
  'confirms|confirmed|concludes|concluded'
const orders =
  'asks?|asked|tells?|told|wants|wanted|instructs?|instructed|expects|expected|requests?|requested'
const aside =
  "let's|let us|let me|(?:I|we)(?: will|'ll| should| can| could| must| need to| want to| have to|'d like to| am going to| are going to)"
const things =
  'report|results?|findings?|answer|plan|code|program|output|analysis|suggestions?|feedback|critique|score|opinion|' +
  'verdict|response|message|check|work|review|calculations?'

/** Not "by the coder has" or "with the coder can". */
const subject = String.raw`(?<!\b(?:by|from|to|with|for|of|and|or|than|as) (?:the )?)\b`

/** Applied in this order. Each rule sees the text that the ones before it left. */
export const builtinRules: readonly VoiceRule[] = [
  ...frameworkRules,
  {
    name: 'exit code, succeeded',
    pattern: String.raw`exitcode: 0 \(execution succeeded\)(?:\s?Code output: ?)?`,
    hint: /exitcode/i,
    replacement: '',
    wrapper: true,
    example: ['exitcode: 0 (execution succeeded)\nCode output: 81', '81'],
  },
  {
    name: 'exit code, failed',
    pattern: String.raw`exitcode: \d{1,6} \(execution failed\)(?:\s?Code output:)?`,
    hint: /exitcode/i,
    replacement: 'The program failed:',
    wrapper: true,
    example: ['exitcode: 1 (execution failed)\nCode output: KeyError: 7', 'The program failed: KeyError: 7'],
  },
  {
    name: 'next speaker',
    pattern: String.raw`(?<=^|\n)[*"_]{0,3}(?:suggested |the )?next[ _](?:speaker|agent|role)(?:[*"_]{0,3}:[*"_]{0,3}| is| should be)? ?(?:WHO|(?<=:[*"_ ]{0,3})[\w *]{1,60})[.*"_]{0,4}(?=\n|$)`,
    hint: /next[ _]/i,
    replacement: '',
    example: ['The sum is 81.\nSUGGESTED NEXT SPEAKER: verifier', 'The sum is 81.'],
  },
  {
    name: 'request to terminate',
    pattern: String.raw`START[^.!?\n]{0,160}\b(?:reply|respond|say|type|write|send|output|end|conclude|terminate)\b[^.!?\n]{0,80}\bTERMINATE\b["'*]{0,4}[.!]?["'*]{0,3}`,
    hint: /TERMINATE/,
    replacement: '',
    exactCase: true,
    example: ['The sum is 81. If there are no objections, please reply with "TERMINATE".', 'The sum is 81.'],
  },
  {
    name: 'terminate',
    pattern: String.raw`["'*[<(]{0,3}\bTERMINATE\b[\]>)"'*.!]{0,4}(?=\n|$)`,
    hint: /TERMINATE/,
    replacement: '',
    exactCase: true,
    example: ['The answer is 81.\n\nTERMINATE', 'The answer is 81.'],
  },
  {
    name: 'transfer',
    pattern: String.raw`Transferred to WHO, adopting the role of WHO immediately\.?`,
    replacement: '',
    example: ['Transferred to coder, adopting the role of coder immediately. Go on.', 'Go on.'],
  },
  {
    name: 'roster',
    pattern: String.raw`(?<=^|\n)(?:\*{0,2}NAME\*{0,2}: an? [^\n]{0,80}\b(?:assistant|agent|expert|specialist|terminal)\b[^\n]{0,600}|[^.\n]{0,120}\bassembled the following team:)(?=\n|$)`,
    hint: /assembled the following team|: an? /i,
    replacement: '',
    example: ['Coder: An expert that writes programs.\nFirst, add the numbers.', 'First, add the numbers.'],
  },
  {
    name: 'speaker label',
    pattern: String.raw`(?<=^|\n)\*{0,2}NAME(?: agent)?(?: \((?:thought|to|->) ?[\w ]{0,40}\))?\*{0,2}:\*{0,2}`,
    replacement: '',
    example: ['Coder: The loop stops at 81.', 'The loop stops at 81.'],
  },
  {
    name: 'mention',
    pattern: String.raw`(?<![\w.])@NAME\b(?:,? (?:and )?@NAME\b){0,4}[,:]?`,
    replacement: '',
    example: ['@coder: Run it on 81.', 'Run it on 81.'],
  },
  {
    name: 'thanks',
    pattern: String.raw`START(?:thank you|thanks|great work|good work|great job|good job|well done|hello|hi)(?: for [^.!?,\n]{0,80})?,? WHO[.!,]`,
    replacement: '',
    example: ['Thanks, coder! The sum is 81.', 'The sum is 81.'],
  },
  {
    name: 'everyone',
    pattern: `START(?:(?:group|team) members|team|everyone|colleagues|hello everyone|hi everyone|hello team|hi team)[,!] ?(?=[a-z])`,
    hint: /team|everyone|colleagues/i,
    replacement: '',
    example: ['Team, the sum is 81.', 'The sum is 81.'],
  },
  {
    name: 'does everyone agree',
    pattern: String.raw`START(?:does|do|can|is|are) (?:everyone|everybody|all of you|you all|anyone else|the team|the group)\b[^.!?\n]{0,160}\?`,
    hint: /everyone|everybody|all of you|you all|anyone else|the team|the group/i,
    replacement: '',
    example: ['The sum is 81. Does everyone agree with this result?', 'The sum is 81.'],
  },
  {
    name: 'as my role',
    pattern: String.raw`\bAs (?:(?:the|a|an|your|our) )?NAME(?: agent)?(?: (?:of|in|on) (?:the|this|our) team)?, `,
    replacement: '',
    example: ['As the planner, I will list the steps.', 'I will list the steps.'],
  },
  {
    name: 'I am',
    pattern: `START(?:I am|I'm|my role is(?: to be)?) (?:(?:the|a|an|your|our) )?NAME(?: agent)?(?: (?:of|in|on) (?:the|this|our) team)?[.!]`,
    replacement: '',
    example: ['I am the planner. First, find the river.', 'First, find the river.'],
  },
  {
    name: 'my job',
    pattern: String.raw`\bmy (?:job|task|role) as (?:(?:the|a|an|your|our) )?NAME(?: agent)? is to\b`,
    replacement: 'I have to',
    example: ['My job as the critic is to find gaps.', 'I have to find gaps.'],
  },
  {
    name: 'as suggested',
    pattern: String.raw`\bAs (?:(?:suggested|requested|instructed|asked|proposed|noted|advised|planned) by WHO|WHO (?:suggested|requested|instructed|asked|proposed|noted|advised|said)), `,
    replacement: '',
    example: ['As suggested by the critic, I check the units.', 'I check the units.'],
  },
  {
    name: 'according to',
    pattern: String.raw`\baccording to WHO, `,
    replacement: '',
    example: ['According to the searcher, the river is the Osk.', 'The river is the Osk.'],
  },
  {
    name: 'asked me to',
    pattern: String.raw`\b(?:WHO (?:has |have )?(?:${orders}) (?:me|us) to|(?:I was|I have been|I've been|we were) (?:asked|told|instructed) by WHO to|you (?:have )?(?:asked|told|instructed) me to)\b`,
    hint: / to\b/i,
    replacement: 'I should',
    example: ['The critic asked me to check the year.', 'I should check the year.'],
  },
  {
    name: 'disagrees',
    pattern: String.raw`\bWHO (?:(?:does not|doesn't|did not|didn't) agree|disagrees|disagreed|is not convinced|isn't convinced|was not convinced)\b`,
    replacement: 'my check does not agree',
    example: ['The verifier does not agree: the year is 1923.', 'My check does not agree: the year is 1923.'],
  },
  {
    name: 'agrees',
    pattern: String.raw`\bWHO (?:agrees|agreed|is convinced)\b`,
    replacement: 'my check agrees',
    example: ['The verifier agrees with 81.', 'My check agrees with 81.'],
  },
  {
    name: 'reports',
    pattern: String.raw`START\*{0,2}WHO\*{0,2} (?:has |have )?(?:${talk})(?: back)?(?: that\b|:|,)`,
    replacement: '',
    example: ['coder reports: The sum is 81.', 'The sum is 81.'],
  },
  {
    name: 'hand-off',
    pattern: String.raw`START(?:(?:now|next|then|so),? )?(?:(?:I|we)(?: will|'ll| am going to|'m going to| can| should)?|let me|let's)(?: now| then)? (?:pass|hand|forward|send|delegate|transfer|return|give|assign|route|submit)(?:ing)?\b[^.!?\n]{0,120}?\bto WHO\b[^.!?\n]{0,120}[.!?]`,
    replacement: '',
    example: ['The plan is ready. I will pass this to the coder.', 'The plan is ready.'],
  },
  {
    name: 'over to',
    pattern: String.raw`START(?:over to|back to|passing (?:this |it )?(?:on )?to|handing (?:this |it )?(?:over |off )?to|hand-?off to|delegating (?:this |it )?to|forwarding (?:this |it )?to) WHO\b[^.!?\n]{0,80}(?:[.!?]|(?=\n|$))`,
    replacement: '',
    example: ['The program is ready. Over to the verifier.', 'The program is ready.'],
  },
  {
    name: 'waits for',
    pattern: String.raw`START(?:(?:I|we)(?: will|'ll)?(?: now)? wait|waiting|awaiting|let me wait|let's wait)(?: for)? WHO(?:'s)?\b[^.!?\n]{0,120}[.!?]`,
    replacement: '',
    example: ['The program runs. I will wait for the verifier to check it.', 'The program runs.'],
  },
  {
    name: 'asks a teammate',
    pattern: String.raw`\b(${aside})((?: now| next| then| also)?) (?:(?:ask|tell|instruct|request|direct|get|need|want) WHO to|(?:have|let) WHO)\b`,
    replacement: '$1$2',
    example: ["Let's ask the searcher to find the river.", "Let's find the river."],
  },
  {
    name: 'order',
    pattern: String.raw`START(?:please )?(?:(?:ask|tell|instruct|request|get) WHO to|(?:have|let) WHO)\b `,
    replacement: '',
    example: ['Ask the coder to add the numbers.', 'Add the numbers.'],
  },
  {
    name: 'address',
    pattern: `STARTWHO, (?:(?:please|kindly|can you|could you|would you|you should|you need to)(?: please)? )`,
    replacement: '',
    example: ['Coder, please add the numbers.', 'Add the numbers.'],
  },
  {
    name: "a teammate's work",
    pattern: String.raw`\bWHO's ((?:own |last |latest |first |previous )?(?:${things}))\b`,
    replacement: 'my $1',
    example: ["The coder's result is 81.", 'My result is 81.'],
  },
  {
    name: 'by a teammate',
    pattern: String.raw`(?<!\b(?:is|are|was|were|be|been|being|not)|n't) (?:(?:as )?(?:provided|given|reported|sent|supplied|suggested|requested|written|returned|found|computed|made|proposed)) by WHO\b`,
    replacement: '',
    example: ['The result reported by the coder is 81.', 'The result is 81.'],
  },
  {
    name: 'from a teammate',
    pattern: String.raw`\b(${things}) (?:from|of) WHO\b(?!')`,
    replacement: '$1',
    example: ['The report from the searcher names the Osk.', 'The report names the Osk.'],
  },
  {
    name: 'has done',
    pattern: String.raw`${subject}WHO has\b(?! (?:one|a|the) )`,
    replacement: 'I have',
    example: ['The searcher has found the river.', 'I have found the river.'],
  },
  {
    name: 'needs to',
    pattern: String.raw`${subject}WHO needs to\b`,
    replacement: 'I need to',
    example: ['Now the coder needs to add the numbers.', 'Now I need to add the numbers.'],
  },
  {
    name: 'acts',
    pattern: String.raw`${subject}WHO (will|should|can|could|must|found|computed|calculated|checked|verified|searched|identified|wrote|proposed)\b`,
    replacement: 'I $1',
    example: ['Then the verifier will check the sum.', 'Then I will check the sum.'],
  },
]
